package source

import (
	"fmt"
	"strings"
	"testing"

	"patra"
	"patra/sources"
)

// exam is a certification of a shipped source with answers that were made up.
func exam(t *testing.T, code, change, to string) *Exam {
	t.Helper()
	text, err := sources.Files.ReadFile(code + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	file, err := Load(code+".yaml", []byte(strings.Replace(string(text), change, to, 1)))
	if err != nil {
		t.Fatal(err)
	}
	params := map[string]string{}
	if code == "oai" {
		params["baseUrl"] = "https://example.org/oai"
	}
	spec, err := Compile(file, Options{Operation: patra.Harvest, Contact: "t@example.org", Parameters: params})
	if err != nil {
		t.Fatal(err)
	}
	from := patra.Date(2026, 5, 1)
	return NewExam(spec, patra.CertificateFull, patra.Date(2026, 6, 1), &from, nil)
}

// rows are records of an hour each from a moment on.
func rows(first, n int) (all []ExamRow) {
	for i := first; i < first+n; i++ {
		at := patra.Date(2026, 5, 1) + patra.Instant(i)*patra.Hour + patra.Second
		all = append(all, ExamRow{ID: fmt.Sprintf("oai:x:%04d", i), At: &at})
	}
	return all
}

func (e *Exam) with(role, position string, rows []ExamRow, change ...func(*ExamAnswer)) *Exam {
	a := ExamAnswer{ExamAsk: ExamAsk{Role: role, Window: e.Windows[0], Position: position}, Rows: rows}
	for _, c := range change {
		c(&a)
	}
	e.Add(a)
	return e
}

func next(token string) func(*ExamAnswer) {
	return func(a *ExamAnswer) { a.Next, a.HasNext = token, true }
}
func total(n int64) func(*ExamAnswer)   { return func(a *ExamAnswer) { a.Total = &n } }
func end(code string) func(*ExamAnswer) { return func(a *ExamAnswer) { a.End = code } }
func within(from, to patra.Instant) func(*ExamAnswer) {
	return func(a *ExamAnswer) { a.Window = patra.Window{From: from, To: to} }
}
func failed(code, path string, level patra.Level) func(*ExamAnswer) {
	return func(a *ExamAnswer) { a.Fault = &patra.Fault{Code: code, Path: path, Level: level} }
}

// TestWhatATokenHides: a resumption token that differs in one number only is an index, one that holds the id of the last record of a
// sorted list is a key, and one that could be anything is left open.
func TestWhatATokenHides(t *testing.T) {
	for name, c := range map[string]struct {
		tokens  []string
		want    string
		verdict patra.FindingVerdict
	}{
		"DSpace":                          {[]string{"oai_dc/2026-05-01////10", "oai_dc/2026-05-01////20"}, stabilityShifting, patra.FindingFound},
		"a page number":                   {[]string{"page=2&set=a", "page=3&set=a"}, stabilityShifting, patra.FindingFound},
		"an index in base64":              {[]string{"b2Zmc2V0PTEwJnNldD1h", "b2Zmc2V0PTIwJnNldD1h"}, stabilityShifting, patra.FindingFound},
		"the last id":                     {[]string{"oai_dc!x:0009", "oai_dc!x:0019"}, stabilityKeyset, patra.FindingFound},
		"two things change":               {[]string{"10/777", "20/778"}, "", patra.FindingUndecided},
		"a date that looks like a number": {[]string{"2026-05-01", "2026-05-02"}, "", patra.FindingUndecided},
		"another step":                    {[]string{"a/5", "a/25"}, "", patra.FindingUndecided},
		"opaque":                          {[]string{"Zx81-q", "Qm77+r"}, "", patra.FindingUndecided},
	} {
		e := exam(t, "oai", "", "").with(roleLook, "", rows(0, 10), next(c.tokens[0])).with(roleWalk, c.tokens[0], rows(10, 10), next(c.tokens[1])).with(roleWalk, c.tokens[1], rows(20, 3), end(patra.EndNoToken))
		f := e.Position()
		if f.Verdict != c.verdict || f.Verdict == patra.FindingFound && f.Found != c.want {
			t.Errorf("%s: %+v", name, f)
		}
		if got := e.found().Stability; got != c.want {
			t.Errorf("%s: stability %q for this repository", name, got)
		}
		e.Form = patra.CertificateShort
		if got := e.found().Stability; got != c.want && c.want != stabilityKeyset || got != "" && c.want == stabilityKeyset {
			t.Errorf("%s: stability %q by the short form", name, got)
		}
	}
}

// TestWhatIsFoundCounts: an index that was found lets a repository be proved by two scans, a key by one; a claim of the file is not changed.
func TestWhatIsFoundCounts(t *testing.T) {
	spec := exam(t, "oai", "", "").Spec
	for found, want := range map[patra.FoundClaims]patra.Witness{
		{}: patra.WitnessCensus, {Stability: stabilityShifting}: patra.WitnessMetAgain,
		{Stability: stabilityKeyset, Key: keyUnique, Order: orderFixed}: patra.WitnessKeyset, {Stability: stabilitySnapshot}: patra.WitnessSnapshot,
	} {
		if w := spec.proves("", found); w.Witness != want || w.Basis != patra.BasisFile {
			t.Errorf("%+v: %+v", found, w)
		}
		if w := spec.proves(patra.BasisContradicted, found); w.Witness != patra.WitnessNone {
			t.Errorf("%+v, contradicted: %+v", found, w)
		}
	}
	if w := exam(t, "datacite", "", "").Spec.proves("", patra.FoundClaims{Stability: stabilityShifting}); w.Witness != patra.WitnessKeyset {
		t.Errorf("%+v", w)
	}
	if got, bare := exam(t, "oai", "", "").Spec.Claims().Hash(), spec.Claims().Hash(); got != bare {
		t.Error("claims have another hash each time")
	}
}

func verdictOf(t *testing.T, name string, f patra.Finding, want patra.FindingVerdict) {
	t.Helper()
	if f.Verdict != want {
		t.Errorf("%s: %s, want %s: %+v", name, f.Verdict, want, f)
	}
	if (f.Path != "") != (want == patra.FindingContradicts) || f.Claim == "" || f.Evidence == "" && f.Found == "" {
		t.Errorf("%s: %+v", name, f)
	}
}

func TestFilterIsJudged(t *testing.T) {
	april := patra.Window{From: patra.Date(2026, 3, 1), To: patra.Date(2026, 4, 1)}
	verdictOf(t, "inside", exam(t, "crossref", "", "").with(roleLook, "*", rows(0, 20)).Filter(), patra.FindingAgrees)
	verdictOf(t, "outside", exam(t, "crossref", "", "").with(roleLook, "*", rows(0, 20), within(april.From, april.To)).Filter(), patra.FindingContradicts)
	verdictOf(t, "nothing", exam(t, "crossref", "", "").with(roleLook, "*", nil).Filter(), patra.FindingUndecided)
	verdictOf(t, "one stray of many", exam(t, "crossref", "", "").with(roleLook, "*", append(rows(0, 20), rows(900, 1)...)).Filter(), patra.FindingUndecided)
	ids := func(left, right []ExamRow) *Exam {
		return exam(t, "pubmed", "", "").with(roleLook, "0", rows(0, 20)).with(roleLeft, "0", left).with(roleRight, "0", right)
	}
	verdictOf(t, "other ids in the other half", ids(rows(0, 10), rows(10, 10)).Filter(), patra.FindingAgrees)
	verdictOf(t, "the same ids in both halves", ids(rows(0, 20), rows(0, 20)).Filter(), patra.FindingContradicts)
}

func TestUpperAndPrecisionAreJudged(t *testing.T) {
	day := patra.Date(2026, 5, 1)
	unit := func(code, change, to string, came []ExamRow) *Exam {
		e := exam(t, code, change, to).with(roleLook, "*", rows(0, 40))
		return e.with(roleUnit, "*", came, within(day, day+patra.Day), func(a *ExamAnswer) { a.Witness = "oai:x:0003" })
	}
	exclusive := "upper: EXCLUSIVE"
	verdictOf(t, "there", unit("crossref", "", "", rows(0, 24)).Upper(), patra.FindingAgrees)
	verdictOf(t, "not there", unit("crossref", "", "", nil).Upper(), patra.FindingContradicts)
	verdictOf(t, "another is there", unit("crossref", "", "", rows(5, 2)).Upper(), patra.FindingUndecided)
	verdictOf(t, "the next day comes too", unit("crossref", "upper: INCLUSIVE_DAY", exclusive, rows(0, 40)).Upper(), patra.FindingFound)
	verdictOf(t, "exclusive as said", unit("crossref", "upper: INCLUSIVE_DAY", exclusive, rows(0, 24)).Upper(), patra.FindingAgrees)
	verdictOf(t, "no record to look for", exam(t, "crossref", "", "").with(roleLook, "*", nil).Upper(), patra.FindingUndecided)
	verdictOf(t, "of the day", unit("crossref", "", "", rows(0, 24)).Precision(), patra.FindingAgrees)
	verdictOf(t, "lost within its unit", unit("crossref", "upper: INCLUSIVE_DAY", exclusive, nil).Precision(), patra.FindingContradicts)
	second := exam(t, "datacite", "", "").with(roleLook, "*", rows(0, 40))
	second.with(roleUnit, "*", rows(0, 24), within(day+3*patra.Hour+patra.Second, day+3*patra.Hour+2*patra.Second), func(a *ExamAnswer) { a.Witness = "oai:x:0003" })
	if f := second.Precision(); f.Verdict != patra.FindingContradicts || f.Change != "write precision: DAY" {
		t.Errorf("filters by the day: %+v", f)
	}
}

func TestDaysAreJudged(t *testing.T) {
	parts := func(left, right []ExamRow, change ...func(*ExamAnswer)) *Exam {
		return exam(t, "crossref", "", "").with(roleLook, "*", rows(0, 48), change...).with(roleLeft, "*", left).with(roleRight, "*", right)
	}
	verdictOf(t, "they add up", parts(rows(0, 24), rows(24, 24)).Days(), patra.FindingAgrees)
	verdictOf(t, "some are lost", parts(rows(0, 20), rows(24, 24)).Days(), patra.FindingContradicts)
	verdictOf(t, "some are in both", parts(rows(0, 26), rows(24, 24)).Days(), patra.FindingFound)
	verdictOf(t, "the window moves", parts(rows(0, 20), rows(24, 24)).with(roleWhole, "*", rows(0, 44)).Days(), patra.FindingUndecided)
	counts := func(whole, left, right int64) *Exam {
		return exam(t, "crossref", "", "").with(roleLook, "*", rows(0, 48), total(whole), next("x")).with(roleLeft, "*", rows(0, 20), total(left), next("x")).with(roleRight, "*", rows(30, 5), total(right), next("x"))
	}
	verdictOf(t, "counts add up", counts(900, 400, 500).Days(), patra.FindingAgrees)
	verdictOf(t, "counts of the parts are less", counts(900, 400, 400).Days(), patra.FindingContradicts)
	verdictOf(t, "counts of the parts are more", counts(900, 500, 500).Days(), patra.FindingContradicts)
	verdictOf(t, "counts moved", counts(900, 500, 500).with(roleWhole, "*", rows(0, 48), total(1000), next("x")).Days(), patra.FindingUndecided)
}

func TestRepeatIsJudged(t *testing.T) {
	walk := func(code string, again []ExamRow, change ...func(*ExamAnswer)) *Exam {
		return exam(t, code, "", "").with(roleLook, "", rows(0, 10), next("a")).with(roleWalk, "", rows(0, 10), next("a")).with(roleWalk, "a", rows(10, 10), next("b")).with(roleAgain, "a", again, change...)
	}
	verdictOf(t, "the same", walk("europepmc", rows(10, 10)).Repeat(), patra.FindingAgrees)
	verdictOf(t, "the next", walk("europepmc", rows(20, 10)).Repeat(), patra.FindingContradicts)
	verdictOf(t, "expired", walk("europepmc", nil, failed(patra.CodeTokenExpired, "", patra.LevelRetry)).Repeat(), patra.FindingContradicts)
	verdictOf(t, "no answer", walk("europepmc", nil, failed("TIMEOUT", "", patra.LevelRetry)).Repeat(), patra.FindingUndecided)
	verdictOf(t, "some of them", walk("europepmc", rows(15, 10)).Repeat(), patra.FindingUndecided)
	verdictOf(t, "a scroll goes on", walk("crossref", rows(20, 10)).Repeat(), patra.FindingAgrees)
	verdictOf(t, "a scroll does not", walk("crossref", rows(10, 10)).Repeat(), patra.FindingContradicts)
	verdictOf(t, "no second page", exam(t, "crossref", "", "").with(roleLook, "*", rows(0, 3)).Repeat(), patra.FindingUndecided)
}

func TestTotalIsJudged(t *testing.T) {
	walk := func(code string, n int, change ...func(*ExamAnswer)) *Exam {
		return exam(t, code, "", "").with(roleLook, "0", rows(0, n), change...)
	}
	verdictOf(t, "true", walk("crossref", 10, total(10)).Total(), patra.FindingAgrees)
	verdictOf(t, "too large", walk("crossref", 10, total(12)).Total(), patra.FindingContradicts)
	verdictOf(t, "too small, and not at the end", walk("crossref", 10, total(8), next("x")).Total(), patra.FindingContradicts)
	verdictOf(t, "not at the end", walk("crossref", 10, total(80), next("x")).Total(), patra.FindingUndecided)
	verdictOf(t, "none", walk("crossref", 10).Total(), patra.FindingContradicts)
	verdictOf(t, "an estimate", walk("europepmc", 10, total(12)).Total(), patra.FindingFound)
	verdictOf(t, "it moves", walk("crossref", 10, total(12)).with(roleWalk, "0", rows(0, 10), total(10)).Total(), patra.FindingUndecided)
}

func TestEndIsJudged(t *testing.T) {
	verdictOf(t, "as said", exam(t, "datacite", "", "").with(roleWalk, "", rows(0, 5), end(patra.EndNoToken)).End(), patra.FindingAgrees)
	verdictOf(t, "not at the end", exam(t, "datacite", "", "").with(roleWalk, "", rows(0, 5), next("x")).End(), patra.FindingUndecided)
	verdictOf(t, "no next position, and not said", exam(t, "datacite", "", "").with(roleWalk, "", nil, failed(patra.CodeSchema, "$.links.next", patra.LevelRetry)).End(), patra.FindingContradicts)
	verdictOf(t, "the same position", exam(t, "datacite", "", "").with(roleWalk, "", nil, failed(patra.CodeLoop, "$.links.next", patra.LevelRetry)).End(), patra.FindingContradicts)
	verdictOf(t, "out of order", exam(t, "datacite", "", "").with(roleWalk, "", nil, failed("HTTP_500", "", patra.LevelRetry)).End(), patra.FindingUndecided)
	verdictOf(t, "the last page again", exam(t, "plos", "", "").with(roleWalk, "0", rows(0, 5), next("5")).with(roleWalk, "5", rows(0, 5), next("10")).End(), patra.FindingContradicts)
	more := exam(t, "zenodo", "", "").with(roleWalk, "1", rows(0, 5), end(patra.EndNoToken)).with(roleBeyond, "2", rows(5, 3))
	verdictOf(t, "more behind it", more.End(), patra.FindingContradicts)
}

func TestOrderIsJudged(t *testing.T) {
	turned := func(r []ExamRow) []ExamRow {
		out := append([]ExamRow{}, r...)
		out[0], out[1] = out[1], out[0]
		return out
	}
	pages := func(code string, first []ExamRow, later ...[]ExamRow) *Exam {
		e := exam(t, code, "", "").with(roleWalk, "0", first, end(patra.EndNoToken))
		for _, l := range later {
			e.with(roleOrder, "0", l)
		}
		return e
	}
	verdictOf(t, "the same", pages("plos", rows(0, 5), rows(0, 5)).Order(), patra.FindingAgrees)
	verdictOf(t, "asked once", pages("plos", rows(0, 5)).Order(), patra.FindingUndecided)
	verdictOf(t, "shuffled", pages("plos", rows(0, 5), turned(rows(0, 5))).Order(), patra.FindingContradicts)
	verdictOf(t, "one after the other and back", pages("plos", rows(0, 5), rows(1, 5), rows(0, 5)).Order(), patra.FindingContradicts)
	verdictOf(t, "a record has left", pages("plos", rows(0, 5), rows(1, 5), rows(1, 5)).Order(), patra.FindingUndecided)
	verdictOf(t, "not by time", pages("arxiv", turned(rows(0, 5)), turned(rows(0, 5))).Order(), patra.FindingContradicts)
	verdictOf(t, "no order is said", pages("biorxiv", rows(0, 5), rows(0, 5)).Order(), patra.FindingFound)
}

func TestPlaceIsJudged(t *testing.T) {
	pages := func(second, overlap []ExamRow) *Exam {
		return exam(t, "plos", "", "").with(roleWalk, "0", rows(0, 10), next("10")).with(roleWalk, "10", second, next("20")).
			with(roleOverlap, "9", overlap, func(a *ExamAnswer) { a.Size = 10 })
	}
	verdictOf(t, "it begins where it should", pages(rows(10, 10), rows(9, 10)).Position(), patra.FindingAgrees)
	verdictOf(t, "it is rounded", pages(rows(10, 10), rows(0, 10)).Position(), patra.FindingContradicts)
	verdictOf(t, "it is not heeded", pages(rows(0, 10), rows(0, 10)).Position(), patra.FindingContradicts)
}

// TestAnExamIsShort: no answer makes it ask for more than it may.
func TestAnExamIsShort(t *testing.T) {
	for _, code := range []string{"crossref", "plos", "zenodo", "oai", "datacite", "biorxiv", "pubmed", "semanticscholar"} {
		for _, form := range []string{patra.CertificateFull, patra.CertificateShort} {
			e := exam(t, code, "", "")
			e.Form = form
			for n := 0; ; n++ {
				ask, more := e.Next()
				if !more {
					break
				}
				if n == 100 {
					t.Fatal("it never ends")
				}
				e.Sent++
				a := ExamAnswer{ExamAsk: ask, Rows: rows(n*10, 10), HasNext: true, Next: fmt.Sprint(n)}
				if e.counted() {
					a.Next = fmt.Sprint(n + 1)
				}
				e.Add(a)
			}
			if e.Sent > MaxExamRequests[form] || e.Sent < 2 {
				t.Errorf("%s, %s: %d requests", code, form, e.Sent)
			}
			for _, f := range e.Findings() {
				if f.Verdict == "" || f.Verdict == patra.FindingContradicts && (f.Path == "" || f.Change == "") {
					t.Errorf("%s: %+v", code, f)
				}
			}
		}
	}
}

func TestLineOf(t *testing.T) {
	text, err := sources.Files.ReadFile("zenodo.yaml")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	if n := LineOf("zenodo.yaml", text, "endpoints.records.pagination.order"); !strings.Contains(lines[n-1], "order: FIXED") {
		t.Errorf("line %d", n)
	}
	if n := LineOf("zenodo.yaml", text, "endpoints.records.pagination.stability"); !strings.Contains(lines[n-1], "pagination:") {
		t.Errorf("line %d of what is not written", n)
	}
}

// TestABorderLiesInATie: the pages of a walk are cut where two records have the same time, so that a key with ties loses one of them.
func TestABorderLiesInATie(t *testing.T) {
	all := rows(0, 12)
	all[6].At = all[5].At
	if size := exam(t, "datacite", "", "").with(roleLook, "", all).size(); size != 6 {
		t.Errorf("pages of %d", size)
	}
	if size := exam(t, "datacite", "", "").with(roleLook, "", rows(0, 12)).size(); size != 5 {
		t.Errorf("pages of %d where there is no tie", size)
	}
}
