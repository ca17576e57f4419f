package main

import (
	"context"
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
// holds the harvest against one that nobody looks at. It takes its time: READ_BATCHES says how large the store is, and there
// are ten records to a page.
func TestPagesAreFast(t *testing.T) {
	batches, err := strconv.ParseInt(os.Getenv("READ_BATCHES"), 10, 64)
	if err != nil {
		t.Skip("it fills a store with years of work: make bench-read")
	}
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
	server := httptest.NewServer(a.answer(cfg, s, p, nil).Handler())
	t.Cleanup(server.Close)
	provider := httptest.NewServer(sim.New(sim.Config{Seed: 1, From: time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC), To: time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC), PerDay: 4000}).Handler())
	t.Cleanup(provider.Close)
	sources := filepath.Join(dir, "sources")
	if err := os.Mkdir(sources, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(sources, "crossref.yaml"), []byte(quickSource(t, "crossref")), 0o600); err != nil {
		t.Fatal(err)
	}
	harvest := func(day int, more ...string) float64 {
		t.Helper()
		began := time.Now()
		cmd := exec.CommandContext(t.Context(), "patra", append([]string{"harvest", "crossref", "--base-url", provider.URL, "--contact", "a@example.org", "--workers", "2",
			"--from", fmt.Sprintf("2026-05-%02d", day), "--to", fmt.Sprintf("2026-05-%02d", day+2), "-o", "json"}, more...)...)
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
	var alone, watched []float64
	for day := 1; day <= 21; day += 4 {
		alone = append(alone, harvest(day))
		stop := watch()
		watched = append(watched, harvest(day+2))
		stop()
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
	for day := 25; ; day = 25 + (day-25+2)%6 {
		harvest(day, "--force")
		select {
		case <-looked:
		default:
			continue
		}
		break
	}
	var slow []string
	for _, page := range slices.Sorted(maps.Keys(took)) {
		all := took[page]
		slices.Sort(all)
		p95 := all[len(all)*95/100]
		t.Logf("%-60s %4d times, P50 %6.1f ms, P95 %6.1f ms", page, len(all), ms(all[len(all)/2]), ms(p95))
		if p95 > 200*time.Millisecond {
			slow = append(slow, fmt.Sprintf("%s %.0f ms", page, ms(p95)))
		}
	}
	slices.Sort(alone)
	slices.Sort(watched)
	t.Logf("harvests alone %.2f s, watched %.2f s: %.1f %% slower (medians of %d)", alone[len(alone)/2], watched[len(watched)/2], 100*(watched[len(watched)/2]/alone[len(alone)/2]-1), len(alone))
	if len(slow) > 0 {
		t.Errorf("too slow: %s", strings.Join(slow, ", "))
	}
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
