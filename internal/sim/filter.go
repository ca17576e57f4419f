package sim

import (
	"regexp"
	"slices"
	"strings"
	"time"
)

// kinds are all types the provider knows; most of them have no works here, and asking for one is no error.
var kinds = []string{
	"book", "book-chapter", "book-part", "book-section", "book-series", "book-set", "book-track", "component", "database",
	"dataset", "dissertation", "edited-book", "grant", "journal", "journal-article", "journal-issue", "journal-volume",
	"monograph", "other", "peer-review", "posted-content", "proceedings", "proceedings-article", "proceedings-series",
	"reference-book", "reference-entry", "report", "report-component", "report-series", "standard",
}

const filterNames = "from-created-date, from-deposit-date, from-index-date, from-update-date, type, " +
	"until-created-date, until-deposit-date, until-index-date, until-update-date"

// anyWork selects everything; the far day is beyond any world.
func anyWork() selection { return selection{last: 1 << 30} }

// readFilter reads name:value pairs joined by commas. A name given twice narrows, except for type, where the values
// are alternatives.
func (s *selection) readFilter(text string) []failure {
	var bad []failure
	for pair := range strings.SplitSeq(text, ",") {
		name, value, found := strings.Cut(pair, ":")
		if !found {
			bad = append(bad, failure{"pair-list-form-invalid", text, "Pair list form specified as '" + text + "' but should be of the form: key:val,...,keyN:valN"})
			continue
		}
		bad = append(bad, s.readPair(name, value)...)
	}
	return bad
}

func (s *selection) readPair(name, value string) []failure {
	switch name {
	case "type":
		if !slices.Contains(kinds, value) {
			return []failure{{"type-not-valid", value, "Type specified as " + value + " but must be one of: " + strings.Join(kinds, ", ")}}
		}
		s.kinds = append(s.kinds, value)
		return nil
	case "from-index-date", "from-update-date", "from-deposit-date", "from-created-date",
		"until-index-date", "until-update-date", "until-deposit-date", "until-created-date":
		first, last, bad := readPeriod(value)
		if bad == nil {
			s.bound(name, first, last)
		}
		return bad
	}
	return []failure{{"filter-not-available", name, "Filter " + name + " specified but there is no such filter for this route. Valid filters for this route are: " + filterNames}}
}

// bound narrows one end. A from begins with the first day of its period and an until ends with the last: both ends
// are included, and always as whole days.
func (s *selection) bound(name string, first, last day) {
	switch {
	case name == "from-created-date":
		s.createdFirst = max(s.createdFirst, first)
	case name == "until-created-date" && s.createdLast == 0:
		s.createdLast = last
	case name == "until-created-date":
		s.createdLast = min(s.createdLast, last)
	case strings.HasPrefix(name, "from-"):
		s.first = max(s.first, first)
	default:
		s.last = min(s.last, last)
	}
}

var dateForm = regexp.MustCompile(`^\d{4}(-\d{2}(-\d{2})?)?$`)

// readPeriod gives the first and last day of a year, a month or a day.
func readPeriod(text string) (first, last day, bad []failure) {
	if !dateForm.MatchString(text) {
		return 0, 0, []failure{{"date-not-valid", text, "Date specified as " + text + " but must be of the form: yyyy or yyyy-MM or yyyy-MM-dd"}}
	}
	t, err := time.Parse("2006-01-02"[:len(text)], text)
	if err != nil {
		return 0, 0, []failure{{"date-not-legitimate", text, "Date " + text + " specified in the correct format but represents an illegitimate date."}}
	}
	next := t.AddDate(0, 0, 1)
	switch len(text) {
	case 4:
		next = t.AddDate(1, 0, 0)
	case 7:
		next = t.AddDate(0, 1, 0)
	}
	return dayOf(t), dayOf(next) - 1, nil
}
