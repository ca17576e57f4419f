package source

import (
	"fmt"

	"patra"
	"patra/internal/query"
)

// Warnings are what a source cannot do and a harvest does without. They stop nothing; they are kept with the plan, so
// that nobody has to guess later why a promise was weaker.
func (s *Spec) Warnings() patra.Problems {
	var found patra.Problems
	warn := func(path, code, text string) {
		found = append(found, patra.Problem{Code: code, Path: path, Text: text})
	}
	records := s
	if s.Second != nil {
		records = s.Second
	}
	if len(records.Response.UpdatedAt) == 0 {
		warn("response.updatedAt", "NO_UPDATE_TIME", "records carry no time of change: of two versions the one that was fetched later counts")
	}
	switch w := s.Witness(query.All()); w.Witness {
	case patra.WitnessNone:
		warn("pagination.stability", "NO_WITNESS", "windows of several pages are READ and not SEALED: "+w.Reason)
	case patra.WitnessMetAgain:
		warn("pagination.order", "TWO_SCANS", "windows of several pages are scanned twice: nothing that was certified about the list proves more with one scan")
	}
	if s.Pagination.Cap > 0 {
		warn("pagination.cap", "CAPPED", s.capped())
	}
	if s.Window.Lookback.IsZero() && s.Window.filters() { // without a filter everything is read every time
		warn("window.lookback", "NO_LOOKBACK", "nothing is read again: records that arrive late are not found")
	}
	return found
}

// capped says what becomes of a window that holds more than the provider answers.
func (s *Spec) capped() string {
	then := "a fuller one fails and stays a gap"
	if split := s.Window.Split; split != nil {
		then = "a fuller one is cut by " + split.Field + ", and is read whole"
	}
	return fmt.Sprintf("the provider answers at most %d records of a window; %s", s.Pagination.Cap, then)
}
