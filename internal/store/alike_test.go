package store

import (
	"regexp"
	"testing"
)

// Where many rows are written by one statement nothing is computed: an embedded engine that meets so much as the time of day
// there copies each page that it changes into a file first, to be able to take the statement back.
func TestNothingIsComputedInManyRows(t *testing.T) {
	all := append([]stmt{changesOfAlike, eventsOfAlike}, insertAlike...)
	for _, r := range []bulkInsert{insertItems, insertEvents, insertChanges, insertCandidates} {
		all = append(all, r.embedded...)
	}
	call := regexp.MustCompile(`\w\(`)
	for _, st := range all {
		// Under the clock of a test the time is a number; what runs is the dialect's own.
		text := sqliteDialect.rules(sqliteDialect.now).Replace(st.text)
		if found := call.FindString(text); found != "" {
			t.Errorf("%s computes %s…) in its rows", st.name, found)
		}
		if !regexp.MustCompile(`^INSERT OR FAIL INTO`).MatchString(text) {
			t.Errorf("%s must be able to take back what it has written", st.name)
		}
	}
}
