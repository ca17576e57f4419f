package cli

import (
	"testing"
	"time"

	"patra/internal/sim"
	"patra/internal/store/storetest"
)

// TestManners: one process is asked to slow down in every way there is. It never comes above the provider's limit, and
// never inside a wait that the provider had asked for.
func TestManners(t *testing.T) {
	t.Parallel()
	for _, src := range torturedSources {
		t.Run(src.code, func(t *testing.T) {
			t.Parallel()
			o := ordeals[0]
			o.tune = func(f *sim.Faults) { f.Throttle, f.Unavailable, f.AbsurdWait, f.DealEvery = 0.05, 0.10, 0, 0 }
			s := newStage(t, storetest.Engines()[0], src, o, 7, 1)
			s.plan()
			f := s.fleet(1)
			s.drain(f, time.Minute)
			s.calm(f)
			s.finish()
			s.check(f)
			for _, text := range s.findings {
				t.Error(text)
			}
			happened := s.happened()
			if happened["throttle"] == 0 || happened["unavailable"] == 0 || happened["retry-after-seconds"] == 0 || happened["retry-after-date"] == 0 {
				t.Errorf("nobody was asked to wait: %v", happened)
			}
		})
	}
}
