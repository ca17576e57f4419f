package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"patra/internal/config"
	"patra/internal/sim"
	"patra/internal/store"
	"patra/internal/store/storetest"
)

// pagesOfDashboard is what each page of the dashboard asks for.
var pagesOfDashboard = map[string][]string{
	"overview":   {"/overview", "/alerts"},
	"coverage":   {"/cursors", "/cursors/1/coverage"},
	"cursor":     {"/cursors/1", "/cursors/1/coverage?from=2010-01-01&to=2011-01-01", "/cursors/1/timeline", "/waivers?watermark=1"},
	"plans":      {"/plans", "/plans?source=crossref"},
	"plan":       {"/plans/5", "/plans/5/lineage", "/slices?plan=5"},
	"tasks":      {"/tasks", "/tasks?status=FAILED", "/tasks?source=crossref&status=QUEUED"},
	"task":       {"/tasks/500", "/tasks/500/why", "/runs?task=500", "/batches?task=500"},
	"pages":      {"/batches", "/batches?status=FAILED", "/batches?source=pubmed", "/batches/5000"},
	"queue":      {"/queue", "/controls", "/schedules"},
	"gates":      {"/gates", "/quotas"},
	"errors":     {"/errors/top", "/healing"},
	"quarantine": {"/quarantine", "/quarantine?source=crossref&status=OPEN", "/quarantine/1"},
	"records":    {"/records", "/records?source=crossref", "/records?source=crossref&id=10.5555/77"},
	"record":     {"/records/crossref/work/10.5555%2F400", "/records/crossref/work/10.5555%2F400/history"},
	"sources":    {"/sources", "/sources/crossref"},
	"trust":      {"/audit", "/events", "/sinks", "/tokens", "/exports"},
	"everywhere": {"/system", "/session"},
}

// TestPagesAreFast asks everything that the dashboard asks, on a store with years of work, while a harvest writes into it, and
// holds harvests that somebody looks at against those that nobody does. It takes its time: READ_BATCHES says how large the
// store is, and there are ten records to a page; READ_PAIRS is how many harvests of each kind there are, and READ_HARVEST how
// many records each reads.
func TestPagesAreFast(t *testing.T) {
	batches, err := strconv.ParseInt(os.Getenv("READ_BATCHES"), 10, 64)
	if err != nil {
		t.Skip("it fills a store with years of work: make bench-read")
	}
	pairs, perHarvest := int(number(t, "READ_PAIRS", 5)), int(number(t, "READ_HARVEST", 24_000))
	dir := t.TempDir()
	url := "sqlite:" + filepath.Join(dir, "patra.db")
	s, err := store.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if _, err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	storetest.FillWork(t, storetest.Inspect(t, url), storetest.Bulk{Batches: batches, Records: 10 * batches})
	info, err := os.Stat(filepath.Join(dir, "patra.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d pages and %d records in %s, %d MB", batches, 10*batches, time.Since(began).Round(time.Second), info.Size()>>20)

	cfg := config.Default()
	cfg.Store.URL = url
	a := &app{stdout: io.Discard, stderr: io.Discard, config: &cfg, store: s}
	p, err := a.planner(s, "", false)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(a.apiServer(cfg, s, p, nil).Handler())
	t.Cleanup(server.Close)
	const daysOfHarvest = 6 // so that it has a queue to work through
	first := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	provider := httptest.NewServer(sim.New(sim.Config{Seed: 1, From: first, To: first.AddDate(0, 0, daysOfHarvest*(2*pairs+2)), PerDay: perHarvest / daysOfHarvest}).Handler())
	t.Cleanup(provider.Close)
	sources := filepath.Join(dir, "sources")
	if err := os.Mkdir(sources, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(sources, "crossref.yaml"), []byte(quickSource(t, "crossref")), 0o600); err != nil {
		t.Fatal(err)
	}
	// Harvest n reads days that no other reads: there is as much to store each time.
	harvest := func(n int, more ...string) float64 {
		t.Helper()
		day := func(d int) string { return first.AddDate(0, 0, d).Format(time.DateOnly) }
		began := time.Now()
		cmd := exec.CommandContext(t.Context(), "patra", append([]string{"harvest", "crossref", "--base-url", provider.URL, "--contact", "a@example.org", "--workers", "2",
			"--from", day(n * daysOfHarvest), "--to", day((n + 1) * daysOfHarvest), "-o", "json"}, more...)...)
		cmd.Env = append(os.Environ(), "PATRA_STORE_URL="+url, "PATRA_SOURCES_DIR="+sources, "PATRA_PLANNER_INVENTORY=0", "PATRA_EVIDENCE_URL=none")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return time.Since(began).Seconds()
	}

	took := map[string][]time.Duration{}
	var mu sync.Mutex
	look := func(ctx context.Context, page string) {
		for _, path := range pagesOfDashboard[page] {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+"/api/v1"+path, nil)
			if err != nil {
				t.Error(err)
				return
			}
			began := time.Now()
			res, err := http.DefaultClient.Do(req)
			for err == nil && res.StatusCode == http.StatusTooManyRequests { // nobody looks as fast as this
				_ = res.Body.Close()
				<-time.After(100 * time.Millisecond)
				began = time.Now()
				res, err = http.DefaultClient.Do(req)
			}
			if err != nil {
				if ctx.Err() == nil {
					t.Error(err)
				}
				return
			}
			b, _ := io.ReadAll(res.Body)
			_ = res.Body.Close()
			if res.StatusCode != http.StatusOK {
				t.Errorf("%s: %d %.200s", path, res.StatusCode, b)
			}
			mu.Lock()
			took[path] = append(took[path], time.Since(began))
			mu.Unlock()
		}
	}
	// Two people look around, a page every second each, while somebody harvests.
	watch := func() (stop func()) {
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		for n := range 2 {
			all.Go(func() {
				pages := slices.Sorted(maps.Keys(pagesOfDashboard))
				for i := n * 7; ctx.Err() == nil; i++ {
					look(ctx, pages[i%len(pages)])
					select {
					case <-ctx.Done():
					case <-time.After(time.Second):
					}
				}
			})
		}
		return func() { cancel(); all.Wait() }
	}
	harvest(0) // which finds nothing warm
	var runs []twin
	for n := range pairs {
		// They take turns in going first: a store that grows, or a machine that slows down, is then no reason for either.
		var p twin
		for _, watching := range []bool{n%2 == 1, n%2 == 0} {
			if !watching {
				p.alone = harvest(2*n + 1)
				continue
			}
			stop := watch()
			p.watched = harvest(2*n + 2)
			stop()
		}
		t.Logf("harvest alone %.2f s, watched %.2f s: %+.1f %%", p.alone, p.watched, 100*(p.ratio()-1))
		runs = append(runs, p)
	}
	looked := make(chan struct{})
	go func() {
		defer close(looked)
		for range 20 {
			for page := range pagesOfDashboard {
				look(t.Context(), page)
			}
		}
	}()
	for {
		harvest(2*pairs+1, "--force")
		select {
		case <-looked:
		default:
			continue
		}
		break
	}
	var slow []string
	left := readReport{Date: time.Now().UTC().Format(time.DateOnly), Batches: batches, Records: 10 * batches, Questions: len(took), Watched: compare(runs).ratio}
	for _, page := range slices.Sorted(maps.Keys(took)) {
		all := took[page]
		slices.Sort(all)
		p95 := all[len(all)*95/100]
		t.Logf("%-60s %4d times, P50 %6.1f ms, P95 %6.1f ms", page, len(all), ms(all[len(all)/2]), ms(p95))
		if ms(p95) > left.P95 {
			left.Slowest, left.P95 = page, ms(p95)
		}
		if p95 > 200*time.Millisecond {
			slow = append(slow, fmt.Sprintf("%s %.0f ms", page, ms(p95)))
		}
	}
	t.Log(compare(runs))
	left.write(t, os.Getenv("READ_REPORT"))
	if len(slow) > 0 {
		t.Errorf("too slow: %s", strings.Join(slow, ", "))
	}
}

// readReport is what the page of all benchmarks shows of this one.
type readReport struct {
	Date      string  `json:"date"`
	Batches   int64   `json:"batches"`
	Records   int64   `json:"records"`
	Questions int     `json:"questions"`
	Slowest   string  `json:"slowest"`
	P95       float64 `json:"p95_ms"`
	Watched   float64 `json:"watched"` // time of a harvest that somebody looks at, by one that nobody does
}

func (r readReport) write(t *testing.T, path string) {
	t.Helper()
	if path == "" {
		return
	}
	b, err := json.MarshalIndent(r, "", "  ")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o755)
	}
	if err == nil {
		err = os.WriteFile(path, append(b, '\n'), 0o644)
	}
	if err != nil {
		t.Error(err)
	}
}

// twin is two harvests of as much, in seconds.
type twin struct{ alone, watched float64 }

func (p twin) ratio() float64 { return p.watched / p.alone }

// comparison is how much slower watched harvests are.
type comparison struct {
	alone, watched, ratio float64 // medians of the times, and their ratio
	least, most           float64 // of the ratios of single pairs
	pairs                 int
}

func compare(runs []twin) (c comparison) {
	of := func(f func(twin) float64) []float64 {
		var all []float64
		for _, p := range runs {
			all = append(all, f(p))
		}
		slices.Sort(all)
		return all
	}
	ratios := of(twin.ratio)
	c = comparison{alone: median(of(func(p twin) float64 { return p.alone })), watched: median(of(func(p twin) float64 { return p.watched })), least: ratios[0], most: ratios[len(ratios)-1], pairs: len(runs)}
	c.ratio = c.watched / c.alone
	return c
}

func (c comparison) String() string {
	return fmt.Sprintf("harvests alone %.2f s, watched %.2f s (medians of %d): %+.1f %%, single pairs from %+.1f %% to %+.1f %%", c.alone, c.watched, c.pairs, 100*(c.ratio-1), 100*(c.least-1), 100*(c.most-1))
}

// median of sorted numbers.
func median(sorted []float64) float64 {
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

func TestCompare(t *testing.T) {
	c := compare([]twin{{10, 11}, {10, 10}, {20, 19}, {10, 10.2}})
	if got := c.String(); got != "harvests alone 10.00 s, watched 10.60 s (medians of 4): +6.0 %, single pairs from -5.0 % to +10.0 %" {
		t.Error(got)
	}
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
