package patra

import "fmt"

// UpperBound is what a provider does with the unit of time that the end of a filter names.
type UpperBound string

// The kinds of upper bound. None is known yet where it is empty.
const (
	UpperInclusive UpperBound = "INCLUSIVE" // all of the unit is part of the answer: the day, the second
	UpperExclusive UpperBound = "EXCLUSIVE" // the answer ends where the unit begins
)

// WindowBounds is how a provider reads the ends of a window, as far as that was found out.
type WindowBounds struct {
	Precision Unit       `json:"precision,omitempty"`
	Upper     UpperBound `json:"upper,omitempty"`
}

// FoundBounds is what was found out about the windows of an endpoint at one address, and why it is believed.
type FoundBounds struct {
	Source   string `json:"source"`
	Endpoint string `json:"endpoint"`
	Address  string `json:"address"`
	WindowBounds
	Evidence  string   `json:"evidence,omitempty"`
	FoundAt   *Instant `json:"found_at,omitempty"` // of the upper bound
	AskedAt   Instant  `json:"asked_at"`
	Doubt     string   `json:"doubt,omitempty"` // what contradicted an earlier finding
	DoubtedAt *Instant `json:"doubted_at,omitempty"`
	Version   int64    `json:"version"`
}

// String tells what was found out in one line.
func (f FoundBounds) String() string {
	grain, upper := "precision unknown", "upper undecided, which is asked for as EXCLUSIVE"
	if f.Precision != "" {
		grain = "precision " + string(f.Precision)
	}
	if f.Upper != "" {
		upper = fmt.Sprintf("upper %s since %s (%s)", f.Upper, short(*f.FoundAt), f.Evidence)
	}
	text := fmt.Sprintf("%s at %s: %s, %s", f.Endpoint, f.Address, grain, upper)
	if f.DoubtedAt != nil {
		text += fmt.Sprintf("; doubted %s, because %s", short(*f.DoubtedAt), f.Doubt)
	}
	return text
}

// Doubted is the finding after evidence against it: the upper bound is open again, so that the wider request is sent
// until somebody has asked once more. Only that a provider includes the end of a filter can lose records.
func (f FoundBounds) Doubted(now Instant, why string) FoundBounds {
	if f.Upper != UpperInclusive {
		return f
	}
	f.Upper, f.FoundAt, f.Evidence = "", nil, ""
	f.Doubt, f.DoubtedAt = why, &now
	return f
}

// BoundsWitness picks the record by which an upper bound is found out: it is asked for by the unit that it lies in, from
// and until. One that lies behind the beginning of its unit tells more: a provider that takes the unit for its beginning
// does not answer with it.
func BoundsWitness(shown ShownIDs, grain Unit) (best ShownID, found bool) {
	for _, s := range shown {
		if !found || grain.Floor(best.At) == best.At && grain.Floor(s.At) != s.At {
			best, found = s, true
		}
	}
	return best, found
}

// JudgeUpper is what the answer to a request from a witness's unit until that same unit says about upper bounds. known says
// that the provider has told its grain; where it has not, a record at the beginning of the unit proves nothing.
func JudgeUpper(witness ShownID, answer ShownIDs, grain Unit, known bool) UpperBound {
	if len(answer) == 0 {
		return UpperExclusive
	}
	unit := Window{From: grain.Floor(witness.At), To: grain.Next(grain.Floor(witness.At))}
	for _, s := range answer {
		if unit.Contains(s.At) && (s.At > unit.From || known && witness.At == unit.From) {
			return UpperInclusive
		}
	}
	return ""
}
