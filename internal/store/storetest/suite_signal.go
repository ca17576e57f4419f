package storetest

import (
	"testing"

	"patra"
	"patra/internal/store"
)

func signals(t *testing.T, e Engine) {
	w := NewWorld(t, e, 0)
	add := func(want int, reason patra.SignalReason, ids ...string) {
		t.Helper()
		if n, err := w.AddSignals(t.Context(), w.Clock.Instant(), "demo", "work", "", ids, reason, "", "me"); err != nil || n != want {
			t.Errorf("%d added, want %d, %v", n, want, err)
		}
	}
	add(2, patra.SignalManual, "a", "b", "a")
	add(1, patra.SignalManual, "a", "A")
	add(1, patra.SignalRetracted, "a")
	all, err := w.Signals(t.Context(), store.Filter{Source: "demo", Status: patra.SignalNew})
	if err != nil || len(all) != 4 || all[3].RecordID != "a" || all[0].Reason != patra.SignalRetracted {
		t.Errorf("%+v, %v", all, err)
	}
	CheckInvariants(t, Inspect(t, w.URL))
}

func notices(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	c := w.Take()
	w.Page(c, 1, true, w.Record("bad work", Origin, "a"))
	notice := func(content string) patra.Observation {
		o := w.Record("notice", Origin, content)
		o.Signals = []patra.Signal{{ID: "bad work", Reason: patra.SignalRetracted, By: "notice"}, {ID: "never seen", Reason: patra.SignalRetracted, By: "notice"}}
		return o
	}
	for ordinal, content := range []string{"n", "n", "changed"} {
		w.Clock.Move(1000)
		w.Page(c, int64(ordinal+2), true, notice(content))
	}
	all, err := w.Signals(t.Context(), store.Filter{})
	if err != nil || len(all) != 1 || all[0].RecordID != "bad work" || all[0].By != "notice" || all[0].Status != patra.SignalNew {
		t.Errorf("%+v, %v", all, err)
	}
	CheckInvariants(t, Inspect(t, w.URL))
}
