package patra_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"patra"
)

// legal is the table of moves written down a second time, as text: an arrow that is added or lost in the code must be
// added or lost here too.
var legal = map[string]struct {
	machine patra.StateMachine
	moves   string
}{
	"schedule instance": {patra.InstanceMoves, `
		ACCEPTED -> PLANNED REJECTED`},
	"plan": {patra.PlanMoves, `
		DRAFT   -> SLICING FAILED CANCELLED
		SLICING -> READY PARTIAL FAILED CANCELLED
		PARTIAL -> SLICING CANCELLED
		READY   -> CANCELLED
		CANCELLED -> PARTIAL`},
	"slice": {patra.SliceMoves, `
		READY     -> SUCCEEDED PARTIAL FAILED CANCELLED
		PARTIAL   -> SPLIT FAILED CANCELLED
		FAILED    -> READY
		CANCELLED -> READY PARTIAL`},
	"task": {patra.TaskMoves, `
		QUEUED    -> RUNNING FAILED CANCELLED
		RUNNING   -> RUNNING QUEUED SUCCEEDED PARTIAL FAILED CANCELLED
		PARTIAL   -> FAILED CANCELLED
		FAILED    -> QUEUED
		CANCELLED -> QUEUED PARTIAL`},
	"run": {patra.RunMoves, `
		RUNNING -> SUCCEEDED PARTIAL FAILED CANCELLED RELEASED LOST`},
	"batch": {patra.BatchMoves, `
		RUNNING -> SUCCEEDED FAILED SKIPPED`},
	"answer": {patra.AnswerMoves, `
		READ  -> SEALED DISPUTED
		DISPUTED -> SEALED READ
		SEALED   -> DISPUTED SEALED`},
	"absence": {patra.AbsenceMoves, `
		MISSING -> GONE REVIVED DELETED
		GONE    -> REVIVED DELETED`},
	"pause": {patra.PauseMoves, `
		RUNNING -> PAUSED
		PAUSED  -> RUNNING PAUSED`},
	"halt": {patra.HaltMoves, `
		RUNNING -> RUNNING HALTED
		HALTED  -> RUNNING HALTED`},
	"breaker": {patra.BreakerMoves, `
		CLOSED    -> CLOSED OPEN
		OPEN      -> OPEN HALF_OPEN CLOSED
		HALF_OPEN -> HALF_OPEN OPEN CLOSED`},
	"limit": {patra.LimitMoves, `
		FREE    -> FREE LIMITED
		LIMITED -> LIMITED FREE`},
}

var allStates = []patra.Status{
	patra.Accepted, patra.Planned, patra.Rejected, patra.Draft, patra.Slicing, patra.Ready, patra.Partial, patra.Split, patra.Queued, patra.Running,
	patra.Succeeded, patra.Failed, patra.Cancelled, patra.Released, patra.Lost, patra.Skipped, patra.Open, "SEALED", "DISPUTED", "READ",
	patra.Paused, patra.Halted, patra.Closed, patra.HalfOpen, patra.Limited, patra.Free, patra.AbsenceMissing, patra.AbsenceGone, patra.AbsenceRevived, patra.AbsenceDeleted, "", "UNHEARD_OF",
}

// arrows reads the table of one machine.
func arrows(text string) map[[2]patra.Status]bool {
	all := map[[2]patra.Status]bool{}
	for line := range strings.Lines(strings.TrimSpace(text)) {
		from, to, _ := strings.Cut(line, "->")
		for _, s := range strings.Fields(to) {
			all[[2]patra.Status{patra.Status(strings.TrimSpace(from)), patra.Status(s)}] = true
		}
	}
	return all
}

func TestOnlyTheListedMovesAreLegal(t *testing.T) {
	for noun, m := range legal {
		t.Run(noun, func(t *testing.T) {
			want := arrows(m.moves)
			for _, from := range allStates {
				for _, to := range allStates {
					ok, err := m.machine.Allows(from, to), m.machine.Check(from, to)
					if ok != want[[2]patra.Status{from, to}] || (err == nil) != ok {
						t.Errorf("%s to %s: allowed is %v, check says %v", from, to, ok, err)
					}
					if err != nil && (!errors.Is(err, patra.ErrIllegalMove) || !strings.Contains(err.Error(), string(from)+" to "+string(to))) {
						t.Errorf("%s to %s is refused with %q", from, to, err)
					}
				}
			}
		})
	}
}

func TestEveryMoveIsListedOnce(t *testing.T) {
	for noun, m := range legal {
		n := 0
		for from, tos := range m.machine {
			n += len(tos)
			for i, to := range tos {
				if slices.Contains(tos[:i], to) {
					t.Errorf("%s: %s to %s is listed twice", noun, from, to)
				}
			}
		}
		if want := len(arrows(m.moves)); n != want {
			t.Errorf("%s has %d moves, want %d", noun, n, want)
		}
	}
}
