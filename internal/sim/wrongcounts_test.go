package sim

import (
	"slices"
	"strings"
	"testing"
)

// scrollAll reads a scroll of two days to its end and gives the ids and the last count.
func scrollAll(t *testing.T, s *Server, days string) (got []string, total int) {
	t.Helper()
	p := get(t, s.Handler(), "filter", days, "rows", "5", "cursor", "*", "sort", asc, "order", "asc")
	for len(p.Message.Items) > 0 {
		got = append(got, p.ids(t)...)
		p = get(t, s.Handler(), "filter", days, "rows", "5", "cursor", p.next())
	}
	return got, p.Message.Total
}

const twoDays = "from-index-date:2024-01-02,until-index-date:2024-01-03"

// A lie about a count that is trusted, or one that only the count gives away, is told about each question once.
func TestATrustedCountIsWrongOnce(t *testing.T) {
	for name, f := range map[string]Faults{"total": {WrongTotal: 1}, "empty page": {EmptyPage: 1}} {
		t.Run(name, func(t *testing.T) {
			c := small(5)
			c.Faults = f
			s := New(c)
			got, total := scrollAll(t, s, twoDays)
			if len(got) == total {
				t.Errorf("nobody could notice: %d of %d", len(got), total)
			}
			if got, total := scrollAll(t, s, twoDays); len(got) != 20 || total != 20 {
				t.Errorf("asked again: %d of %d", len(got), total)
			}
			if got, total := scrollAll(t, s, "from-index-date:2024-01-04,until-index-date:2024-01-04"); len(got) == total {
				t.Error("another question heard no lie")
			}
		})
	}
}

func TestShortAndDoubledPagesLoseNothing(t *testing.T) {
	for name, f := range map[string]Faults{"short": {ShortPage: 1}, "doubled": {Duplicate: 1}} {
		t.Run(name, func(t *testing.T) {
			c := small(5)
			c.Faults = f
			s := New(c)
			got, total := scrollAll(t, s, twoDays)
			slices.Sort(got)
			if double := len(got) > 20; double != (name == "doubled") || len(slices.Compact(got)) != 20 || total != 20 {
				t.Errorf("%d works, %d different, of %d", len(got), len(slices.Compact(got)), total)
			}
		})
	}
}

func TestPoisonHasNoDateAndIsStillInItsWindow(t *testing.T) {
	c := small(5)
	c.Faults.Poison = 0.2
	s := New(c)
	for name, p := range map[string]*Provider{"crossref": s.Crossref(), "europe": s.EuropePMC(), "pubmed": s.PubMed(), "oai": s.OAI()} {
		bad, all := 0, 0
		for r := range p.Truth(newYear, newYear.AddDate(0, 0, 5)) {
			all++
			if r.Poisoned {
				bad++
			}
			year := strings.Contains(string(r.Bytes), badDate) || strings.Contains(string(r.Bytes), "<Month>02</Month><Day>31</Day>")
			if year != r.Poisoned {
				t.Errorf("%s: %s says otherwise: %.300s", name, r.ID, r.Bytes)
			}
		}
		if all != 50 || bad < 4 || bad > 16 {
			t.Errorf("%s: %d of %d are poisoned", name, bad, all)
		}
	}
}

// A walk that is left before its end takes its lie with it: on its pages the count is wrong, and whoever begins again, or
// only counts, hears the truth.
func TestALieEndsWhereTheQuestionIsAskedAgain(t *testing.T) {
	c := small(5)
	c.Faults = Faults{WrongTotal: 1}
	s := New(c)
	scroll := func(cursor string) page {
		return get(t, s.Handler(), "filter", twoDays, "rows", "5", "cursor", cursor, "sort", asc, "order", "asc")
	}
	search := func(start, most string) int {
		return number(t, searchPubMed(t, s, "term", "all[sb]", "datetype", "edat", "mindate", "2024/01/02", "maxdate", "2024/01/03", "retstart", start, "retmax", most).Result.Count)
	}
	first := scroll("*")
	second := scroll(first.next())
	for _, tt := range []struct {
		name        string
		lies, truth []int
	}{
		{"crossref", []int{first.Message.Total, second.Message.Total}, []int{scroll("*").Message.Total, scroll("*").Message.Total}},
		{"pubmed", []int{search("0", "5"), search("5", "5")}, []int{search("0", "1"), search("0", "5"), search("5", "5")}},
	} {
		if slices.Contains(tt.lies, 20) {
			t.Errorf("%s: a walk heard the truth: %v", tt.name, tt.lies)
		}
		if slices.ContainsFunc(tt.truth, func(n int) bool { return n != 20 }) {
			t.Errorf("%s: asked again, it says %v", tt.name, tt.truth)
		}
	}
}
