package cli

import (
	"errors"
	"os/exec"
	"testing"

	"patra/internal/sim"
	"patra/internal/store/storetest"
)

// TestMovingOffsets: records leave a window while it is read by offsets, and everything behind them moves up. What was
// there throughout must be stored all the same, or nobody may say that the window is complete.
func TestMovingOffsets(t *testing.T) {
	t.Parallel()
	src := torturedSources[1]
	src.endpoint, src.args, src.truth = "modified", []string{"--endpoint", "modified"}, func(s *sim.Server) *sim.Provider { return s.PubMed().By("mdat") }
	o := ordeals[3]
	o.tune = func(f *sim.Faults) { f.MoveEvery = 2 }
	s := newStage(t, storetest.Engines()[0], src, o, 2, 3)
	out, err := s.ask([]string{"harvest"}, s.calmTo).CombinedOutput()
	if e, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || e.ExitCode() != exitIncomplete) {
		t.Fatalf("%v\n%s", err, out)
	}
	s.judged(nil)
	for _, text := range s.findings {
		t.Error(text)
	}
	sealed, moved := s.count(`SELECT COUNT(*) FROM ing_coverage WHERE state_code = 'SEALED'`), s.count(`SELECT COUNT(*) FROM ing_coverage WHERE rescans > 0`)
	if sealed == 0 || moved == 0 || s.provider.Stats().Moves == 0 {
		t.Errorf("%d windows are sealed, %d were read twice, %+v", sealed, moved, s.provider.Stats())
	}
}
