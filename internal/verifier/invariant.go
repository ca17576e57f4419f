package verifier

import (
	"context"
	"fmt"
)

// Invariant is a sentence with what came of asking whether it is true.
type Invariant struct {
	Name     string   `json:"name"` // a short one, for scripts
	Text     string   `json:"text"`
	Noun     string   `json:"noun"` // what was looked at, in the plural
	Looked   int64    `json:"looked_at"`
	Skipped  string   `json:"skipped,omitempty"` // why nobody could look
	Note     string   `json:"note,omitempty"`    // what else is worth knowing
	Count    int64    `json:"findings"`
	Examples []string `json:"examples,omitempty"` // the first few

	ask func(context.Context, *Scene, *Invariant) error
}

// shown is how many findings are named.
const shown = 5

// found notes a finding.
func (v *Invariant) found(format string, args ...any) {
	if v.Count++; v.Count <= shown {
		v.Examples = append(v.Examples, fmt.Sprintf(format, args...))
	}
}

// skip notes why nothing could be looked at.
func (v *Invariant) skip(why string) error {
	v.Skipped = why
	return nil
}

// allInvariants are all of them, in the order in which they are told.
func allInvariants() []Invariant {
	all := tables()
	return append(all,
		Invariant{Name: "witness", Text: "every window that counts as complete has a proof that its pages bear out", Noun: "windows", ask: askWitness},
		Invariant{Name: "no-loss", Text: "whatever was there while a window was read that counts as complete is stored, set aside or waived", Noun: "versions", ask: askLoss},
		Invariant{Name: "no-invention", Text: "whatever is stored is a version that the provider had, and nobody has more versions than there were", Noun: "records", ask: askInvention},
		Invariant{Name: "nothing-stale", Text: "no stored record is older than what was there throughout a complete reading", Noun: "records", ask: askStale},
		Invariant{Name: "requests", Text: "the requests that the provider saw are those of the ledger, and none was sent twice that may be sent once", Noun: "requests", ask: askRequests},
		Invariant{Name: "rate", Text: "in every half-open second, and in every stretch of time, no more requests came than were permitted", Noun: "requests", ask: askRate},
		Invariant{Name: "retry-after", Text: "nothing was granted inside a wait that the provider had asked for", Noun: "waits", ask: askRetryAfter},
		Invariant{Name: "secrets", Text: "no secret stands in a column, a log, a kept answer or a Referer", Noun: "texts", ask: askSecrets},
		Invariant{Name: "answers", Text: "every kept answer is what its hash says, and what the provider says it sent", Noun: "answers", ask: askAnswers},
		Invariant{Name: "repeats", Text: "no page that was stored is asked for again, and whoever takes over goes on where the other was cut off", Noun: "pages", ask: askRepeats},
	)
}
