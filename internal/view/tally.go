package view

import "patra"

// Tally counts what a list of gaps has.
type Tally struct {
	Missing  int64 `json:"missing"`  // stretches that were not read, and that no waiver signs off
	Disputed int64 `json:"disputed"` // stretches that the provider counts differently
	Waived   int64 `json:"waived"`
}

// TallyOf counts gaps as `patra coverage gaps` lists them.
func TallyOf(gaps []patra.GapView) (t Tally) {
	for _, g := range gaps {
		switch {
		case g.Kind == patra.GapDisputed:
			t.Disputed++
		case g.Kind == patra.GapWaived:
			t.Waived++
		case g.Actionable():
			t.Missing++
		}
	}
	return t
}

// Complete reports whether nothing is missing or in dispute that no waiver signs off.
func (t Tally) Complete() bool { return t.Missing+t.Disputed == 0 }

// Problem is nil only if it is complete. It is the exit code of `patra coverage gaps`.
func (t Tally) Problem() error {
	if t.Complete() {
		return nil
	}
	return patra.Incomplete("%s missing, %s in dispute", number(t.Missing, "stretch", "stretches"), number(t.Disputed, "stretch", "stretches"))
}

// Plus is the tally of two lists.
func (t Tally) Plus(other Tally) Tally {
	return Tally{t.Missing + other.Missing, t.Disputed + other.Disputed, t.Waived + other.Waived}
}
