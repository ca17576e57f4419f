package simtest

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"regexp"
	"sync"
	"time"

	"patra"
	"patra/internal/gate/gatetest"
	"patra/internal/query"
	"patra/internal/sim"
	"patra/internal/store/invariants"
)

// finding is something that must not be, and the rule by which it was seen.
type finding struct{ rule, text string }

// version is a version of a record, and when it could be seen.
type version struct {
	sim.Version
	id  string
	sum [32]byte
}

// judge compares what was stored with what was there. It reads the tables and the provider's log, and asks nobody who
// wrote them.
type judge struct {
	w        *world
	byDay    map[int64][]*version // by the day of their date
	of       map[string][]*version
	covered  int64 // the last row of coverage that was looked at
	logged   int   // entries of the provider's log that were looked at
	known    map[string]bool
	asked    int64 // the last row of requests that was looked at
	mark     int64 // where the watermark was
	calm     bool  // the session before was a calm one
	looking  sync.Mutex
	sessions int64

	mu       sync.Mutex
	findings []finding
	counts   map[string]int
}

func newJudge(w *world) *judge {
	j := &judge{w: w, byDay: map[int64][]*version{}, of: map[string][]*version{}, known: map[string]bool{}, counts: map[string]int{}}
	for v := range w.profile.truth(w.provider).Chronicle() {
		x := &version{Version: v, id: idOf(v.Record), sum: sum(v.Bytes)}
		x.Bytes = nil
		j.byDay[dayOf(v.At)] = append(j.byDay[dayOf(v.At)], x)
		j.of[x.id] = append(j.of[x.id], x)
	}
	return j
}

func dayOf(t time.Time) int64 { return t.Unix() / 86_400 }

// inherited are declarations that an element of a page has from those around it. What is kept of the page has them itself.
var inherited = regexp.MustCompile(`^(<\w+)( xmlns(:\w+)?="[^"]*")+`)

func sum(raw []byte) [32]byte { return sha256.Sum256(inherited.ReplaceAll(raw, []byte("$1"))) }

// enough findings of one rule are told.
const enough = 4

func (j *judge) find(rule, format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.counts[rule]++; j.counts[rule] <= enough {
		j.findings = append(j.findings, finding{rule, time.Now().UTC().Format("Jan 2 15:04: ") + fmt.Sprintf(format, args...)})
	}
}

// session looks at what a session has added.
func (j *judge) session(n int, calm bool) {
	j.sessions++
	j.written()
	if end := j.horizon(); calm && j.calm && j.mark != end.UnixMicro() {
		j.find("liveness", "all is calm, the watermark is at %s, and the last plan ends at %s", patra.Instant(j.mark), end.Format(stamp))
	}
	j.calm = calm
	j.manners()
	if every := cmp.Or(j.w.wrong.promises, 40); n%every == every-1 {
		j.promises()
	}
}

// convinced tells whether something was found.
func (j *judge) convinced() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.findings) > 0
}

// written is called whenever somebody has written a page or closed a slice: what is promised holds at every moment, and
// not only when everything is done.
func (j *judge) written() {
	j.looking.Lock()
	defer j.looking.Unlock()
	if j.w.cursor != 0 {
		j.watermark()
	}
	j.coverage()
}

// watermark: it never goes back, and everything between where it was and where it is, is covered.
func (j *judge) watermark() {
	rows, err := j.w.db.Query(`SELECT c.normalized_instant, c.origin_instant, COALESCE(v.window_from, 0), COALESCE(v.window_to, 0)
		FROM ing_cursor c LEFT JOIN ing_coverage v ON v.cursor_id = c.id AND v.window_to > ? WHERE c.id = ?`, j.mark, j.w.cursor)
	j.must(err)
	defer rows.Close()
	var at, origin patra.Instant
	var covered []patra.Window
	for rows.Next() {
		var v patra.Window
		j.must(rows.Scan(&at, &origin, &v.From, &v.To))
		covered = append(covered, v)
	}
	j.must(rows.Err())
	was := max(patra.Instant(j.mark), origin)
	if at < was {
		j.find("watermark", "it went back from %s to %s", was, at)
	} else if holes := patra.NewCoverage(patra.Window{From: was, To: at}).Minus(patra.NewCoverage(covered...)); len(holes) > 0 {
		j.find("watermark", "it went from %s to %s over %s, which nobody has read", was, at, holes[0])
	}
	j.mark = int64(at)
}

// reading is a window that somebody answers for, and when it was read.
type reading struct {
	id, from, to, plan int64
	purpose            string
	state              patra.Completeness
	began, ended       time.Time
}

// coverage: of every window that is said to be complete, what was there throughout its reading is stored, in that version
// or a newer one, or put aside if nobody could read it. And whatever was shown within the safety lag was not missed.
func (j *judge) coverage() {
	for _, r := range j.readings() {
		from, to := patra.Instant(r.from).Time(), patra.Instant(r.to).Time()
		for d := dayOf(from); d <= dayOf(to); d++ {
			for _, v := range j.byDay[d] {
				if v.At.Before(from) || !v.At.Before(to) || r.state != patra.StateSealed || (!v.Until.IsZero() && !v.Until.After(r.ended)) {
					continue
				}
				throughout := v.Throughout(r.began, r.ended)
				within := !j.w.jumped[r.plan] && v.From.Sub(v.At) <= j.w.lag()-time.Minute
				if !throughout && !within {
					continue
				}
				if why := j.lacks(v); why != "" {
					rule := "loss"
					if !throughout {
						rule = "lag"
					}
					j.find(rule, "%s of %s..%s (%s, read %s..%s): %s", v.id, from.Format(stamp), to.Format(stamp), r.purpose, r.began.UTC().Format(stamp), r.ended.UTC().Format(stamp), why)
				}
			}
		}
	}
}

const stamp = "01-02T15:04:05"

func (w *world) lag() time.Duration { return w.length(*w.spec.Window.SafetyLag) }

func (w *world) length(p patra.Period) time.Duration {
	return p.After(patra.InstantOf(w.start)).Time().Sub(w.start)
}

func (j *judge) readings() (all []reading) {
	rows, err := j.w.db.Query(`SELECT v.id, v.window_from, v.window_to, v.state_code, s.purpose_code, s.plan_id,
			MIN(q.sent_at), MAX(q.finished_at)
		FROM ing_coverage v JOIN ing_plan_slice s ON s.id = v.slice_id JOIN ing_task t ON t.slice_id = s.id
		JOIN ing_task_run_batch b ON b.task_id = t.id AND b.status_code = 'SUCCEEDED'
			AND b.scan_no = COALESCE((SELECT MAX(r.scan_no) FROM ing_task_run r WHERE r.task_id = t.id AND r.exhausted = 1), t.scan_no)
		JOIN ing_request q ON q.batch_id = b.id
		WHERE v.id > ? GROUP BY v.id, v.window_from, v.window_to, v.state_code, s.purpose_code, s.plan_id ORDER BY v.id`, j.covered)
	j.must(err)
	defer rows.Close()
	for rows.Next() {
		var r reading
		var began, ended int64
		j.must(rows.Scan(&r.id, &r.from, &r.to, &r.state, &r.purpose, &r.plan, &began, &ended))
		r.began, r.ended = time.UnixMicro(began), time.UnixMicro(ended)
		j.covered = max(j.covered, r.id)
		all = append(all, r)
	}
	j.must(rows.Err())
	return all
}

func (j *judge) must(err error) {
	if err != nil {
		j.w.t.Helper()
		j.w.t.Fatal(err)
	}
}

// lacks says what is wrong with what is stored of a record of which a version was seen; nothing is empty.
func (j *judge) lacks(v *version) string {
	if v.Poisoned {
		if j.w.count(`SELECT COUNT(*) FROM ing_quarantine WHERE provenance_code = ? AND provider_id = ?`, j.w.file.Code, v.id) == 0 {
			return "it cannot be read, and was not put aside"
		}
		return ""
	}
	r, err := j.w.stores[len(j.w.stores)-1].RecordOf(j.w.t.Context(), j.w.file.Code, j.w.spec.RecordType, j.w.spec.Repository(), v.id)
	j.must(err)
	if r == nil {
		return "it is missing"
	}
	switch has := j.which(v.id, rawOf(*r)); {
	case has == nil:
		return "what is stored is nothing that the provider ever had"
	case has.Number < v.Number:
		return fmt.Sprintf("version %d is stored, and %d was there", has.Number, v.Number)
	case has.Deleted != r.Deleted:
		return fmt.Sprintf("it is deleted: %v, and it is stored that it is: %v", has.Deleted, r.Deleted)
	}
	return ""
}

// rawOf is what the provider sent of a record: JSON, or a text within it.
func rawOf(r patra.Record) []byte {
	var text string
	if json.Unmarshal(r.Raw, &text) == nil {
		return []byte(text)
	}
	return r.Raw
}

func (j *judge) which(id string, raw []byte) *version {
	s := sum(raw)
	for _, v := range j.of[id] {
		if v.sum == s {
			return v
		}
	}
	return nil
}

// manners: the rate is kept in every stretch of time, nobody comes inside a wait that the provider asked for, and whatever
// came is known to us. Whoever was stopped with a request in hand, or killed with an answer, could not do better.
func (j *judge) manners() {
	entries := j.w.access.since(j.logged)
	j.logged += len(entries)
	j.requests()
	var sent []patra.Instant
	var asked []sim.Entry
	seen := map[string]bool{}
	for _, e := range entries {
		if !j.known[e.Correlation] {
			j.find("unknown", "the provider saw a request %q of which there is no row: %s?%s", e.Correlation, e.Path, e.Query)
		}
		if seen[e.Correlation] && j.w.profile.stateful {
			j.find("repeat", "request %s was sent twice", e.Correlation)
		}
		seen[e.Correlation] = true
		if j.w.sleepers.has(e.Correlation) {
			continue
		}
		sent = append(sent, patra.Instant(e.ReceivedUS))
		for _, a := range asked {
			if e.ReceivedUS > a.AnsweredUS+5_000 && e.ReceivedUS < min(a.RetryUntilUS, a.AnsweredUS+int64(time.Hour/time.Microsecond)) && !j.disturbed(a.ReceivedUS, e.ReceivedUS) {
				j.find("retry-after", "a request came %s after the provider had asked for %s", us(e.ReceivedUS-a.AnsweredUS), us(a.RetryUntilUS-a.AnsweredUS))
			}
		}
		if e.RetryUntilUS > 0 {
			asked = append(asked, e)
		}
	}
	if err := gatetest.Judge(sent, j.w.spec.Rate.PerSecond, max(j.w.spec.Rate.Burst, 1)); err != nil {
		j.find("rate", "%v", err)
	}
	if err := gatetest.JudgeSeconds(sent, j.w.spec.Rate.PerSecond, 50*time.Millisecond); err != nil {
		j.find("rate", "%v", err)
	}
}

func us(n int64) time.Duration { return time.Duration(n) * time.Microsecond }

// disturbed tells whether a process was killed or stopped, or went on, between two moments.
func (j *judge) disturbed(from, to int64) bool {
	j.w.mu.Lock()
	defer j.w.mu.Unlock()
	for i := len(j.w.moments) - 1; i >= 0; i-- {
		if m := j.w.moments[i].UnixMicro(); m >= from && m <= to {
			return true
		}
	}
	return false
}

func (j *judge) requests() {
	rows, err := j.w.db.Query(`SELECT id, request_id FROM ing_request WHERE id > ?`, j.asked)
	j.must(err)
	defer rows.Close()
	for rows.Next() {
		var id int64
		var name string
		j.must(rows.Scan(&id, &name))
		j.known[name], j.asked = true, max(j.asked, id)
	}
	j.must(rows.Err())
}

// promises: every sentence that is true of every store.
func (j *judge) promises() {
	for _, p := range invariants.Promises() {
		v, err := p.Check(j.w.t.Context(), j.w.db, invariants.Options{})
		j.must(err)
		if v != nil {
			j.find("tables", "%s: %d rows, such as %v", v.Promise, v.Count, v.Rows)
		}
	}
}

// horizon is how far everything is to be covered when all is calm.
func (j *judge) horizon() time.Time {
	return patra.Instant(j.w.count(`SELECT MAX(window_to) FROM ing_plan WHERE cursor_id = ?`, j.w.cursor)).Time()
}

// unprovable reports whether the source says too little of its paging for a proof, so that windows of several pages stay READ, and
// whether none of them is worse than that.
func (j *judge) unprovable() bool {
	return j.w.spec.Witness(query.All()).Witness == patra.WitnessNone &&
		j.w.count(`SELECT COUNT(*) FROM ing_coverage WHERE cursor_id = ? AND state_code NOT IN ('SEALED', 'READ')`, j.w.cursor) == 0
}

// ended: after some days of calm everything that was due is covered and complete, nothing is open, and whatever was shown
// in time is stored as it is now, unless the look-back that should have found it is known to have failed.
func (j *judge) ended() {
	j.promises()
	var mark, sealed int64
	j.must(j.w.db.QueryRow(`SELECT normalized_instant, COALESCE(sealed_instant, 0) FROM ing_cursor WHERE id = ?`, j.w.cursor).Scan(&mark, &sealed))
	due := j.w.lastStart.Add(-j.w.lag() - 2*day)
	switch end := j.horizon(); {
	case end.Before(due):
		j.find("liveness", "the last plan ends at %s, and it is %s", end.Format(stamp), time.Now().UTC().Format(stamp))
	case mark != end.UnixMicro():
		j.find("liveness", "the watermark is at %s, and the last plan ends at %s", patra.Instant(mark), end.Format(stamp))
	case sealed != mark && !j.unprovable():
		j.find("liveness", "it is complete through %s, and the watermark is at %s", patra.Instant(sealed), patra.Instant(mark))
	}
	if n := j.w.open(); n > 0 {
		j.find("liveness", "%d tasks are open", n)
	}
	j.current("late", j.w.lastStart, func(v *version) bool {
		return v.From.Sub(v.At) <= j.w.length(j.w.spec.Window.Lookback) && !j.excused(v)
	})
	j.invented()
	j.events()
}

func (j *judge) excused(v *version) bool {
	at := v.At.UnixMicro()
	return j.w.count(`SELECT COUNT(*) FROM ing_plan_slice WHERE purpose_code = 'LOOKBACK' AND window_from <= ? AND window_to > ? AND status_code <> 'SUCCEEDED'`, at, at) > 0
}

// reconciled: after all of it was read once more, everything is stored as it was when that began, or is now.
func (j *judge) reconciled(began time.Time) {
	j.promises()
	j.current("stale", began, func(*version) bool { return true })
	j.invented()
	j.events()
}

// current: what can be seen now, and could be at a moment before, from the first harvest to the watermark, is stored as it is now.
func (j *judge) current(rule string, before time.Time, of func(*version) bool) {
	first, now := j.w.start.Add(-2*day), time.Now()
	for d, list := range j.byDay {
		if d > j.mark/86_400_000_000 {
			continue
		}
		for _, v := range list {
			if v.At.Before(first) || v.At.UnixMicro() >= j.mark || v.From.After(before) || (!v.Until.IsZero() && !v.Until.After(now)) || !of(v) {
				continue
			}
			if why := j.lacks(v); why != "" {
				j.find(rule, "%s of %s, shown %s: %s", v.id, v.At.Format(stamp), v.From.UTC().Format(stamp), why)
			}
		}
	}
}

// invented: whatever is stored was there once, and nothing has more versions than it had.
func (j *judge) invented() {
	j.must(j.w.stores[len(j.w.stores)-1].Records(j.w.t.Context(), "", func(r patra.Record) error {
		switch v := j.which(r.ProviderID, rawOf(r)); {
		case v == nil:
			j.find("invention", "%s is nothing that the provider ever had", r.ProviderID)
		case r.Rev > int64(v.Number):
			j.find("invention", "%s has %d revisions of %d versions", r.ProviderID, r.Rev, v.Number)
		case r.Deleted != v.Deleted:
			j.find("invention", "%s is deleted: %v, and it is stored that it is: %v", r.ProviderID, v.Deleted, r.Deleted)
		}
		return nil
	}))
}

// events: every revision of every record is at the sink, and came there for the first time after the one before.
func (j *judge) events() {
	j.w.sink.mu.Lock()
	got := j.w.sink.got
	j.w.sink.mu.Unlock()
	type step struct {
		subject string
		rev     int64
	}
	there, last, seen := map[step]bool{}, map[string]int64{}, map[string]bool{}
	for _, e := range got {
		there[step{e.subject, e.rev}] = true
		if seen[e.id] {
			continue
		}
		seen[e.id] = true
		if e.rev < last[e.subject] {
			j.find("order", "%s came as %d after %d", e.subject, e.rev, last[e.subject])
		}
		last[e.subject] = max(last[e.subject], e.rev)
	}
	rows, err := j.w.db.Query(`SELECT r.provenance_code || '/' || r.record_type || '/' || r.provider_id, v.rev FROM ing_record_rev v JOIN ing_record r ON r.id = v.record_id`)
	j.must(err)
	defer rows.Close()
	for rows.Next() {
		var s step
		j.must(rows.Scan(&s.subject, &s.rev))
		if !there[s] {
			j.find("events", "revision %d of %s never came to the sink", s.rev, s.subject)
		}
	}
	j.must(rows.Err())
}
