package config_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"patra"
	"patra/internal/config"
	"patra/internal/strictyaml"
)

// inFolder runs the test where patra.yaml holds data, so that messages name the file as a person would.
func inFolder(t *testing.T, data string) string {
	t.Helper()
	t.Chdir(t.TempDir())
	if err := os.WriteFile("patra.yaml", []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
	return "patra.yaml"
}

func load(t *testing.T, data string, environ ...string) (config.Config, error) {
	t.Helper()
	return config.Load(inFolder(t, data), true, environ)
}

func TestPrecedence(t *testing.T) {
	tests := []struct {
		name string
		file string
		env  []string
		want int
	}{
		{"default", "", nil, 4},
		{"file over default", "executor: {workers: 8}\n", nil, 8},
		{"environment over default", "", []string{"PATRA_EXECUTOR_WORKERS=9"}, 9},
		{"environment over file", "executor: {workers: 8}\n", []string{"PATRA_EXECUTOR_WORKERS=9"}, 9},
		{"empty section in the file", "executor:\n", nil, 4},
		{"empty value in the file", "executor:\n  workers:\n", nil, 4},
		{"empty variable", "executor: {workers: 8}\n", []string{"PATRA_EXECUTOR_WORKERS="}, 8},
		{"last variable counts", "", []string{"PATRA_EXECUTOR_WORKERS=6", "PATRA_EXECUTOR_WORKERS=7"}, 7},
		{"bad file under a good variable", "executor: {workers: many}\n", []string{"PATRA_EXECUTOR_WORKERS=7"}, 0},
		{"a quoted reference stays text", "executor: {workers: \"${env:N}\"}\n", []string{"N=12"}, 0},
		{"through a plain reference", "executor:\n  workers: ${env:N}\n", []string{"N=12"}, 12},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := load(t, tt.file, tt.env...)
			if (err != nil) != (tt.want == 0) {
				t.Fatal(err)
			}
			if got.Executor.Workers != tt.want {
				t.Errorf("got %d, want %d", got.Executor.Workers, tt.want)
			}
		})
	}
}

// Every key but the list has a variable, in capitals, and setting it reaches the field.
func TestEveryKeyHasAVariable(t *testing.T) {
	environ := []string{
		"PATRA_STORE_URL=mysql://u:p@h/db", "PATRA_CONTACT=a@b.org", "PATRA_SOURCES_DIR=/srv/sources",
		"PATRA_EXECUTOR_WORKERS=10", "PATRA_EXECUTOR_PERPARTITION=3", "PATRA_EXECUTOR_LEASE=2m",
		"PATRA_EXECUTOR_HEARTBEAT=30s", "PATRA_EXECUTOR_TASKATTEMPTS=7", "PATRA_EXECUTOR_PREFETCH=true", "PATRA_EXECUTOR_MEMORY=1GiB", "PATRA_PLANNER_INVENTORY=0",
		"PATRA_PLANNER_SAFETYLAG=1d", "PATRA_PLANNER_MINSTEP=5m", "PATRA_PLANNER_TARGETRECORDS=500",
		"PATRA_PLANNER_MAXPAGES=20", "PATRA_PLANNER_PROBES=0", "PATRA_PLANNER_BACKFILLSHARE=25%",
		"PATRA_OPS_LISTEN=127.0.0.1:9090", "PATRA_LOG_LEVEL=debug", "PATRA_LOG_FORMAT=json", "PATRA_LOG_SAMPLE=5%", "PATRA_TRACE_URL=http://127.0.0.1:4318", "PATRA_TRACE_SAMPLE=7%", "PATRA_TRACE_PROPAGATE=on", "PATRA_GATE_BACKEND=local", "PATRA_GATE_REDIS_URL=rediss://cache:6380/1",
		"PATRA_EVIDENCE_URL=file:/srv/e", "PATRA_EVIDENCE_ACCESSKEY=a", "PATRA_EVIDENCE_SECRETKEY=b", "PATRA_EVIDENCE_KEEP=5d", "PATRA_BLACKBOX_KEY=k.pem", "PATRA_EVENTS_LEASE=9s", "PATRA_EVENTS_KEEP=2d",
		"PATRA_API_LISTEN=127.0.0.1:8081", "PATRA_API_TOKENS=on", "PATRA_API_TLS_CERT=c.pem", "PATRA_API_TLS_KEY=k.pem", "PATRA_API_PROXY=true",
		"PATRA_ARCHIVE_URL=file:/srv/a", "PATRA_ARCHIVE_ACCESSKEY=c", "PATRA_ARCHIVE_SECRETKEY=d", "PATRA_ARCHIVE_AFTER=30d",
		"PATRA_ALERTS_EVERY=1m", "PATRA_ALERTS_KEEP=5d", "PATRA_ALERTS_GROUP=7", "PATRA_ALERTS_RULES_BREAKERFOR=1m", "PATRA_ALERTS_RULES_STALLEDFOR=2m", "PATRA_ALERTS_RULES_LAG=3m", "PATRA_ALERTS_RULES_ERRORSHARE=1%", "PATRA_ALERTS_RULES_ERRORFOR=4m",
		"PATRA_ALERTS_RULES_THROTTLESHARE=2%", "PATRA_ALERTS_RULES_THROTTLEFOR=6m", "PATRA_ALERTS_RULES_QUARANTINESHARE=3%", "PATRA_ALERTS_RULES_IDLEFOR=7m", "PATRA_ALERTS_RULES_PLANFOR=8m", "PATRA_ALERTS_RULES_QUOTALEFT=4%",
		"PATRA_ALERTS_RULES_SURGESIGMAS=9", "PATRA_ALERTS_RULES_SINKFAILURES=2",
	}
	got, err := config.Load("", false, environ)
	if err != nil {
		t.Fatal(err)
	}
	want := config.Config{
		Store: config.Store{URL: "mysql://u:p@h/db"}, Contact: "a@b.org", Sources: config.Sources{Dir: "/srv/sources", Insecure: []string{}}, Secrets: config.Secrets{},
		Executor: config.Executor{
			Workers: 10, PerPartition: 3, Lease: config.Duration(2 * time.Minute),
			Heartbeat: config.Duration(30 * time.Second), TaskAttempts: 7, Prefetch: true, Memory: 1 << 30,
		},
		Gate: config.Gate{Backend: config.GateLocal, Redis: config.Redis{URL: "rediss://cache:6380/1"}},
		Planner: config.Planner{
			SafetyLag: config.Duration(24 * time.Hour), MinStep: config.Duration(5 * time.Minute),
			TargetRecords: 500, MaxPages: 20, BackfillShare: 25,
		},
		Evidence: config.Evidence{URL: "file:/srv/e", AccessKey: "a", SecretKey: "b", Keep: config.Duration(5 * 24 * time.Hour), KeepFor: map[string]config.Duration{}},
		Archive:  config.Archive{URL: "file:/srv/a", AccessKey: "c", SecretKey: "d", After: config.Duration(30 * 24 * time.Hour)},
		Blackbox: config.Blackbox{Key: "k.pem"}, Events: config.Events{Keep: config.Duration(48 * time.Hour), Lease: config.Duration(9 * time.Second)},
		API: config.API{Listen: "127.0.0.1:8081", Tokens: "on", Hosts: []string{}, TLS: config.TLS{Cert: "c.pem", Key: "k.pem"}, Proxy: true},
		Ops: config.Ops{Listen: "127.0.0.1:9090"}, Trace: config.Trace{URL: "http://127.0.0.1:4318", Sample: 7, Propagate: "on"}, Log: config.Log{Level: "debug", Format: "json", Sample: 5}, Schedules: []config.Schedule{}, Sinks: []config.Sink{},
		Alerts: config.Alerts{Every: config.Duration(time.Minute), Keep: config.Duration(5 * 24 * time.Hour), Group: 7, Sources: map[string]config.SourceAlerts{}, Notify: []config.Notify{}, Rules: config.AlertRules{
			BreakerFor: config.Duration(time.Minute), StalledFor: config.Duration(2 * time.Minute), Lag: config.Duration(3 * time.Minute), ErrorShare: 1, ErrorFor: config.Duration(4 * time.Minute), ThrottleShare: 2, ThrottleFor: config.Duration(6 * time.Minute),
			QuarantineShare: 3, IdleFor: config.Duration(7 * time.Minute), PlanFor: config.Duration(8 * time.Minute), QuotaLeft: 4, SurgeSigmas: 9, SinkFailures: 2, Off: []string{}}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	seen := map[string]bool{}
	for _, path := range strictyaml.Paths(&got) {
		seen[config.Variable(path)] = true
	}
	if len(seen) != len(environ) {
		t.Errorf("%d variables for %d keys: %v", len(environ), len(seen), seen)
	}
}

func TestProblems(t *testing.T) {
	tests := []struct {
		name string
		file string
		env  []string
		want []string
	}{
		{"misspelt section", "store:\n  url: sqlite:x.db\n\nexecuter:\n  workers: 3\n", nil, []string{
			`patra.yaml:4:1: unknown key "executer" (UNKNOWN_KEY at executer). Did you mean "executor"?`}},
		{"misspelt key", "executor: {per_partition: 3}\n", nil, []string{
			`patra.yaml:1:12: unknown key "per_partition" (UNKNOWN_KEY at executor.per_partition). Did you mean "perPartition"?`}},
		{"ranges", "executor:\n  workers: 0\n  perPartition: 0\n  lease: 1s\n  heartbeat: 0s\n  taskAttempts: 101\n", nil, []string{
			`patra.yaml:2:12: workers must be from 1 to 1024, not 0 (OUT_OF_RANGE at executor.workers)`,
			`patra.yaml:3:17: perPartition must be at least 1, not 0 (OUT_OF_RANGE at executor.perPartition)`,
			`patra.yaml:4:10: lease must be at least 2s, not 1s (OUT_OF_RANGE at executor.lease)`,
			`patra.yaml:5:14: heartbeat must be more than 0s, not 0s (OUT_OF_RANGE at executor.heartbeat)`,
			`patra.yaml:6:17: taskAttempts must be from 1 to 100, not 101 (OUT_OF_RANGE at executor.taskAttempts)`}},
		{"a lease of relays", "events: {lease: 1s}\n", nil, []string{
			`patra.yaml:1:17: lease must be at least 2s, not 1s (OUT_OF_RANGE at events.lease)`}},
		{"too many workers", "executor: {workers: 1025}\n", nil, []string{
			`patra.yaml:1:21: workers must be from 1 to 1024, not 1025 (OUT_OF_RANGE at executor.workers)`}},
		{"heartbeat against lease", "executor:\n  lease: 30s\n  heartbeat: 30s\n", nil, []string{
			`patra.yaml:3:14: heartbeat must be shorter than lease (30s), not 30s (OUT_OF_RANGE at executor.heartbeat). A third of the lease is usual`}},
		{"lease against the default heartbeat", "executor:\n  lease: 10s\n", nil, []string{
			`patra.yaml:2:10: heartbeat must be shorter than lease (10s), not 20s (OUT_OF_RANGE at executor.lease). A third of the lease is usual`}},
		{"no clash with a value that was refused", "executor:\n  lease: long\n  heartbeat: 90s\n", nil, []string{
			`patra.yaml:2:10: "long" is not a length of time such as 90s, 10m, 12h or 90d (BAD_VALUE at executor.lease)`}},
		{"store without a scheme is not shown", "store: {url: 'postgres://u:hunter2@h'}\n", nil, []string{
			`patra.yaml:1:14: url must begin with "sqlite:" or "mysql:" (BAD_VALUE at store.url). Write sqlite:patra.db or mysql://user:${env:DB_PASSWORD}@host:3306/patra`}},
		{"store one level too high", "store: mysql://u:hunter2@h/db\n", nil, []string{
			`patra.yaml:1:8: expected a mapping, found a single value (WRONG_TYPE at store)`}},
		{"store without a name", "store: {url: 'mysql://'}\n", nil, []string{
			`patra.yaml:1:14: url says nothing after "mysql:" (BAD_VALUE at store.url). Write sqlite:patra.db or mysql://user:${env:DB_PASSWORD}@host:3306/patra`}},
		{"contact", "contact: Jane <jane@example.org>\n", nil, []string{
			`patra.yaml:1:10: contact does not look like a mail address (BAD_VALUE at contact). Write one such as library@example.org`}},
		{"log", "log:\n  level: warning\n  format: xml\n", nil, []string{
			`patra.yaml:2:10: log.level is "warning", and must be one of debug, info, warn, error (BAD_VALUE at log.level). Did you mean "warn"?`,
			`patra.yaml:3:11: log.format is "xml", and must be one of text, json (BAD_VALUE at log.format)`}},
		{"gate", "gate: {backend: radis}\n", nil, []string{
			`patra.yaml:1:17: gate.backend is "radis", and must be one of sql, redis, local (BAD_VALUE at gate.backend). Did you mean "redis"?`}},
		{"gate without a place", "gate: {backend: redis}\n", nil, []string{
			`patra.yaml:1:17: gate.backend is redis, and gate.redis.url does not say where it is (BAD_VALUE at gate.backend). Write redis://127.0.0.1:6379/0 or rediss://user:${env:REDIS_PASSWORD}@host:6379/0`}},
		{"gate with a database that has a name", "gate:\n  redis: {url: 'redis://:hunter2@h:6379/abc'}\n", nil, []string{
			`patra.yaml:2:16: url must have a port from 1 to 65535, if any, and end with the number of a database (BAD_VALUE at gate.redis.url). Write redis://127.0.0.1:6379/0 or rediss://user:${env:REDIS_PASSWORD}@host:6379/0`}},
		{"gate with a port that cannot be", "gate:\n  redis: {url: 'redis://:hunter2@h:99999/0'}\n", nil, []string{
			`patra.yaml:2:16: url must have a port from 1 to 65535, if any, and end with the number of a database (BAD_VALUE at gate.redis.url). Write redis://127.0.0.1:6379/0 or rediss://user:${env:REDIS_PASSWORD}@host:6379/0`}},
		{"gate with a wrong place", "gate:\n  redis: {url: 'http://:hunter2@h/'}\n", []string{"PATRA_GATE_REDIS_URL=redis://u:hunter2@[h"}, []string{
			`environment: PATRA_GATE_REDIS_URL: url must begin with "redis://" or "rediss://" and name a host (BAD_VALUE at gate.redis.url). Write redis://127.0.0.1:6379/0 or rediss://user:${env:REDIS_PASSWORD}@host:6379/0`}},
		{"trace", "trace:\n  url: 127.0.0.1:4318\n  sample: 0%\n  propagate: maybe\n", nil, []string{
			`patra.yaml:2:8: url must begin with "http://" or "https://" and name a host (BAD_VALUE at trace.url). Write that of a collector, such as http://127.0.0.1:4318, or leave it out`,
			`patra.yaml:3:11: "0%" is not a percentage from 1% to 100% (BAD_VALUE at trace.sample)`,
			`patra.yaml:4:14: trace.propagate is on or off, and not "maybe" (BAD_VALUE at trace.propagate). Write on or off`}},
		{"a password in trace.url", "trace: {url: 'http://me:hunter2@collector:4318'}\n", nil, []string{
			`patra.yaml:1:14: url must have no user and nothing after a question mark: what a collector asks for goes into OTEL_EXPORTER_OTLP_HEADERS (BAD_VALUE at trace.url). Write that of a collector, such as http://127.0.0.1:4318, or leave it out`}},
		{"log nearly right", "log: {level: wran}\n", nil, []string{
			`patra.yaml:1:14: log.level is "wran", and must be one of debug, info, warn, error (BAD_VALUE at log.level). Did you mean "warn"?`}},
		{"durations", "executor:\n  lease: 60\n  heartbeat: -5s\nplanner:\n  safetyLag: PT10M\n", nil, []string{
			`patra.yaml:2:10: "60" is not a length of time such as 90s, 10m, 12h or 90d (BAD_VALUE at executor.lease)`,
			`patra.yaml:3:14: "-5s" is below zero, and a length of time cannot be (BAD_VALUE at executor.heartbeat)`,
			`patra.yaml:5:14: "PT10M" is not a length of time such as 90s, 10m, 12h or 90d (BAD_VALUE at planner.safetyLag)`}},
		{"planner", "planner:\n  inventory: -1\n  minStep: 999ms\n  targetRecords: 0\n  maxPages: 0\n  probes: -5\n  backfillShare: 0%\n", nil, []string{
			`patra.yaml:2:14: inventory must be at least 0, not -1 (OUT_OF_RANGE at planner.inventory). 0 is no limit`,
			`patra.yaml:3:12: minStep must be at least 1s, not 999ms (OUT_OF_RANGE at planner.minStep)`,
			`patra.yaml:4:18: targetRecords must be at least 1, not 0 (OUT_OF_RANGE at planner.targetRecords)`,
			`patra.yaml:5:13: maxPages must be at least 1, not 0 (OUT_OF_RANGE at planner.maxPages)`,
			`patra.yaml:6:11: probes must be at least 0, not -5 (OUT_OF_RANGE at planner.probes). 0 is none`,
			`patra.yaml:7:18: "0%" is not a percentage from 1% to 100% (BAD_VALUE at planner.backfillShare)`}},
		{"planner from variables", "", []string{"PATRA_PLANNER_MAXPAGES=0", "PATRA_PLANNER_BACKFILLSHARE=0.5"}, []string{
			`environment: PATRA_PLANNER_BACKFILLSHARE: "0.5" is not a percentage from 1% to 100% (BAD_VALUE at planner.backfillShare)`,
			`environment: PATRA_PLANNER_MAXPAGES: maxPages must be at least 1, not 0 (OUT_OF_RANGE at planner.maxPages)`}},
		{"a file that is not named whole", "store: {url: \"mysql://a:${file:pw}@h/p\"}\n", nil, []string{
			`patra.yaml:1:14: a reference to a file is badly written (BAD_VALUE at store.url). Write ${file:/path/of/the/file}`}},
		{"a file that is not there", "store: {url: \"mysql://a:${file:/no/such/file}@h/p\"}\n", nil, []string{
			`patra.yaml:1:14: the file of a secret cannot be used: /no/such/file: no such file or directory (UNREADABLE at store.url). See that it is there, and that only the user of patra may read it`}},
		{"a secret in the file", "contact: ''\nsecrets:\n  ncbi: s3cret-canary\n  wos: ${env:KEY}\n  Bad.Name: env:X\n  none:", []string{"KEY=s3cret-canary"}, []string{
			`patra.yaml:3:9: secrets are not written here, only where they are: write "env:NAME" for an environment variable or "file:/path" for a file (BAD_VALUE at secrets.ncbi)`,
			`patra.yaml:4:8: secrets are not written here, only where they are: write "env:NAME" for an environment variable or "file:/path" for a file (BAD_VALUE at secrets.wos)`,
			`patra.yaml:5:13: "Bad.Name" is not the name of a secret (BAD_VALUE at secrets["Bad.Name"]). Use small letters, digits, hyphens and underscores, at most 47, as in the auth block of the source`,
			`patra.yaml:6:3: the secret "none" is nowhere (BAD_VALUE at secrets.none). Write "env:NAME" for an environment variable or "file:/path" for a file, or leave it out`}},
		{"secrets from variables", "", []string{"PATRA_SECRETS_NCBI=env:X"}, []string{
			`environment: the variable "PATRA_SECRETS_NCBI" is not used: secrets is a table, and comes from the file only (UNKNOWN_ENV). Unset it, and write secrets into the file`}},
		{"schedules from variables", "", []string{"PATRA_SCHEDULES=[]", "PATRA_SCHEDULES_0_CRON=@daily"}, []string{
			`environment: the variable "PATRA_SCHEDULES" is not used: schedules is a list, and comes from the file only (UNKNOWN_ENV). Unset it, and write schedules into the file`,
			`environment: the variable "PATRA_SCHEDULES_0_CRON" is not used: schedules is a list, and comes from the file only (UNKNOWN_ENV). Unset it, and write schedules into the file`}},
		{"missing variable", "contact: a@b.org\nstore:\n  url: mysql://u:${env:DB_PASSWORD}@h/db\n", nil, []string{
			`patra.yaml:3:8: the environment variable "DB_PASSWORD" is not set (MISSING_ENV at store.url). Set it, or write the value here`}},
		{"badly written reference", "store:\n  url: mysql://u:${env:DB PASSWORD}@h/db\ncontact: ${env:X\n", []string{"X=1"}, []string{
			`patra.yaml:2:8: a reference to the environment is badly written (BAD_VALUE at store.url). Write ${env:NAME}`,
			`patra.yaml:3:10: a reference to the environment is badly written (BAD_VALUE at contact). Write ${env:NAME}`}},
		{"secret in the wrong place is not shown", "executor:\n  workers: ${env:P}\n  lease: ${env:P}\n", []string{"P=hunter2"}, []string{
			`patra.yaml:2:12: expected a whole number, found a value that is not shown (WRONG_TYPE at executor.workers)`,
			`patra.yaml:3:10: "***" is not a length of time such as 90s, 10m, 12h or 90d (BAD_VALUE at executor.lease)`}},
		{"keys are not expanded", "${env:K}: 1\n", []string{"K=contact"}, []string{
			`patra.yaml:1:1: unknown key "${env:K}" (UNKNOWN_KEY at ${env:K})`}},
		{"unknown variable", "", []string{"PATRA_EXECUTOR_WORKRES=3", "PATRA_ZZZ=1", "PATRA_CONFG=x"}, []string{
			`environment: unknown variable "PATRA_CONFG" (UNKNOWN_ENV). Did you mean "PATRA_CONFIG"?`,
			`environment: unknown variable "PATRA_EXECUTOR_WORKRES" (UNKNOWN_ENV). Did you mean "PATRA_EXECUTOR_WORKERS"?`,
			`environment: unknown variable "PATRA_ZZZ" (UNKNOWN_ENV). Unset it: variables that begin with PATRA_ set keys of the configuration`}},
		{"key in camel case", "", []string{"PATRA_EXECUTOR_PER_PARTITION=3"}, []string{
			`environment: unknown variable "PATRA_EXECUTOR_PER_PARTITION" (UNKNOWN_ENV). Did you mean "PATRA_EXECUTOR_PERPARTITION"?`}},
		{"bad variables", "executor: {workers: 2}\n", []string{"PATRA_EXECUTOR_WORKERS=many", "PATRA_LOG_LEVEL=eror", "PATRA_EXECUTOR_LEASE=1x"}, []string{
			`environment: PATRA_EXECUTOR_LEASE: "1x" is not a length of time such as 90s, 10m, 12h or 90d (BAD_VALUE at executor.lease)`,
			`environment: PATRA_EXECUTOR_WORKERS: expected a whole number, found the text "many" (WRONG_TYPE at executor.workers)`,
			`environment: PATRA_LOG_LEVEL: log.level is "eror", and must be one of debug, info, warn, error (BAD_VALUE at log.level). Did you mean "error"?`}},
		{"variable out of range over a good file", "executor: {workers: 2}\n", []string{"PATRA_EXECUTOR_WORKERS=0"}, []string{
			`environment: PATRA_EXECUTOR_WORKERS: workers must be from 1 to 1024, not 0 (OUT_OF_RANGE at executor.workers)`}},
		{"not YAML, and a bad variable", "store: [\n", []string{"PATRA_X=1"}, []string{
			`patra.yaml:1:8: sequence end token ']' not found (SYNTAX)`,
			`environment: unknown variable "PATRA_X" (UNKNOWN_ENV). Unset it: variables that begin with PATRA_ set keys of the configuration`}},
		{"all at once", "executer: {}\nstore:\n  url: ${env:GONE}\nlog:\n  level: loud\n  level: info\nexecutor:\n  workers: many\n  perPartition: 0\n", []string{"PATRA_Y=1"}, []string{
			`patra.yaml:1:1: unknown key "executer" (UNKNOWN_KEY at executer). Did you mean "executor"?`,
			`patra.yaml:3:8: the environment variable "GONE" is not set (MISSING_ENV at store.url). Set it, or write the value here`,
			`patra.yaml:6:3: the key "level" is given twice, first on line 5 (DUPLICATE_KEY at log.level). Keep one of the two`,
			`patra.yaml:8:12: expected a whole number, found the text "many" (WRONG_TYPE at executor.workers)`,
			`patra.yaml:9:17: perPartition must be at least 1, not 0 (OUT_OF_RANGE at executor.perPartition)`,
			`environment: unknown variable "PATRA_Y" (UNKNOWN_ENV). Unset it: variables that begin with PATRA_ set keys of the configuration`}},
		{"answers that are kept nowhere", "evidence: {url: ftp://x}\n", nil, []string{
			`patra.yaml:1:17: url must begin with "file:" or "s3:", or be none (BAD_VALUE at evidence.url). Write file:evidence, s3://BUCKET/FOLDER?endpoint=https://HOST, or leave it out for a folder beside the store`}},
		{"an archive of yesterday", "archive: {after: 1d}\n", nil, []string{
			`patra.yaml:1:18: after must be 0s or at least 7d, not 1d (OUT_OF_RANGE at archive.after)`}},
		{"a bucket that nobody can open", "evidence: {url: 's3://b?endpoint=https://h', accessKey: a, secretKey: b}\nsecrets: {a: 'env:A'}\n", nil, []string{
			`patra.yaml:1:71: evidence.secretKey must be the name of a secret (BAD_VALUE at evidence.secretKey). Set it under secrets, as in s3key: env:S3_KEY, and write its name here`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cfg, err := load(t, tt.file, tt.env...)
			if err == nil {
				t.Fatal("no problem was found")
			}
			if got := strings.Split(err.Error(), "\n"); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(tt.want, "\n  "))
			}
			if !reflect.DeepEqual(cfg, config.Config{}) {
				t.Errorf("a configuration came with the problems: %+v", cfg)
			}
		})
	}
}

func TestReferencesAreExpandedOnce(t *testing.T) {
	cfg, err := load(t, "store:\n  url: mysql://u:${env:P}@${env:H}/db\n", "P=${env:H}: #", "H=host")
	if err != nil {
		t.Fatal(err)
	}
	if want := "mysql://u:${env:H}: #@host/db"; cfg.Store.URL != want {
		t.Errorf("got %q, want %q", cfg.Store.URL, want)
	}
}

func TestAllowedVariables(t *testing.T) {
	environ := []string{"PATRA_CONFIG=x", "PATRA_TEST_MYSQL=y", "HOME=/", "patra_store_url=z", "=odd", "odd"}
	cfg, err := config.Load("", false, environ)
	if err != nil || !reflect.DeepEqual(cfg, config.Default()) {
		t.Errorf("got %+v, %v", cfg, err)
	}
}

func TestFileThatIsNotThere(t *testing.T) {
	t.Chdir(t.TempDir())
	cfg, err := config.Load("patra.yaml", false, []string{"PATRA_CONTACT=a@b.org"})
	if err != nil || cfg.Contact != "a@b.org" || cfg.Executor != config.Default().Executor {
		t.Errorf("not asked for: got %+v, %v", cfg, err)
	}
	_, err = config.Load("patra.yaml", true, nil)
	problems, _ := errors.AsType[patra.Problems](err)
	if len(problems) != 1 || problems[0].Code != config.CodeNoFile || problems[0].File != "patra.yaml" {
		t.Errorf("asked for: got %v", err)
	}
	_, err = config.Load(".", true, nil)
	problems, _ = errors.AsType[patra.Problems](err)
	if len(problems) != 1 || problems[0].Code != config.CodeUnreadable {
		t.Errorf("a folder: got %v", err)
	}
}

func TestFileThatIsTooLong(t *testing.T) {
	_, err := load(t, strings.Repeat("#\n", 1<<20))
	problems, _ := errors.AsType[patra.Problems](err)
	if len(problems) != 1 || problems[0].Code != strictyaml.CodeTooLarge {
		t.Errorf("got %v", err)
	}
}

func TestTemplateIsTheDefault(t *testing.T) {
	cfg, err := load(t, config.Template())
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(cfg, config.Default()) {
		t.Errorf("got  %+v\nwant %+v", cfg, config.Default())
	}
	doc, err := strictyaml.Parse("patra.yaml", []byte(config.Template()))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range strictyaml.Paths(&cfg) {
		if !doc.Has(path) {
			t.Errorf("%s is not in the template", path)
		}
		line, _ := doc.At(path)
		above := strings.Split(config.Template(), "\n")[line-2]
		if !strings.HasPrefix(strings.TrimSpace(above), "#") {
			t.Errorf("%s has no comment above it", path)
		}
	}
}

func TestDefaultIsValid(t *testing.T) {
	if err := config.Default().Validate(); err != nil {
		t.Error(err)
	}
	bad := config.Default()
	bad.Executor.Workers = 0
	if got, want := bad.Validate().Error(), "workers must be from 1 to 1024, not 0 (OUT_OF_RANGE at executor.workers)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestRedactedRedis(t *testing.T) {
	for url, want := range map[string]string{
		"":                                 "",
		"redis://h:6379/0":                 "redis://h:6379/0",
		"redis://:hunter2@h/0":             "redis://***@h/0",
		"rediss://u:hun@ter/2@h/0":         "rediss://***@h/0",
		"redis://hunter2@h/0":              "redis://***@h/0", // a password where the name belongs
		"u:hunter2@h":                      "***@h",
		"redis://h/0?password=hunter2&x=1": "redis://h/0?password=***&x=1",
	} {
		cfg := config.Config{Gate: config.Gate{Redis: config.Redis{URL: url}}}
		if got := cfg.Redacted().Gate.Redis.URL; got != want {
			t.Errorf("%s: got %s, want %s", url, got, want)
		}
	}
}

func TestRedacted(t *testing.T) {
	tests := []struct{ url, want string }{
		{"sqlite:patra.db", "sqlite:patra.db"},
		{"sqlite:/srv/a@b/patra.db", "sqlite:/srv/a@b/patra.db"},
		{"sqlite:patra.db?_key=hunter2&mode=ro", "sqlite:patra.db?_key=***&mode=ro"},
		{"mysql://u:hunter2@h:3306/db", "mysql://u:***@h:3306/db"},
		{"mysql://u:hunter2@h/db?tls=true", "mysql://u:***@h/db?tls=true"},
		{"mysql://u:hun@ter/2?#:x@h/db", "mysql://u:***@h/db"},
		{"mysql://u@h/db", "mysql://u@h/db"},
		{"mysql://h/db", "mysql://h/db"},
		{"mysql://:hunter2@h/db", "mysql://:***@h/db"},
		{"mysql:u:hunter2@tcp(h:3306)/db", "mysql:u:***@tcp(h:3306)/db"},
		{"u:hunter2@h/db", "u:***@h/db"},
		{"", ""},
	}
	for _, tt := range tests {
		cfg := config.Config{Store: config.Store{URL: tt.url}}
		if got := cfg.Redacted().Store.URL; got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.url, got, tt.want)
		}
		if cfg.Store.URL != tt.url {
			t.Errorf("%s: the configuration itself was changed", tt.url)
		}
	}
}

func TestJSON(t *testing.T) {
	data, err := json.Marshal(config.Default().Redacted())
	if err != nil {
		t.Fatal(err)
	}
	want := `{"store":{"url":"sqlite:patra.db"},"contact":"","sources":{"dir":""},"secrets":{},` +
		`"executor":{"workers":4,"perPartition":2,"lease":"1m","heartbeat":"20s","taskAttempts":5,"prefetch":false,"memory":"512MiB"},"gate":{"backend":"sql","redis":{"url":""}},` +
		`"planner":{"inventory":2000,"safetyLag":"10m","minStep":"1m","targetRecords":10000,"maxPages":1000,"probes":200,` +
		`"backfillShare":"50%"},"evidence":{"url":"","accessKey":"","secretKey":"","keep":"90d","keepFor":{}},"archive":{"url":"","accessKey":"","secretKey":"","after":"90d"},"blackbox":{"key":""},"api":{"listen":"","tokens":"off","hosts":[],"tls":{"cert":"","key":""},"proxy":false},"events":{"keep":"7d","lease":"30s"},"ops":{"listen":""},"trace":{"url":"","sample":"100%","propagate":"off"},"log":{"level":"","format":"","sample":"1%"},"schedules":[],"sinks":[],"alerts":{"every":"30s","keep":"90d","group":5,"rules":{"breakerFor":"15m","stalledFor":"1d","lag":"30m","errorShare":"5%","errorFor":"10m","throttleShare":"5%","throttleFor":"5m","quarantineShare":"5%","idleFor":"5m","planFor":"30m","quotaLeft":"10%","surgeSigmas":3,"sinkFailures":3,"off":[]},"sources":{},"notify":[]}}`
	if string(data) != want {
		t.Errorf("got  %s\nwant %s", data, want)
	}
}

// A file that others may write is the operator's business.
func TestFileModeDoesNotMatter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "patra.yaml")
	if err := os.WriteFile(path, []byte(config.Template()), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := config.Load(path, true, nil); err != nil {
		t.Error(err)
	}
}
