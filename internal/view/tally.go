package view

import (
	"fmt"

	"patra"
)

// Tally counts what a list of gaps has.
type Tally struct {
	Missing  int64 `json:"missing"`  // stretches that were not read, and that no waiver signs off
	Disputed int64 `json:"disputed"` // stretches that the provider counts differently
	Read     int64 `json:"read"`     // stretches that were read without a proof, which is not accepted for their source
	Waived   int64 `json:"waived"`
	Accepted int64 `json:"accepted"` // stretches that were read without a proof, which is
}

// TallyOf counts gaps as `patra coverage gaps` lists them.
func TallyOf(gaps []patra.GapView) (t Tally) {
	for _, g := range gaps {
		switch {
		case g.Kind == patra.GapDisputed:
			t.Disputed++
		case g.Kind == patra.GapRead && g.Accepted != nil:
			t.Accepted++
		case g.Kind == patra.GapRead:
			t.Read++
		case g.Kind == patra.GapWaived:
			t.Waived++
		case g.Actionable():
			t.Missing++
		}
	}
	return t
}

// Complete reports whether everything is proved, apart from what a person signed off.
func (t Tally) Complete() bool { return t.Missing+t.Disputed+t.Read == 0 }

// Problem is nil only if it is complete. It is the exit code of `patra coverage gaps`.
func (t Tally) Problem() error {
	if t.Complete() {
		return nil
	}
	text := fmt.Sprintf("%s missing, %s in dispute", number(t.Missing, "stretch", "stretches"), number(t.Disputed, "stretch", "stretches"))
	if t.Read > 0 {
		text += fmt.Sprintf(", %d read without a proof", t.Read)
	}
	return patra.Incomplete("%s", text)
}

// Plus is the tally of two lists.
func (t Tally) Plus(other Tally) Tally {
	return Tally{Missing: t.Missing + other.Missing, Disputed: t.Disputed + other.Disputed, Read: t.Read + other.Read,
		Waived: t.Waived + other.Waived, Accepted: t.Accepted + other.Accepted}
}
