package alert

import (
	"strings"
	"testing"

	"patra"
)

// A schedule that a halt refuses is told by the halt alone, and one that is not in the settings any more not at all.
func TestARefusedScheduleIsOneAlert(t *testing.T) {
	s := newScene(t, 1)
	s.watch.Fires = s.fires
	s.refused(patra.Harvest, 2)
	refused := func() (said string) {
		s.look()
		for _, a := range s.live() {
			if a.Kind == patra.AlertRefused {
				said = a.Target + " " + a.Said
			}
		}
		return said
	}
	if said := refused(); !strings.HasPrefix(said, "schedule:daily ") || !strings.Contains(said, "2 times in a row") || !strings.Contains(said, "the secret demo-key is not set") {
		t.Errorf("it says %q", said)
	}
	s.watch.Fires = func(string, patra.Instant) (patra.Instant, bool) { return 0, false }
	for range 2 {
		refused()
	}
	if said := refused(); said != "" {
		t.Errorf("a schedule that was taken away says %q", said)
	}
	s.watch.Fires = s.fires
	_, err := s.Halt(t.Context(), here, patra.Fault{Level: patra.LevelFatal, Code: patra.CodeAuth, Status: 401, Text: "who are you"})
	s.must(err)
	if said := refused(); said != "" {
		t.Errorf("beside the halt it says %q", said)
	}
}
