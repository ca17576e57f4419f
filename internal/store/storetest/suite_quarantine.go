package storetest

import (
	"errors"
	"testing"

	"patra"
	"patra/internal/store"
)

// aside commits a page with items that are no records.
func (w *World) aside(c *patra.Claim, ordinal int64, items ...patra.RejectedItem) {
	w.T.Helper()
	page, err := w.OpenAt(c, ordinal, c.Task.ScanNo, ordinal)
	w.must(err)
	res := w.Result(true)
	for i, q := range items {
		q.ItemNo = i + 1
		res.Quarantined = append(res.Quarantined, q)
	}
	counts, _, err := w.CommitPage(w.T.Context(), c, w.Clock.Instant(), "work", page, res, nil)
	if err != nil || counts.Quarantine != int64(len(items)) {
		w.T.Fatalf("counts %+v, %v", counts, err)
	}
}

func (w *World) quarantined(f store.QuarantineFilter) []patra.QuarantineItem {
	w.T.Helper()
	all, err := w.Quarantine(w.T.Context(), f)
	w.must(err)
	return all
}

func metAgain(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	c := w.Take()
	bad := patra.RejectedItem{ID: "1", Code: patra.CodeBadTime, Path: "$.at", Fragment: []byte(`{"at":"x"}`)}
	other, nameless := bad, bad
	other.Fragment, nameless.ID = []byte(`{"at":"y"}`), ""
	w.aside(c, 1, bad, other, nameless)
	w.aside(c, 2, bad, nameless, bad)
	got := w.quarantined(store.QuarantineFilter{Status: patra.Open})
	if len(got) != 3 || got[0].Met != 2 || got[1].Met != 1 || got[2].Met != 3 || got[2].RecordID != "1" || got[2].Path != "$.at" {
		t.Errorf("%+v", got)
	}
	w.must(w.Discard(t.Context(), got[2].ID, "a known bug of theirs", "me"))
	w.aside(c, 3, bad)
	if got = w.quarantined(store.QuarantineFilter{}); len(got) != 4 || got[0].Met != 1 || got[0].Status != patra.Open || got[3].Status != patra.Discarded || got[3].Reason != "a known bug of theirs" {
		t.Errorf("%+v", got)
	}
	groups, err := w.QuarantineGroups(t.Context(), store.QuarantineFilter{Source: "demo"})
	if err != nil || len(groups) != 2 || groups[0].Count != 3 || groups[0].Code != patra.CodeBadTime || groups[0].Status != patra.Open {
		t.Errorf("%+v, %v", groups, err)
	}
	CheckInvariants(t, Inspect(t, w.URL))
}

func resolvedByRecord(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	c := w.Take()
	w.aside(c, 1, patra.RejectedItem{ID: "1", Code: patra.CodeBadTime, Fragment: []byte("x")}, patra.RejectedItem{ID: "2", Code: patra.CodeBadTime, Fragment: []byte("x")})
	w.Page(c, 2, true, w.Record("1", Origin, "fine now"))
	if got := w.quarantined(store.QuarantineFilter{}); len(got) != 2 || got[0].Status != patra.Open || got[1].Status != patra.Resolved {
		t.Errorf("%+v", got)
	}
	w.aside(c, 3, patra.RejectedItem{ID: "1", Code: patra.CodeBadTime, Fragment: []byte("x")})
	if got := w.quarantined(store.QuarantineFilter{RecordID: "1"}); len(got) != 2 || got[0].Status != patra.Open || got[1].Status != patra.Resolved {
		t.Errorf("what was resolved is open again: %+v", got)
	}
	CheckInvariants(t, Inspect(t, w.URL))
}

func quarantineMoves(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	c := w.Take()
	bad := patra.RejectedItem{Code: patra.CodeMissingID, Path: "$.DOI", Fragment: []byte("{\"x\":\"\xff\"}")}
	w.aside(c, 1, bad)
	id := w.quarantined(store.QuarantineFilter{})[0].ID
	whole, err := w.QuarantineItem(t.Context(), id)
	if err != nil || string(whole.Fragment) != string(bad.Fragment) || whole.Size != int64(len(bad.Fragment)) || whole.Lineage == nil || whole.Lineage.Task != c.TaskID {
		t.Errorf("%+v, %v", whole, err)
	}
	now := w.Clock.Instant()
	w.must(w.RetryQuarantined(t.Context(), now, id, "10.5/x", true, "me"))
	w.must(w.RetryQuarantined(t.Context(), now, id, "10.5/x", true, "me"))
	if got := w.quarantined(store.QuarantineFilter{})[0]; got.Status != patra.Retrying || got.RecordID != "10.5/x" {
		t.Errorf("%+v", got)
	}
	if all, err := w.Signals(t.Context(), store.Filter{}); err != nil || len(all) != 1 || all[0].Reason != patra.SignalQuarantine || all[0].RecordID != "10.5/x" {
		t.Errorf("%+v, %v", all, err)
	}
	w.aside(c, 2, bad) // it is as bad as before
	if got := w.quarantined(store.QuarantineFilter{})[0]; got.Status != patra.Open || got.Met != 2 {
		t.Errorf("%+v", got)
	}
	w.must(w.Discard(t.Context(), id, "no", "me"))
	if err := w.RetryQuarantined(t.Context(), now, id, "", false, "me"); !errors.Is(err, patra.ErrIllegalMove) {
		t.Errorf("what was given up is retried: %v", err)
	}
	if err := w.Discard(t.Context(), id+1, "no", "me"); !errors.Is(err, patra.ErrNotFound) {
		t.Errorf("an item that is not there: %v", err)
	}
	CheckInvariants(t, Inspect(t, w.URL))
}
