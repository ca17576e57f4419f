package patra

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Question is one thing that a source file says about its provider and that a certification finds out.
type Question string

// The questions.
const (
	AskFilter    Question = "FILTER"    // does an answer hold only what was asked for?
	AskUpper     Question = "UPPER"     // is the unit that the end of a filter names part of the answer?
	AskPrecision Question = "PRECISION" // how finely does the provider filter?
	AskDays      Question = "DAYS"      // do the parts of a window add up to it?
	AskRepeat    Question = "REPEAT"    // may a page be asked for again?
	AskTotal     Question = "TOTAL"     // is the total true?
	AskEnd       Question = "END"       // does the list end as the file says?
	AskOrder     Question = "ORDER"     // is the list in the order that the file says, each time?
	AskPosition  Question = "POSITION"  // is a position an index, a key or a place in a frozen list?
)

// Questions are all of them, in the order of a card.
var Questions = []Question{AskFilter, AskUpper, AskPrecision, AskDays, AskRepeat, AskTotal, AskEnd, AskOrder, AskPosition}

// FindingVerdict is what was found out about one claim.
type FindingVerdict string

// The verdicts.
const (
	FindingAgrees      FindingVerdict = "AGREES"      // the provider does what the file says
	FindingContradicts FindingVerdict = "CONTRADICTS" // it does not
	FindingUndecided   FindingVerdict = "UNDECIDED"   // the answers do not tell
	FindingFound       FindingVerdict = "FOUND"       // the file does not say it, or could say more
)

// Finding is what was found out about one question.
type Finding struct {
	Question Question       `json:"question"`
	Claim    string         `json:"claim"` // what the file says
	Found    string         `json:"found"` // what the provider does
	Verdict  FindingVerdict `json:"verdict"`
	Evidence string         `json:"evidence"`
	Path     string         `json:"path,omitempty"` // of a contradiction: what to change in the source file
	Change   string         `json:"change,omitempty"`
	File     string         `json:"file,omitempty"`
	Line     int            `json:"line,omitempty"`
}

// FoundClaims are what a certification found out where the file says nothing. They hold for one address and one set of parameters.
type FoundClaims struct {
	Stability string `json:"stability,omitempty"`
	Order     string `json:"order,omitempty"`
	Key       string `json:"key,omitempty"`
}

// The forms of a certification.
const (
	CertificateFull  = "FULL"  // all questions
	CertificateShort = "SHORT" // a few requests before the first harvest: it can contradict, and certifies nothing
)

// CodeContradicted is the code of a problem that says that a provider does not do what its source file says.
const CodeContradicted = "CONTRADICTED"

// CertificateUndecided is the verdict of a card that certifies nothing and contradicts nothing. The others are those of a basis.
const CertificateUndecided = "UNDECIDED"

// CertificateScope is what a certificate holds for.
type CertificateScope struct {
	Source     string            `json:"source"`
	Endpoint   string            `json:"endpoint"`
	Address    string            `json:"address"`
	Params     map[string]string `json:"params,omitempty"`
	ClaimsHash string            `json:"claims_hash"`
}

// Hash identifies the address and the parameters.
func (s CertificateScope) Hash() string {
	return Hash(map[string]any{"address": s.Address, "params": s.Params})
}

// Certificate is what was found out about a provider: the card.
type Certificate struct {
	ID int64 `json:"id,omitempty"`
	CertificateScope
	Form     string      `json:"form"`
	At       Instant     `json:"at"`
	By       string      `json:"by"`
	Requests int         `json:"requests"`
	Verdict  string      `json:"verdict"`
	Findings []Finding   `json:"findings"`
	Rests    []Question  `json:"rests_on"` // questions that the witness of the source rests on
	Found    FoundClaims `json:"found,omitzero"`
	Before   WitnessPlan `json:"before"` // how windows were proved before
	Witness  WitnessPlan `json:"proves"` // and how they are with this card
}

// Judge decides what the findings of a card are worth together.
func (c *Certificate) Judge() {
	c.Verdict = CertificateUndecided
	if len(c.Contradictions()) > 0 {
		c.Verdict = BasisContradicted
	} else if c.Form == CertificateFull && len(c.Open()) == 0 {
		c.Verdict = BasisCertified
	}
}

// Contradictions are the findings that the file is wrong about.
func (c *Certificate) Contradictions() (all []Finding) {
	for _, f := range c.Findings {
		if f.Verdict == FindingContradicts {
			all = append(all, f)
		}
	}
	return all
}

// Open are the questions that the witness rests on and that were not answered. How the end of a window is read is known if its parts
// add up, too.
func (c *Certificate) Open() (open []Question) {
	decided := map[Question]bool{}
	for _, f := range c.Findings {
		decided[f.Question] = f.Verdict == FindingAgrees || f.Verdict == FindingFound
	}
	decided[AskUpper] = decided[AskUpper] || decided[AskDays]
	for _, q := range c.Rests {
		if !decided[q] {
			open = append(open, q)
		}
	}
	return open
}

// BasisOf is what claims rest on by all certificates that were made for them, newest first, and what these have found out beside
// them. A contradiction stands until the same question is answered otherwise. A short form certifies nothing; that a position is
// an index is believed from it, as nothing rests on that but a second scan.
func BasisOf(cards []Certificate) (basis string, found FoundClaims) {
	answered := map[Question]bool{}
	contradicted := false
	for _, c := range cards {
		for _, f := range c.Findings {
			if f.Verdict == FindingUndecided || answered[f.Question] {
				continue
			}
			answered[f.Question] = true
			contradicted = contradicted || f.Verdict == FindingContradicts
		}
	}
	if contradicted {
		return BasisContradicted, FoundClaims{}
	}
	if i := slices.IndexFunc(cards, func(c Certificate) bool { return c.Found.Stability != "" }); i >= 0 {
		found = cards[i].Found
	}
	if i := slices.IndexFunc(cards, func(c Certificate) bool { return c.Form == CertificateFull }); i >= 0 && cards[i].Verdict == BasisCertified {
		basis = BasisCertified
	}
	return basis, found
}

// maxShortForms is how often a short form that decides nothing is tried: a source may have too little for it.
const maxShortForms = 3

// NeedsShortForm reports whether a provider is to be asked in short before a harvest.
func NeedsShortForm(cards []Certificate) bool {
	for _, c := range cards {
		for _, f := range c.Findings {
			if c.Form == CertificateFull || f.Question == AskRepeat && f.Verdict != FindingUndecided || f.Verdict == FindingContradicts {
				return false
			}
		}
	}
	return len(cards) < maxShortForms
}

// CertificateWarnings are the contradictions that count by all certificates for the same claims, newest first.
func CertificateWarnings(cards []Certificate) (all Problems) {
	answered := map[Question]bool{}
	for _, c := range cards {
		for _, f := range c.Findings {
			if f.Verdict == FindingUndecided || answered[f.Question] {
				continue
			}
			if answered[f.Question] = true; f.Verdict == FindingContradicts {
				all = append(all, f.Problem(c))
			}
		}
	}
	return all
}

// Problem is a contradiction as a problem of the source file.
func (f Finding) Problem(c Certificate) Problem {
	return Problem{Code: CodeContradicted, File: f.File, Line: f.Line, Path: f.Path,
		Text: fmt.Sprintf("%s: the source file of %s says %s, and its provider does otherwise: %s (%s)", f.Place(), c.Source, cmp.Or(f.Claim, "nothing"), f.Found, f.Evidence),
		Hint: f.Change + "; until then the claims of the file prove nothing. patra source certify " + c.Source + " --live asks again"}
}

// Markdown is the card for people.
func (c Certificate) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s/%s: %s\n\n", c.Source, c.Endpoint, c.Verdict)
	fmt.Fprintf(&b, "%s form, %s, %d requests to %s%s, by %s.\n\n", c.Form, c.At, c.Requests, c.Address, c.paramsText(), c.By)
	b.WriteString("| question | verdict | the file says | found | evidence |\n|---|---|---|---|---|\n")
	for _, f := range c.Findings {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", f.Question, f.Verdict, cell(f.Claim), cell(f.Found), cell(f.Evidence))
	}
	for _, f := range c.Contradictions() {
		fmt.Fprintf(&b, "\n**%s**: %s.\n", f.Place(), f.Change)
	}
	if open := c.Open(); c.Form == CertificateFull && c.Verdict == CertificateUndecided {
		fmt.Fprintf(&b, "\nNot certified, because these questions are open: %v.\n", open)
	}
	fmt.Fprintf(&b, "\nWitness before: %s\n\nWitness with this card: %s\n", c.Before.Sentence(), c.Witness.Sentence())
	return b.String()
}

// Place is where in the source file something is to be changed.
func (f Finding) Place() string {
	if f.Line == 0 {
		return f.Path
	}
	return fmt.Sprintf("%s:%d %s", f.File, f.Line, f.Path)
}

func (c Certificate) paramsText() (text string) {
	for _, name := range slices.Sorted(maps.Keys(c.Params)) {
		text += ", " + name + "=" + c.Params[name]
	}
	return text
}

// cell is a text that fits into a column.
func cell(s string) string { return strings.NewReplacer("|", "\\|", "\n", " ").Replace(s) }

// Sentence tells how windows are proved, and at which price.
func (p WitnessPlan) Sentence() string {
	const pages = 100 // of a window, so that its requests are per cent of those of a plain walk
	return fmt.Sprintf("%s; about %d %% of the requests of a plain walk", p, p.Requests(pages*pages, pages, pages))
}
