package alert

import (
	"slices"
	"testing"

	"patra"
)

// A dispute needs a person wherever it lies: also behind a hole at which the watermark is stuck.
func TestADisputeAheadOfAStuckWatermark(t *testing.T) {
	s := newScene(t, 3)
	for range 3 {
		c := s.Take()
		if c.Slice.Window.From == s.Cursor.Origin {
			s.must(s.Finish(t.Context(), c, s.Clock.Instant(), patra.RunResult{Status: patra.Failed, Fault: &patra.Fault{Level: patra.LevelRequest, Code: patra.CodeHTTP, Status: 400, Text: "no"}}))
			continue
		}
		s.Page(c, 1, false)
		s.must(s.Succeed(c, patra.StateDisputed))
	}
	s.look()
	if at := slices.IndexFunc(s.live(), func(a patra.StoredAlert) bool { return a.Kind == patra.AlertDisputed }); at < 0 {
		t.Errorf("two disputes after a stuck watermark are not in %+v", s.live())
	}
}
