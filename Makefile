# Patra. `make help` lists the targets.
SHELL := /bin/bash
GO ?= go
export CGO_ENABLED ?= 0
LINTER := bin/golangci-lint
DASHBOARD := internal/web/dist/app/index.html
PACKAGES := web/node_modules/.package-lock.json
LINTER_VERSION := v2.11.0
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
FUZZTIME ?= 30s
ARGS ?=

.DEFAULT_GOAL := help
.PHONY: $(shell grep -oE '^[a-z0-9-]+:.*\#\# ' $(firstword $(MAKEFILE_LIST)) | cut -d: -f1)

help: ## List the targets
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

build: deps ## Build the binary into bin/
	$(GO) build -trimpath -ldflags "-s -w -X main.version=$(VERSION)" -o bin/patra ./cmd/patra

web: $(PACKAGES) ## Build the dashboard (needs Node 20 or newer); the next make build has it in the binary
	cd web && npm run --silent build

# What the dashboard is built with. Two who ask for it at the same time wait for each other.
$(PACKAGES): web/package.json web/package-lock.json
	@cd web && flock package-lock.json sh -c 'test ../$@ -nt package-lock.json || ../scripts/retry npm ci --no-audit --no-fund' && touch node_modules/.package-lock.json

# Whoever has Node gets the dashboard with the demo; whoever has not gets everything else.
$(DASHBOARD): $(shell find web/src web/public -type f 2>/dev/null) web/index.html web/package-lock.json docs/openapi.json
	@if command -v npm >/dev/null 2>&1; then $(MAKE) --no-print-directory web; else echo "There is no npm here: the program is built without its dashboard."; fi

openapi: ## Write the description of the API into docs/openapi.json
	$(GO) run ./cmd/patra openapi > docs/openapi.json.new && mv docs/openapi.json.new docs/openapi.json

demo: $(DASHBOARD) build ## Harvest a simulated provider and show the result (ARGS=--once ends by itself)
	@bin/patra demo $(ARGS)

test: test-go test-web ## Run all tests; what they need (MariaDB, Redis, DuckDB, Chromium) is installed if need be

test-go: deps test-rules ## Run the tests of the program, on SQLite and on a throw-away MariaDB and Redis
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { echo "gofmt is needed for:"; gofmt -l $$(git ls-files '*.go'); exit 1; }
	$(GO) vet ./...
	@command -v systemd-analyze >/dev/null 2>&1 || scripts/install systemd
	@command -v strace >/dev/null 2>&1 || scripts/install strace
	@$(GO) build -o bin/testreport ./scripts/testreport
	set -o pipefail; scripts/with-memory scripts/with-duckdb scripts/with-mariadb scripts/with-redis $(GO) test -json -count=1 -parallel 6 -timeout 20m ./... | bin/testreport

test-rules: ## Check the rules for Prometheus, and what they make of numbers (fetches promtool)
	cd deploy/prometheus && ../../scripts/with-promtool promtool check config prometheus.yml
	cd deploy/prometheus && ../../scripts/with-promtool promtool test rules patra.rules.test.yml patra.rules.slow.test.yml

test-web: $(PACKAGES) $(DASHBOARD) build ## Run the tests of the dashboard, in a real Chromium (SHOTS=folder keeps pictures of every page)
	cd web && npm test && PATRA_TEST_SHOTS=$(SHOTS) ../scripts/with-chromium node --test --test-concurrency=1 e2e/*.test.mjs

e2e: deps ## Run only the kill -9 test, many times (COUNT=20)
	scripts/with-mariadb scripts/must-run $(GO) test -count=$(or $(COUNT),20) -run TestKilled -v ./internal/cli

torture: deps ## Kill and stop processes of a fleet CYCLES times (1000) under a provider that throttles, breaks, lies and moves (SEED=n repeats)
	@set -o pipefail; TORTURE_CYCLES=$(or $(CYCLES),1000) TORTURE_SEED=$(SEED) scripts/with-mariadb scripts/must-run $(GO) test -count=1 -timeout 12h -run 'TestTorture$$' -v ./internal/cli | grep --line-buffered -v '^=== '

disk: deps ## Break the disk at every write of the critical transactions, rebuild what power cuts leave, fill disks (installs strace)
	@command -v strace >/dev/null 2>&1 || scripts/install strace
	@set -o pipefail; PATRA_TEST_STRACE=must DISK_SWEEP=all scripts/must-run $(GO) test -count=1 -timeout 2h -run 'TestDisk|TestPower' -v ./internal/store ./internal/cli | grep --line-buffered -v '^=== '

simulate: deps ## Live through a simulated year of every source, SEEDS times (1): planner, executors, gate and relay under faults, judged from outside (PROFILE=name, SEED=first, DAYS=n)
	@set -o pipefail; SIMULATE_SEEDS=$(or $(SEEDS),1) SEED=$(SEED) PROFILE=$(PROFILE) DAYS=$(DAYS) scripts/must-run $(GO) test -count=1 -timeout 12h -run 'TestSimulate$$|TestMustStillFail$$' -v ./internal/simtest | grep --line-buffered -v '^=== '

witness: deps ## Harvest SEEDS worlds (1000) of every kind of paging and total whose lists change between any two requests, and hold every seal against the truth (SEED=first)
	@set -o pipefail; WITNESS_SEEDS=$(or $(SEEDS),1000) WITNESS_SEED=$(SEED) scripts/must-run $(GO) test -count=1 -timeout 6h -v ./internal/witnesstest | grep --line-buffered -v '^=== '

# The same tests as on MariaDB: whatever the suite promises, a process that is killed, and one that is paused.
SERVER_TESTS = sh -c "scripts/must-run $(GO) test -count=1 -timeout 40m -run 'TestConformance/mysql' ./internal/store && scripts/must-run $(GO) test -count=1 -timeout 20m -run 'TestKilled//mysql|(TestPaused|TestInterrupted|TestADoctorLooks)/mysql' ./internal/cli"

test-mysql: deps ## Run the tests of the store, and harvests that are killed, on a real MySQL (fetched once)
	scripts/with-mysql $(SERVER_TESTS)

test-tidb: deps ## The same on a real TiDB (built once, which takes a quarter of an hour)
	scripts/with-tidb $(SERVER_TESTS)

fleet: deps ## Restart every process of a fleet ROUNDS times (3) during a harvest, then take the database away for OUTAGE (60s), Redis and NATS
	FLEET_OUTAGE=$(or $(OUTAGE),60s) FLEET_ROUNDS=$(or $(ROUNDS),3) scripts/with-mariadb scripts/with-redis scripts/must-run $(GO) test -count=1 -timeout 30m -run 'TestFleet$$' -v ./internal/cli

deploy: deps ## Check deploy/: units with systemd-analyze, the compose file, the Dockerfile, and the program alone in a folder
	@command -v systemd-analyze >/dev/null 2>&1 || scripts/install systemd
	scripts/must-run $(GO) test -count=1 -run 'TestCompose|TestDockerfile|TestTheImage|TestUnits' -v ./internal/cli

# One test fills a store for years, alone: under the detector that takes longer than the server gives to an answer.
race: deps ## Run the tests under the race detector (needs a C compiler)
	CGO_ENABLED=1 scripts/with-mariadb scripts/with-redis $(GO) test -race -count=1 -timeout 2h -skip 'TestNothingIsScannedAfterYears' ./...

race-short: deps ## Run the tests of what many workers share under the race detector
	CGO_ENABLED=1 $(GO) test -race -count=1 -skip 'TestPagesAreReadAs|TestTheProviderUnderstands|TestWhatNewVersions|TestRecorded|TestDataCite' ./internal/source ./internal/sim ./internal/schedule
	CGO_ENABLED=1 scripts/with-redis scripts/must-run $(GO) test -race -count=1 -run 'TestRedisConformance|TestManyLendAtOnce|TestEventsOfARecord|TestALostRole|TestASinkThatIsAway' ./internal/gate ./internal/relay
	CGO_ENABLED=1 scripts/must-run $(GO) test -race -count=1 -run 'TestMany|TestAServer|TestACampaign|TestWhatEndsEarly' ./internal/planner
	CGO_ENABLED=1 scripts/must-run $(GO) test -race -count=1 -run 'TestHarvestIsExact|TestSpoilt|TestSleeper|TestAProbe|TestTheNextPage|TestAWalkThat|TestATaskThatIsCalledOff|TestNoMoreRequests' ./internal/executor

properties: deps ## Check the rules of windows, slices and coverage against CHECKS drawn cases each (100000)
	scripts/must-run $(GO) test -count=1 -timeout 3h -run 'Test' . ./internal/planner -rapid.checks=$(or $(CHECKS),100000)

bench: deps ## Measure everything that is promised about speed, with peers, and write docs/benchmarks.md and its pictures (QUICK=1: the least of it; BENCH_PYTHON names a Python with dlt and airbyte-cdk, BENCH_METHA a metha-sync)
	@$(GO) build -o bin/bench ./bench
	scripts/with-mariadb bin/bench $(if $(QUICK),-quick -page bin/quick/benchmarks.md,-page docs/benchmarks.md) $(ARGS)

bench-plan: deps ## Plan two, five and ten years by the hour: time a slice, peak memory, and the bare inserts beside it
	scripts/must-run $(GO) test -run '^$$' -bench PlanByTheHour -benchtime 1x ./internal/planner

bench-gate: deps ## Harvest at 50 requests a second: what the rate gate costs, and how much of the rate is used
	scripts/must-run $(GO) test -run '^$$' -bench BenchmarkGate -benchtime 1x -count 3 ./internal/executor
	scripts/must-run $(GO) test -run '^$$' -bench BenchmarkTurnGate -benchtime 300x ./internal/store

remap: deps ## Read a thousand stored pages with another mapping
	REMAP_DAYS=25 scripts/must-run $(GO) test -count=1 -run TestARemapOfManyPages -v ./internal/cli

bench-read: deps ## Ask everything that the dashboard asks, on a store with BATCHES pages (1000000) and ten times as many records, while a harvest writes; PAIRS (5) harvests of HARVEST records (24000) alone and watched; make bench shows what came of it
	READ_BATCHES=$(or $(BATCHES),1000000) READ_PAIRS=$(or $(PAIRS),5) READ_HARVEST=$(or $(HARVEST),24000) READ_REPORT=$(CURDIR)/bin/bench-read.json scripts/must-run $(GO) test -count=1 -timeout 3h -run TestPagesAreFast -v ./internal/cli

bench-scan: deps ## See on SQLite and MariaDB that nothing that looks reads a whole table, on stores with BATCHES pages (100000) and ten times as many records
	SCAN_BATCHES=$(or $(BATCHES),100000) scripts/with-mariadb scripts/must-run $(GO) test -count=1 -timeout 2h -run TestNothingIsScannedAfterYears -v ./internal/cli

bench-export: deps ## Export RECORDS records (1000000) in every form: peak memory beside a tenth of them, and the work beside plain reading
	EXPORT_RECORDS=$(or $(RECORDS),1000000) EXPORT_SHAPES=$(SHAPES) scripts/with-mariadb scripts/must-run $(GO) test -count=1 -timeout 3h -run TestAnExportHasFlatMemory -v ./internal/cli
	scripts/with-mariadb scripts/must-run $(GO) test -run '^$$' -bench BenchmarkExport -benchtime 1x ./internal/cli

fuzz: deps ## Fuzz every target for FUZZTIME (30s)
	@for pkg in $$($(GO) list ./...); do for f in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
	  echo "$$pkg $$f"; scripts/must-run $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) $$pkg || exit 1; done; done

lint: $(LINTER) ## Run the linters (builds golangci-lint once)
	$(LINTER) run ./...

$(LINTER):
	@mkdir -p bin
	scripts/retry env GOBIN=$(CURDIR)/bin GOFLAGS= $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINTER_VERSION)

deps: ## Download the modules, patiently
	@$(GO) mod download 2>/dev/null || scripts/retry env GOMAXPROCS=1 $(GO) mod download

clean: ## Remove what was built
	rm -rf bin internal/web/dist/app
