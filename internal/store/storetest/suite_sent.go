package storetest

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"patra"
	"patra/internal/store"
)

// gateSteered: what a person does to a key is done at once, and it is kept who did it and why.
func gateSteered(t *testing.T, e Engine) {
	w := NewWorld(t, e, 0)
	was, is, now, err := w.UpdateGate(t.Context(), "never used", patra.GateUpdate{PerSecond: 0.5, Cooldown: time.Minute}, "they asked", "me")
	w.must(err)
	if was.Set != 0 || is.Set != 500 || is.Cooldown != now.Add(time.Minute) || now != w.Clock.Instant() {
		t.Errorf("%+v became %+v at %s", was, is, now)
	}
	if read, _, err := w.GateState(t.Context(), "never used"); err != nil || read.Set != 500 || read.Cooldown != is.Cooldown {
		t.Errorf("it is %+v, %v", read, err)
	}
	w.Clock.Move(time.Second)
	_, _, _, err = w.UpdateGate(t.Context(), "never used", patra.GateUpdate{Default: true}, "", "you")
	w.must(err)
	_, _, _, err = w.UpdateGate(t.Context(), "another", patra.GateUpdate{Forget: true}, "", "you")
	w.must(err)
	changes, err := w.GateChanges(t.Context(), "never used", 10)
	w.must(err)
	if len(changes) != 3 || changes[0].Action != patra.GateDefaultRate || changes[0].At != w.Clock.Instant() || changes[1].Action != patra.GateCooldown || changes[1].Value != "1m0s" ||
		changes[2].Action != patra.GateSetRate || changes[2].Reason != "they asked" || changes[2].Actor != "me" || changes[2].At != now {
		t.Errorf("%+v", changes)
	}
	if changes, err = w.GateChanges(t.Context(), "never used", 1); err != nil || len(changes) != 1 {
		t.Errorf("one of them is %+v, %v", changes, err)
	}
	n := 0
	moving := e.Connect(t, w.URL, store.WithClock(func() time.Time { n++; return w.Clock.Now().Add(time.Duration(n) * time.Millisecond) }))
	_, ends, _, err := moving.UpdateGate(t.Context(), "another", patra.GateUpdate{Cooldown: time.Hour}, "", "me")
	w.must(err)
	if changes, err = w.GateChanges(t.Context(), "another", 1); err != nil || len(changes) != 1 || changes[0].At.Add(time.Hour) != ends.Cooldown {
		t.Errorf("a cooldown until %s does not follow from %+v, %v", ends.Cooldown, changes, err)
	}
	all, clock, err := w.AllGates(t.Context())
	if err != nil || len(all) != 2 || all[0].Key != "another" || all[1].Key != "never used" || all[1].Cooldown != is.Cooldown || clock != w.Clock.Instant() {
		t.Errorf("all keys are %+v at %s, %v", all, clock, err)
	}
}

// noGates: the clock is told also where no key was used.
func noGates(t *testing.T, e Engine) {
	w := NewWorld(t, e, 0)
	if all, clock, err := w.AllGates(t.Context()); err != nil || len(all) != 0 || clock != w.Clock.Instant() {
		t.Errorf("%+v at %s, %v", all, clock, err)
	}
}

// digits is a table of ten rows.
const digits = `(SELECT 0 AS d UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9)`

// fillRequests writes a hundred thousand requests under a key, ten in each second, which asked the gate in groups of ten
// and left one after the other.
func fillRequests(t *testing.T, w *World, key string) {
	t.Helper()
	n := `(a.d * 10000 + b.d * 1000 + c.d * 100 + x.d * 10 + y.d)`
	exec(t, Inspect(t, w.URL), fmt.Sprintf(`INSERT INTO ing_request (request_id, kind_code, gate_key, cost, waited, acquired_at, sent_at, finished_at, http_status, bytes, outcome_code, created_at, retry_after)
		SELECT CONCAT('%[1]s', %[2]s), 'PAGE', '%[1]s', 1, y.d * 100000, %[3]d + (%[2]s - y.d) * 100000, %[3]d + %[2]s * 100000, %[3]d + %[2]s * 100000 + 50000,
			CASE WHEN c.d = 5 AND x.d = 5 AND y.d = 5 THEN 429 ELSE 200 END, 1000, 'OK', 0, NULL
		FROM %[4]s a, %[4]s b, %[4]s c, %[4]s x, %[4]s y ORDER BY a.d, b.d, c.d, x.d, y.d`, key, n, int64(Origin), digits))
}

// sentInOrder: requests are told in the order in which they asked the gate, each once, and none is kept.
func sentInOrder(t *testing.T, e Engine) {
	w := NewWorld(t, e, 0)
	fillRequests(t, w, "k")
	for _, other := range []string{"j", "k#", "l"} {
		_, err := w.OpenRequest(t.Context(), Origin, patra.RequestOpen{RequestID: other, Kind: patra.RequestProbe, GateKey: other, Cost: 1, AcquiredAt: Origin})
		w.must(err)
	}
	if keys, err := w.RequestKeys(t.Context()); err != nil || strings.Join(keys, " ") != "j k k# l" {
		t.Errorf("the keys are %q, %v", keys, err)
	}
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before, most := heap(), uint64(0)
	var n, refused int64
	last := patra.SentRequest{}
	conduct := patra.NewRequestStats(0)
	w.must(w.SentRequests(t.Context(), "k", Origin, Origin+patra.Day, func(r patra.SentRequest) error {
		if r.AcquiredAt < last.AcquiredAt || (r.AcquiredAt == last.AcquiredAt && r.ID <= last.ID) {
			t.Fatalf("%+v comes after %+v", r, last)
		}
		if n++; n%20_000 == 0 {
			most = max(most, heap())
		}
		if r.Status == 429 {
			refused++
		}
		last = r
		conduct.Add(r)
		return nil
	}))
	if n != 100_000 || refused != 100 || last.Waited != 900*time.Millisecond || last.FinishedAt != last.SentAt+50_000 || last.Bytes != 1000 || last.Kind != patra.RequestPage {
		t.Errorf("%d requests, %d refused, the last is %+v", n, refused, last)
	}
	if most > before+8<<20 {
		t.Errorf("%d bytes are kept of %d requests", most-before, n)
	}
	if m := conduct.Manners(); m.Requests != 100_000 || m.PeakSecond != 10 || m.PeakMinute != 600 || m.TooMany != 100 {
		t.Errorf("%+v", m)
	}
	n = 0
	w.must(w.SentRequests(t.Context(), "k", Origin+patra.Second, Origin+2*patra.Second, func(patra.SentRequest) error { n++; return nil }))
	if n != 10 {
		t.Errorf("%d in one second", n)
	}
	if n, refused, err := w.SentCount(t.Context(), "k", Origin+9000*patra.Second); err != nil || n != 10_000 || refused != 10 {
		t.Errorf("%d and %d refused, %v", n, refused, err)
	}
	plan := w.explain(`SELECT r.id FROM ing_request r LEFT JOIN ing_task_run_batch b ON b.id = r.batch_id
		WHERE r.gate_key = 'k' AND r.acquired_at >= 5 AND r.acquired_at < 7 AND (r.acquired_at > 5 OR r.id > 6) ORDER BY r.acquired_at, r.id LIMIT 5`)
	if !strings.Contains(plan, "idx_request_gate") || strings.Contains(plan, "TEMP B-TREE") || strings.Contains(plan, "filesort") {
		t.Errorf("it is read by\n%s", plan)
	}
}

// explain is how an engine would answer a query.
func (w *World) explain(query string) string {
	how := "EXPLAIN "
	if strings.HasPrefix(w.URL, "sqlite") {
		how = "EXPLAIN QUERY PLAN "
	}
	rows, err := Inspect(w.T, w.URL).Query(how + query)
	w.must(err)
	defer rows.Close()
	names, err := rows.Columns()
	w.must(err)
	var plan strings.Builder
	for rows.Next() {
		row := make([]any, len(names))
		for i := range row {
			row[i] = new(any)
		}
		w.must(rows.Scan(row...))
		for _, v := range row {
			switch v := (*v.(*any)).(type) {
			case []byte:
				fmt.Fprintf(&plan, "%s ", v)
			default:
				fmt.Fprintf(&plan, "%v ", v)
			}
		}
		plan.WriteByte('\n')
	}
	w.must(rows.Err())
	return plan.String()
}

// restKept: how long a provider wanted to be left alone is kept with the request, and a page of details is told apart.
func restKept(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	at := w.Clock.Instant()
	id, err := w.OpenRequest(t.Context(), at, patra.RequestOpen{RequestID: "r", Kind: patra.RequestProbe, GateKey: "other", Cost: 2, Waited: 5, AcquiredAt: at})
	w.must(err)
	w.must(w.CloseRequest(t.Context(), id, patra.Exchange{SentAt: at + 5, FinishedAt: at + 9, Status: 429, Outcome: patra.OutcomeHTTPError, RetryAfter: 1500 * time.Millisecond}))
	var all []patra.SentRequest
	w.must(w.SentRequests(t.Context(), "other", at, at+1, func(r patra.SentRequest) error { all = append(all, r); return nil }))
	if len(all) != 1 || all[0] != (patra.SentRequest{ID: id, Kind: patra.RequestProbe, Cost: 2, Waited: 5 * time.Microsecond, AcquiredAt: at, SentAt: at + 5, FinishedAt: at + 9, Status: 429, Outcome: patra.OutcomeHTTPError, RetryAfter: 1500 * time.Millisecond}) {
		t.Errorf("%+v", all)
	}
	if queues, err := w.Queues(t.Context()); err != nil || len(queues) != 1 || queues["demo/works"].Waiting != 1 || queues["demo/works"].Running != 0 {
		t.Errorf("%+v, %v", queues, err)
	}
	w.taken("demo")
	if queues, err := w.Queues(t.Context()); err != nil || queues["demo/works"].Waiting != 0 || queues["demo/works"].Running != 1 {
		t.Errorf("%+v, %v", queues, err)
	}
}
