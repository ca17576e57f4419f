package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"patra"
	"patra/internal/store"
)

// demoRule makes records gone that were refused twice over two days.
var demoRule = patra.GoneRule{Refusals: 2, Over: patra.Period{Days: 2}}

// refused is the answer to an update by id in which some ids are missing. Only those that count are refusals.
func (w *World) refused(rule patra.GoneRule, sent patra.Instant, counts []string, others ...string) error {
	w.T.Helper()
	all := slices.Concat(counts, others)
	plan := w.byID(patra.RecordSelector{By: patra.PickNamed, IDs: all}, 1)
	claims, _ := w.seeded(plan)
	return w.refuseIn(claims[0], rule, sent, all, counts)
}

func (w *World) refuseIn(c *patra.Claim, rule patra.GoneRule, sent patra.Instant, missing, counts []string) error {
	w.T.Helper()
	page, err := w.OpenPage(w.T.Context(), c, w.Clock.Instant(), patra.PageOpen{BatchNo: 1, ScanNo: c.Task.ScanNo, Phase: patra.PhaseDetail, Ordinal: 1, RequestID: store.NewOwner(), GateKey: "demo", AcquiredAt: sent})
	w.must(err)
	res := w.Result(false)
	res.Items, res.Gone, res.Exchange.SentAt = map[patra.Status][]string{patra.ItemMissing: missing}, rule, sent
	for _, id := range counts {
		res.Refused = append(res.Refused, patra.Refusal{ID: id, At: sent})
	}
	if _, _, err := w.CommitPage(w.T.Context(), c, w.Clock.Instant(), "work", page, res, nil); err != nil {
		return err
	}
	return w.Finish(w.T.Context(), c, w.Clock.Instant(), patra.RunResult{Status: patra.Succeeded, Proof: &patra.Proof{ScanNo: c.Task.ScanNo, State: patra.StateSealed, Trust: patra.TrustNone, IDsSeen: int64(len(missing)), ByID: true}})
}

// stored is a record that must be there.
func (w *World) stored(id string) patra.Record {
	w.T.Helper()
	r, err := w.Store.Record(w.T.Context(), "demo", "work", id)
	w.must(err)
	return *r
}

// episodes are the absences of a record, in a few words each.
func (w *World) episodes(id string) string {
	w.T.Helper()
	all, err := w.Absences(w.T.Context(), w.stored(id).ID)
	w.must(err)
	var words []string
	for _, a := range all {
		word := fmt.Sprintf("%s %d", a.Status, a.Refusals)
		if a.GoneAt != nil {
			word += " gone"
		}
		if a.EndedAt != nil {
			word += " over"
		}
		words = append(words, word)
	}
	return strings.Join(words, ", ")
}

// absenceEvents are the events about absences, oldest first.
func (w *World) absenceEvents() (all []string) {
	w.T.Helper()
	rows, err := w.EventList(w.T.Context(), store.EventQuery{Type: "patra.record.%"}, store.ListPage{Limit: 100})
	w.must(err)
	for _, e := range slices.Backward(rows) {
		if slices.Contains([]patra.EventType{patra.EventMissing, patra.EventGone, patra.EventRevived}, e.Type) {
			all = append(all, strings.TrimPrefix(string(e.Type), "patra.record.")+" "+strings.TrimPrefix(e.Subject, "demo/work/"))
		}
	}
	return all
}

func (w *World) ask(q store.RecordQuery) string {
	w.T.Helper()
	q.Limit = 100
	var found []string
	w.must(w.Find(w.T.Context(), q, func(r patra.Record) error {
		found = append(found, r.ProviderID)
		return nil
	}))
	parts := w.parts(q, 1000)
	slices.Sort(parts)
	if slices.Sort(found); !slices.Equal(found, parts) {
		w.T.Errorf("%+v finds %v, and part by part %v", q, found, parts)
	}
	return strings.Join(found, " ")
}

// absent: a record that is refused is missing, gone when the rule says so, and there again when it is seen. Every step has
// its event, moves the time of change, and leaves the version as it is.
func absent(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	c := w.Take()
	lost, there := w.Record("lost", Origin, "x"), w.Record("there", Origin, "y")
	w.Clock.Move(time.Second) // between the request and its answer
	w.Page(c, 1, true, lost, there)
	seen := w.Clock.Instant()
	for i, step := range []struct {
		days           int
		want           string
		missing, gone  string
		events         int
		changesTheTime bool
	}{
		{1, "MISSING 1", "lost", "", 1, true},
		{1, "MISSING 2", "lost", "", 1, false}, // not for two days
		{2, "GONE 3 gone", "", "lost", 2, true},
		{1, "GONE 4 gone", "", "lost", 2, false},
	} {
		w.Clock.Move(time.Duration(step.days) * 24 * time.Hour)
		before := w.stored("lost")
		w.must(w.refused(demoRule, w.Clock.Instant(), []string{"lost"}, "there", "nobody"))
		r := w.stored("lost")
		if got := w.episodes("lost"); got != step.want || r.Refusals != int64(i+1) || (r.GoneAt != nil) != (step.gone != "") {
			t.Errorf("step %d: %s, want %s: %+v", i, got, step.want, r)
		}
		if missing, gone := w.ask(store.RecordQuery{Missing: true}), w.ask(store.RecordQuery{Source: "demo", Gone: true}); missing != step.missing || gone != step.gone {
			t.Errorf("step %d: missing %q, gone %q", i, missing, gone)
		}
		if got := w.absenceEvents(); len(got) != step.events {
			t.Errorf("step %d: %v", i, got)
		}
		if r.Rev != 1 || r.Deleted || (r.ChangedAt > before.ChangedAt) != step.changesTheTime || *r.MissingSince != seen+patra.Day || r.LastSeen > seen || r.LastSeen < r.FirstSeen {
			t.Errorf("step %d: %+v", i, r)
		}
	}
	if r := w.stored("there"); r.MissingSince != nil || w.episodes("there") != "" {
		t.Errorf("a refusal that does not count made it missing: %+v", r)
	}
	if both := w.ask(store.RecordQuery{Missing: true, Gone: true}); both != "lost" {
		t.Errorf("missing or gone: %q", both)
	}
	var present []string
	w.must(w.Extract(t.Context(), store.ExportQuery{NotGone: true}, func(r patra.Record) error {
		present = append(present, r.ProviderID)
		return nil
	}))
	if !slices.Equal(present, []string{"there"}) {
		t.Errorf("not gone: %v", present)
	}
	before := w.stored("lost")
	w.Clock.Move(time.Hour)
	w.Page(c, 2, true, w.Record("lost", Origin, "x"))
	if r := w.stored("lost"); r.MissingSince != nil || r.GoneAt != nil || r.Refusals != 0 || r.Rev != 1 || r.ChangedAt <= before.ChangedAt || w.ask(store.RecordQuery{Gone: true, Missing: true}) != "" {
		t.Errorf("%+v", r)
	}
	if got := w.episodes("lost"); got != "REVIVED 4 gone over" {
		t.Error(got)
	}
	w.Clock.Move(time.Hour)
	w.must(w.refused(demoRule, w.Clock.Instant(), []string{"lost"})) // it counts anew
	if got := w.episodes("lost"); got != "REVIVED 4 gone over, MISSING 1" {
		t.Error(got)
	}
	if got := w.absenceEvents(); !slices.Equal(got, []string{"missing lost", "gone lost", "revived lost", "missing lost"}) {
		t.Error(got)
	}
	CheckInvariants(t, Inspect(t, w.URL))
}

// absenceEnds: a record is there again with whatever shows that the provider has it, and with nothing else.
func absenceEnds(t *testing.T, e Engine) {
	for _, c := range []struct {
		name   string
		stored patra.Instant // the provider's time of what is stored; the record that comes has Origin
		change func(*World, *patra.Observation)
		want   string
		event  bool
	}{
		{"the same version", Origin, func(*World, *patra.Observation) {}, "REVIVED 1 over", true},
		{"a new version", Origin - 1, func(*World, *patra.Observation) {}, "REVIVED 1 over", true},
		{"an older version", Origin + 1, func(*World, *patra.Observation) {}, "REVIVED 1 over", true},
		{"a deletion", Origin - 1, func(_ *World, o *patra.Observation) { o.Deleted = true }, "DELETED 1 over", false},
		{"an older deletion", Origin + 1, func(_ *World, o *patra.Observation) { o.Deleted = true }, "MISSING 1", false},
		{"the same version, from before", Origin, func(w *World, o *patra.Observation) { o.ObservedAt -= 2 * patra.Hour }, "MISSING 1", false},
		{"a new version, from before", Origin - 1, func(w *World, o *patra.Observation) { o.ObservedAt -= 2 * patra.Hour }, "MISSING 1", false},
	} {
		w := NewWorld(t, e, 1)
		claim := w.Take()
		content := map[bool]string{true: "x", false: "old"}[c.stored == Origin]
		w.Page(claim, 1, true, w.Record("lost", c.stored, content))
		w.Clock.Move(3 * time.Hour)
		w.must(w.refused(demoRule, w.Clock.Instant(), []string{"lost"}))
		w.Clock.Move(time.Hour)
		o := w.Record("lost", Origin, "x")
		c.change(w, &o)
		w.Page(claim, 2, true, o)
		if got := w.episodes("lost"); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		if r := w.stored("lost"); (r.MissingSince != nil) != strings.HasPrefix(c.want, "MISSING") || r.Deleted != strings.HasPrefix(c.want, "DELETED") {
			t.Errorf("%s: %+v", c.name, r)
		}
		if got := w.absenceEvents(); slices.Contains(got, "revived lost") != c.event {
			t.Errorf("%s: %v", c.name, got)
		}
		CheckInvariants(t, Inspect(t, w.URL))
	}
}

// lateRefusals: a refusal that was sent before the record was seen says nothing, nor does one of a record that is deleted,
// and a worker that lost its lease counts none.
func lateRefusals(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	c := w.Take()
	gone := w.Record("deleted", Origin, "y")
	gone.Deleted = true
	w.Page(c, 1, true, w.Record("lost", Origin, "x"), gone)
	seen := w.Clock.Instant()
	w.Clock.Move(time.Hour)
	w.must(w.refused(demoRule, seen, []string{"lost"}))
	w.must(w.refused(demoRule, w.Clock.Instant(), []string{"deleted"}))
	if w.episodes("lost") != "" || w.episodes("deleted") != "" || len(w.absenceEvents()) > 0 {
		t.Errorf("%s, %s, %v", w.episodes("lost"), w.episodes("deleted"), w.absenceEvents())
	}
	// An older version was given again, which leaves no trace in the record, and a refusal of before comes after it.
	w.must(w.refused(demoRule, w.Clock.Instant(), []string{"lost"}))
	w.Clock.Move(2 * time.Hour)
	w.Page(c, 2, true, w.Record("lost", Origin-1, "old"))
	w.must(w.refused(demoRule, w.Clock.Instant()-patra.Hour, []string{"lost"}))
	if got := w.episodes("lost"); got != "REVIVED 1 over" {
		t.Error(got)
	}
	plan := w.byID(patra.RecordSelector{By: patra.PickNamed, IDs: []string{"lost"}}, 1)
	claims, _ := w.seeded(plan)
	w.Clock.Move(2 * Lease)
	if heir := w.TryTake(patra.ClaimRequest{PlanID: plan.ID}); heir == nil {
		t.Fatal("nobody took the task over")
	}
	stale := claims[0]
	if _, err := w.OpenPage(t.Context(), stale, w.Clock.Instant(), patra.PageOpen{BatchNo: 1, ScanNo: stale.Task.ScanNo, Phase: patra.PhaseDetail, Ordinal: 1, RequestID: store.NewOwner(), GateKey: "demo"}); !errors.Is(err, patra.ErrLeaseLost) {
		t.Errorf("%v", err)
	}
	page := patra.OpenPage{PageOpen: patra.PageOpen{ScanNo: stale.Task.ScanNo, Phase: patra.PhaseDetail, Ordinal: 1}}
	res := w.Result(false)
	res.Items, res.Refused = map[patra.Status][]string{patra.ItemMissing: {"lost"}}, []patra.Refusal{{ID: "lost", At: w.Clock.Instant()}}
	if _, _, err := w.CommitPage(t.Context(), stale, w.Clock.Instant(), "work", page, res, nil); !errors.Is(err, patra.ErrLeaseLost) || w.episodes("lost") != "REVIVED 1 over" {
		t.Errorf("%v, %s", err, w.episodes("lost"))
	}
}

// absentBefore: an older version noted that a record is missing, and neither how often it was refused nor a row of it.
func absentBefore(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	w.Page(w.Take(), 1, true, w.Record("lost", Origin, "x"), w.Record("back", Origin, "y"))
	since := w.Clock.Instant() + patra.Hour
	db := Inspect(t, w.URL)
	_, err := db.Exec(fmt.Sprintf(`UPDATE ing_record SET record_remarks = '{"missing_since":"%s"}'`, since))
	w.must(err)
	if r := w.stored("lost"); r.MissingSince == nil || *r.MissingSince != since || r.Refusals != 1 {
		t.Errorf("%+v", r)
	}
	w.Clock.Move(3 * 24 * time.Hour)
	w.must(w.refused(demoRule, w.Clock.Instant(), []string{"lost"}))
	if got, r := w.episodes("lost"), w.stored("lost"); got != "GONE 2 gone" || *r.MissingSince != since {
		t.Errorf("%s, %+v", got, r)
	}
	w.Page(w.Take(), 2, true, w.Record("back", Origin, "y"))
	if got, r := w.episodes("back"), w.stored("back"); got != "" || r.MissingSince != nil {
		t.Errorf("%s, %+v", got, r)
	}
	CheckInvariants(t, db)
}

// seenLast: what an update asks for to see whether the provider gives records at all.
func seenLast(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	c := w.Take()
	for i, id := range []string{"a", "b", "deleted", "lost"} {
		w.Clock.Move(time.Hour)
		o := w.Record(id, Origin, id)
		o.Deleted = id == "deleted"
		w.Page(c, int64(i+1), true, o)
	}
	w.Clock.Move(time.Hour)
	w.must(w.refused(demoRule, w.Clock.Instant(), []string{"lost"}))
	if ids, err := w.SeenLast(t.Context(), "demo", "work", "", 5); err != nil || !slices.Equal(ids, []string{"b", "a"}) {
		t.Errorf("%v, %v", ids, err)
	}
	for id, want := range map[string]bool{"lost": true, "a": false, "nobody": false} {
		if is, err := w.IsAbsent(t.Context(), "demo", "work", id); err != nil || is != want {
			t.Errorf("%s: %v, %v", id, is, err)
		}
	}
}
