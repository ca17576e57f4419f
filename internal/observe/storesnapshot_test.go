package observe_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"patra"
	"patra/internal/observe"
)

// slowStore is a store that takes its time, and is sometimes not there.
type slowStore struct {
	reads atomic.Int64
	takes atomic.Int64 // nanoseconds; a reading may be under way when it changes
	err   error
	parts []patra.StoredBodyRange // of the kept answers, by how often was asked
	asked []string
}

func slowly(takes time.Duration) *slowStore {
	s := &slowStore{}
	s.takes.Store(int64(takes))
	return s
}

func (s *slowStore) MetricsSnapshot(ctx context.Context) (patra.MetricsSnapshot, error) {
	s.reads.Add(1)
	select {
	case <-time.After(time.Duration(s.takes.Load())):
		return patra.MetricsSnapshot{Records: 7, Queue: []patra.QueueState{{Source: "a", Endpoint: "b", Operation: patra.Harvest, Due: 3}}}, s.err
	case <-ctx.Done():
		return patra.MetricsSnapshot{}, ctx.Err()
	}
}

func (s *slowStore) StoredBodyRange(_ context.Context, after string) (p patra.StoredBodyRange, err error) {
	s.asked = append(s.asked, after)
	if len(s.parts) > 0 {
		p, s.parts = s.parts[0], s.parts[1:]
	}
	return p, nil
}

func (s *slowStore) Files() (file, log int64, ok bool) { return 1000, 50, true }

// scrapeIn is what is told, and how long that took.
func scrapeIn(m *observe.Metrics) (string, time.Duration) {
	began := time.Now()
	said := scrape(m)
	return said, time.Since(began)
}

func told(t *testing.T, said string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if !strings.Contains(said, "\n"+line+"\n") {
			t.Errorf("there is no %q in\n%s", line, said)
		}
	}
}

func untold(t *testing.T, said string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if strings.Contains(said, "\n"+part) {
			t.Errorf("there is %q", part)
		}
	}
}

// Whoever asks every second costs the store nothing: it is read every five.
func TestTheStoreIsReadSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, s := observe.NewMetrics("test"), slowly(10*time.Millisecond)
		m.WatchStore(s)
		for range 60 {
			said, _ := scrapeIn(m)
			told(t, said, "patra_store_up 1", "patra_store_records 7", `patra_ingest_tasks_due{endpoint="b",op="HARVEST",source="a"} 3`)
			time.Sleep(time.Second)
		}
		if n := s.reads.Load(); n > 13 {
			t.Errorf("the store was read %d times in a minute", n)
		}
	})
}

// A store that takes long to tell is asked less often: reading takes a fiftieth of the time at most.
func TestASlowStoreIsReadLessOften(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, s := observe.NewMetrics("test"), slowly(800*time.Millisecond)
		m.WatchStore(s)
		for range 600 {
			said, _ := scrapeIn(m)
			told(t, said, "patra_store_up 1")
			time.Sleep(time.Second)
		}
		if n := s.reads.Load(); n < 10 || n > 15 {
			t.Errorf("the store was read %d times in ten minutes", n)
		}
	})
}

// Nobody who asks for numbers waits for a store that does not answer; what this process counted is told all the same.
func TestAStoreThatIsAwayBlocksNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, s := observe.NewMetrics("test"), slowly(time.Hour)
		m.WatchStore(s)
		m.Refused()
		for range 30 {
			said, took := scrapeIn(m)
			if took > time.Second {
				t.Fatalf("it took %s", took)
			}
			told(t, said, "patra_store_up 0", "patra_store_unavailable_total 1", "patra_store_wal_bytes 50", "patra_store_file_bytes 1000")
			untold(t, said, "patra_store_records", "patra_ingest_tasks_due", "patra_ingest_left_out")
			time.Sleep(time.Second)
		}
		s.takes.Store(0)
		s.err = errors.New("connection refused")
		time.Sleep(time.Minute)
		said, took := scrapeIn(m)
		told(t, said, "patra_store_up 0")
		untold(t, said, "patra_store_records")
		if reads := s.reads.Load(); took > 0 || reads > 10 {
			t.Errorf("it took %s, and %d reads", took, reads)
		}
		s.err = nil
		time.Sleep(time.Minute)
		said, _ = scrapeIn(m)
		told(t, said, "patra_store_up 1", "patra_store_records 7")
		s.err = errors.New("connection refused") // what it said before is no longer so
		time.Sleep(time.Minute)
		said, _ = scrapeIn(m)
		told(t, said, "patra_store_up 0")
		untold(t, said, "patra_store_records")
	})
}

// A store that answered a moment ago and is slow now is there: what it said is good enough until it fails.
func TestWhatWasSaidIsGoodForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, s := observe.NewMetrics("test"), &slowStore{}
		m.WatchStore(s)
		scrape(m)
		s.takes.Store(int64(5 * time.Second))
		time.Sleep(6 * time.Second)
		said, took := scrapeIn(m)
		told(t, said, "patra_store_up 1", "patra_store_records 7")
		if took != time.Second {
			t.Errorf("it took %s", took)
		}
		s.takes.Store(int64(time.Hour))
		time.Sleep(5 * time.Minute)
		for range 2 { // the reading begins, and ends without a word
			said, _ = scrapeIn(m)
			time.Sleep(11 * time.Second)
		}
		told(t, said, "patra_store_up 0")
	})
}

// All kept answers are added up in parts, and the sum is told when all were seen.
func TestKeptAnswersAreAddedUpInParts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := func(last string) patra.StoredBodyRange {
			return patra.StoredBodyRange{Last: last, Bodies: patra.KeptAtOnce, Bytes: 100}
		}
		m, s := observe.NewMetrics("test"), &slowStore{parts: []patra.StoredBodyRange{full("a"), full("b"), {Last: "c", Bodies: 5, Bytes: 7}, full("a"), {}, {}}}
		m.WatchStore(s)
		for i, want := range []string{"", "", "207", "207", "100", "0"} {
			said := scrape(m)
			if want == "" {
				untold(t, said, "patra_evidence_stored_bytes")
			} else {
				told(t, said, "patra_evidence_stored_bytes "+want)
			}
			if i == 2 {
				told(t, said, "patra_evidence_stored_bodies 20005")
			}
			time.Sleep(10 * time.Second)
		}
		if want := "[ a b  a ]"; fmt.Sprint(s.asked) != want {
			t.Errorf("asked after %q, want %q", s.asked, want)
		}
	})
}

// What is told of watermarks is what their tables say.
func TestWatermarksAreTold(t *testing.T) {
	m := observe.NewMetrics("test")
	day := patra.Instant(24 * 60 * 60 * int64(patra.Second))
	at := func(days int) patra.Instant { return boardTime - patra.Instant(days)*day }
	cursor := func(op patra.Operation, key string, origin, sealed, value, reach int) patra.CursorMetrics {
		return patra.CursorMetrics{Reach: at(reach), CursorFacts: patra.CursorFacts{Cursor: patra.Cursor{
			Namespace: patra.Namespace{Source: "crossref", Endpoint: "works", Operation: op, Key: "indexed", Scope: patra.ScopeExpr, ScopeKey: key},
			Origin:    at(origin), SealedThrough: at(sealed), Value: at(value), UpdatedAt: at(2)}}}
	}
	stalled := cursor(patra.Harvest, "q1", 10, 8, 6, 0) // 2 of 10 days are sealed
	stalled.Gaps, stalled.Disputed = 3, 1
	b := &board{n: patra.MetricsSnapshot{Cursors: []patra.CursorMetrics{
		stalled,
		cursor(patra.Harvest, "q2", 10, 0, 0, 0), // all of 10
		cursor(patra.Backfill, "q1", 30, 30, 30, 30), // nothing was planned
	}, Sources: []patra.SourceMetrics{{Source: "crossref", LastPage: new(boardTime - 5_000_000), Failed: 2, Aside: 4}, {Source: "arxiv"}},
		Sinks:    []patra.SinkMetrics{{Name: "hook", Depth: 12, Aside: 1, Failures: 3}},
		Controls: []patra.Control{{Target: patra.Target{Scope: patra.ScopeEndpoint, Key: "crossref/works"}, Kind: patra.KindHalt, State: patra.Halted}},
		LeftOut:  map[string]int64{patra.LeftCursors: 8}, Expired: 1, LastClaim: new(boardTime)}}
	m.WatchStore(b)
	said := scrape(m)
	told(t, said,
		`patra_ingest_completeness_ratio{op="HARVEST",source="crossref"} 0.6`,
		`patra_ingest_coverage_gaps{endpoint="works",op="HARVEST",source="crossref"} 3`,
		`patra_ingest_disputed_windows{endpoint="works",op="HARVEST",source="crossref"} 1`,
		`patra_ingest_tasks_failed{source="crossref"} 2`,
		`patra_ingest_quarantine_open{source="crossref"} 4`,
		`patra_relay_outbox_depth{sink="hook"} 12`,
		`patra_relay_aside_events{sink="hook"} 1`,
		`patra_relay_failures_in_a_row{sink="hook"} 3`,
		`patra_ingest_control_in_force{endpoint="works",kind="HALT",op="",source="crossref"} 1`,
		`patra_ingest_left_out{what="cursors"} 8`, `patra_ingest_left_out{what="sinks"} 0`,
		`patra_ingest_leases_expired 1`,
	)
	untold(t, said, `patra_ingest_completeness_ratio{op="BACKFILL"`, `patra_ingest_last_page_timestamp_seconds{source="arxiv"}`)
	if n := strings.Count(said, "\npatra_ingest_cursor_lag_seconds{"); n != 3 {
		t.Errorf("%d lags", n)
	}
	for _, line := range strings.Split(said, "\n") {
		if strings.HasPrefix(line, "patra_ingest_cursor_stood_seconds") && strings.HasSuffix(line, " 172800") != (strings.Count(line, "HARVEST") == 1 && strings.Contains(line, namespaceOf(stalled))) {
			t.Error(line)
		}
	}
}

func namespaceOf(c patra.CursorMetrics) string {
	return "EXPR-" + patra.Hash([]any{c.Cursor.Key, c.Cursor.ScopeKey})[:8]
}
