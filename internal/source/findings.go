package source

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"patra"
)

// Findings are what the answers of a certification say about every claim.
func (e *Exam) Findings() []patra.Finding {
	return []patra.Finding{e.Filter(), e.Upper(), e.Precision(), e.Days(), e.Repeat(), e.Total(), e.End(), e.Order(), e.Position()}
}

func undecided(q patra.Question, claim, why string) patra.Finding {
	return patra.Finding{Question: q, Claim: claim, Verdict: patra.FindingUndecided, Evidence: why}
}

// at is the path of a setting of the endpoint in the source file.
func (e *Exam) at(path string) string { return "endpoints." + e.Spec.Endpoint + "." + path }

func (e *Exam) against(f patra.Finding, path, change string) patra.Finding {
	f.Verdict, f.Path, f.Change = patra.FindingContradicts, e.at(path), change
	return f
}

// first is an answer to the question for the window; nil if there is none.
func (e *Exam) first() *ExamAnswer {
	if a := e.whole(); a != nil {
		return a
	}
	if w := e.walk(); len(w) > 0 {
		return &w[0]
	}
	return nil
}

// within is the window with what an upper bound may add to it.
func (e *Exam) within(w patra.Window) patra.Window {
	return patra.Window{From: w.From, To: e.Spec.Window.Precision.Next(w.To)}
}

// strays are the rows of an answer that lie outside of a window. A time at midnight may stand for its day.
func strays(rows []ExamRow, w patra.Window) (out, timed int) {
	for _, r := range rows {
		if r.At == nil {
			continue
		}
		end := *r.At
		if patra.UnitDay.Floor(end) == end {
			end = patra.UnitDay.Next(end) - 1
		}
		if timed++; end < w.From || *r.At >= w.To {
			out++
		}
	}
	return out, timed
}

// Filter says whether an answer holds only what was asked for.
func (e *Exam) Filter() patra.Finding {
	f := patra.Finding{Question: patra.AskFilter, Claim: "window.field: " + cmp.Or(e.Spec.Window.Field, "none")}
	a := e.first()
	left, right := e.one(roleLeft), e.one(roleRight)
	ignored := func() patra.Finding {
		f.Found = "the provider does not filter by the window"
		return e.against(f, "window.field", "mend the filter under query.render for the field "+e.Spec.Window.Field+", or write window.strategy: LANDMARK")
	}
	switch {
	case !e.Spec.Window.filters():
		return undecided(f.Question, "window.strategy: LANDMARK", "the source has no filter")
	case a == nil || a.Fault != nil || len(a.Rows) == 0:
		return undecided(f.Question, f.Claim, "no record came")
	case e.timed():
		out, timed := strays(a.Rows, e.within(a.Window))
		f.Evidence = fmt.Sprintf("%d of %d records of %s lie outside of it", out, timed, a.Window)
		switch {
		case timed > 0 && 10*out > timed && e.coarser(a) != "":
			f.Found, f.Verdict = "only what was asked for, by the "+strings.ToLower(e.coarser(a)), patra.FindingAgrees
			return f
		case timed > 0 && 10*out > timed:
			return ignored()
		case timed > 0 && out == 0:
			f.Found, f.Verdict = "only what was asked for", patra.FindingAgrees
			return f
		}
		return undecided(f.Question, f.Claim, f.Evidence)
	case left == nil || right == nil || len(left.Rows) == 0 || len(right.Rows) == 0:
		return undecided(f.Question, f.Claim, "records tell no time that the filter goes by, and there are no two windows to compare")
	}
	common := 0
	other := idSet(right.Rows)
	for _, r := range left.Rows {
		if other[r.ID] {
			common++
		}
	}
	f.Evidence = fmt.Sprintf("%d of %d records of %s are in %s too", common, len(left.Rows), left.Window, right.Window)
	if 2*common > min(len(left.Rows), len(right.Rows)) {
		return ignored()
	}
	f.Found, f.Verdict = "windows that do not meet have different records", patra.FindingAgrees
	return f
}

// obeys reports whether the filter is heeded: what else is said about windows rests on it.
func (e *Exam) obeys() bool { return e.Filter().Verdict != patra.FindingContradicts }

// Upper says whether the unit that the end of a filter names is part of the answer.
func (e *Exam) Upper() patra.Finding {
	w := e.Spec.Window
	f := patra.Finding{Question: patra.AskUpper, Claim: "window.upper: " + w.Upper}
	if e.Spec.Discovers() {
		f.Claim = "window.upper: " + discovered
	}
	a := e.one(roleUnit)
	if !w.filters() || a == nil || a.Fault != nil || !e.obeys() {
		return undecided(f.Question, f.Claim, "no record could be looked for by the unit that it lies in")
	}
	grain, inside, behind, begins := w.Precision, false, 0, true
	for _, r := range a.Rows {
		inside = inside || r.ID == a.Witness
		if r.At != nil && a.Window.Contains(*r.At) && *r.At > a.Window.From {
			begins = false
		}
		if r.At != nil && *r.At >= a.Window.To && *r.At < grain.Next(a.Window.To) {
			behind++
		}
	}
	inclusive := w.Upper != "EXCLUSIVE"
	f.Evidence = fmt.Sprintf("%s was looked for in its %s, %s: %d records came", a.Witness, strings.ToLower(string(grain)), a.Window, len(a.Rows))
	switch {
	case inside && behind > 0:
		f.Found, f.Verdict = fmt.Sprintf("INCLUSIVE: %d records of the next unit come too, and nothing is lost", behind), patra.FindingFound
	case inside:
		f.Found, f.Verdict = "the record is there", patra.FindingAgrees
	case inclusive && begins && !a.HasNext:
		f.Found = "EXCLUSIVE: the unit that the end of a filter names is left out"
		return e.against(f, "window.upper", "write upper: EXCLUSIVE")
	default:
		return undecided(f.Question, f.Claim, f.Evidence+", and not this one")
	}
	return f
}

// Precision says whether the provider filters as finely as the file says.
func (e *Exam) Precision() patra.Finding {
	w := e.Spec.Window
	f := patra.Finding{Question: patra.AskPrecision, Claim: "window.precision: " + string(w.Precision)}
	if e.Spec.AsksPrecision() {
		f.Claim = "window.precision: " + discovered
	}
	a := e.one(roleUnit)
	if first := e.first(); first != nil && e.timed() && a == nil && len(first.Rows) > 0 {
		a = first // it tells no more than that the filter is coarser than the window
	}
	if !w.filters() || a == nil || a.Fault != nil || !e.obeys() {
		return undecided(f.Question, f.Claim, "no record could be looked for by the unit that it lies in")
	}
	out, timed := strays(a.Rows, e.within(a.Window))
	f.Evidence = fmt.Sprintf("%d of %d records of %s lie outside of it", out, timed, a.Window)
	switch {
	case len(a.Rows) == 0 && !a.HasNext && w.Upper == "EXCLUSIVE" && !e.Spec.Discovers():
		f.Found = fmt.Sprintf("%s lies in %s, and a request for just that gives nothing", a.Witness, a.Window)
		return e.against(f, "window.precision", "write a coarser precision, such as DAY")
	case timed == 0:
		return undecided(f.Question, f.Claim, "no record came that tells its time")
	case 10*out > timed && e.coarser(a) != "":
		coarser := e.coarser(a)
		f.Found = "filters by " + coarser
		return e.against(f, "window.precision", "write precision: "+coarser)
	}
	if a.Role != roleUnit || out > 0 {
		return undecided(f.Question, f.Claim, f.Evidence)
	}
	f.Found, f.Verdict = "no coarser than that", patra.FindingAgrees
	return f
}

// coarser is the unit, up to a day, in which all records of an answer lie although finer ones were asked for; empty: there is none.
func (e *Exam) coarser(a *ExamAnswer) string {
	for _, u := range patra.Units[slices.Index(patra.Units, e.Spec.Window.Precision)+1:] {
		w := patra.Window{From: u.Floor(a.Window.From), To: u.Next(u.Ceil(a.Window.To))}
		if out, _ := strays(a.Rows, w); out == 0 && u != patra.UnitMonth {
			return string(u)
		}
	}
	return ""
}

// Days says whether the parts of a window add up to it.
func (e *Exam) Days() patra.Finding {
	f := patra.Finding{Question: patra.AskDays, Claim: "parts of a window add up to it"}
	whole, left, right := e.whole(), e.one(roleLeft), e.one(roleRight)
	if whole == nil || left == nil || right == nil || left.Fault != nil || right.Fault != nil || !e.obeys() {
		return undecided(f.Question, f.Claim, "there was no window to divide")
	}
	if whole.all() && left.all() && right.all() {
		return e.addUp(f, whole, left, right)
	}
	if whole.Total == nil || left.Total == nil || right.Total == nil {
		return undecided(f.Question, f.Claim, "the parts have more than a page, and no total")
	}
	f.Evidence = fmt.Sprintf("%d of %s, %d of %s and %d of %s", *whole.Total, whole.Window, *left.Total, left.Window, *right.Total, right.Window)
	again := e.one(roleWhole)
	switch sum := *left.Total + *right.Total; {
	case sum == *whole.Total:
		f.Found, f.Verdict = "they do", patra.FindingAgrees
	case again != nil && (again.Total == nil || *again.Total != *whole.Total), e.Spec.Response.Total.Trust != patra.TrustExact:
		return undecided(f.Question, f.Claim, f.Evidence+": the counts move, or are estimates")
	case sum > *whole.Total && e.Spec.Window.Upper == "EXCLUSIVE":
		f.Found, f.Verdict = "the unit between two parts is in both, and nothing is lost", patra.FindingFound
	case sum > *whole.Total:
		f.Found = "the parts have more than the whole"
		return e.against(f, "response.total.trust", "write trust: ESTIMATE")
	default:
		f.Found = "the parts have less than the whole"
		return e.against(f, "window.upper", "write upper: EXCLUSIVE, or see the dates of query.render")
	}
	return f
}

// addUp compares the records of a window with those of its parts.
func (e *Exam) addUp(f patra.Finding, whole, left, right *ExamAnswer) patra.Finding {
	one, other := idSet(left.Rows), idSet(right.Rows)
	lost, both := 0, 0
	for _, r := range whole.Rows {
		if !one[r.ID] && !other[r.ID] {
			lost++
		}
		if one[r.ID] && other[r.ID] {
			both++
		}
	}
	f.Evidence = fmt.Sprintf("of %d records of %s %d are in no half and %d in both", len(whole.Rows), whole.Window, lost, both)
	again := e.one(roleWhole)
	switch {
	case lost > 0 && again != nil && len(again.Rows) != len(whole.Rows):
		return undecided(f.Question, f.Claim, f.Evidence+": the window moves")
	case lost > 0:
		f.Found = "the parts have less than the whole"
		return e.against(f, "window.upper", "write upper: EXCLUSIVE, or see the dates of query.render")
	case both > 0:
		f.Found, f.Verdict = "records at the border are in both parts, and nothing is lost", patra.FindingFound
	default:
		f.Found, f.Verdict = "they do", patra.FindingAgrees
	}
	return f
}

// state is what the file says about asking for a page twice.
func (e *Exam) state() string {
	if e.Spec.Stateful() {
		return stateful
	}
	return stateless
}

// Repeat says whether a page may be asked for again.
func (e *Exam) Repeat() patra.Finding {
	f := patra.Finding{Question: patra.AskRepeat, Claim: "pages are " + e.state()}
	w, again := e.good(), e.one(roleAgain)
	if again == nil {
		return undecided(f.Question, f.Claim, "there was no second page")
	}
	f.Evidence = fmt.Sprintf("the second page had %d records, and %d came when it was asked for again", len(w[1].Rows), len(again.Rows))
	found := e.repeated(w[1], again)
	switch {
	case found == "":
		return undecided(f.Question, f.Claim, f.Evidence)
	case found == e.state():
		f.Found, f.Verdict = found, patra.FindingAgrees
		return f
	}
	f.Found = found
	if again.Fault != nil {
		f.Evidence = "asked for again, the second page failed: " + again.Fault.Text
	}
	if e.Spec.Pagination.Type == pageToken {
		return e.against(f, "pagination.token.state", "write state: "+found)
	}
	return e.against(f, "pagination.type", "write type: TOKEN with state: "+found)
}

// repeated is what a second answer for the same page says; empty: nothing.
func (e *Exam) repeated(page ExamAnswer, again *ExamAnswer) string {
	if fault := again.Fault; fault != nil {
		if fault.Code == patra.CodeTokenExpired || fault.Level == patra.LevelRequest {
			return stateful
		}
		return ""
	}
	before, common := idSet(page.Rows), 0
	for _, r := range again.Rows {
		if before[r.ID] {
			common++
		}
	}
	switch {
	case common == len(page.Rows) && common == len(again.Rows):
		return stateless
	case common == 0 && !e.counted():
		return stateful
	}
	return ""
}

// Total says whether the total of an answer is true.
func (e *Exam) Total() patra.Finding {
	trust := cmp.Or(e.Spec.Response.Total.Trust, patra.TrustNone)
	f := patra.Finding{Question: patra.AskTotal, Claim: "response.total.trust: " + string(trust)}
	n, total, moved, ended := e.inWindow()
	f.Evidence = fmt.Sprintf("%d records were read", n)
	switch {
	case n == 0 && total == nil:
		return undecided(f.Question, f.Claim, "no record came")
	case total == nil && trust == patra.TrustExact:
		f.Found = "the answers have no total"
		return e.against(f, "response.total.trust", "mend response.total.path, or write trust: NONE")
	case total == nil:
		f.Found, f.Verdict = "there is none", patra.FindingAgrees
		return f
	}
	f.Evidence = fmt.Sprintf("the provider says %d, and %d records were read", *total, n)
	switch {
	case moved:
		return undecided(f.Question, f.Claim, f.Evidence+"; the total changed meanwhile")
	case *total < n || ended && *total != n:
		if f.Found = "the total is not that of the list"; trust == patra.TrustExact {
			return e.against(f, "response.total.trust", "write trust: ESTIMATE")
		}
		f.Verdict = patra.FindingFound
	case !ended:
		return undecided(f.Question, f.Claim, f.Evidence+"; the list was not read to its end")
	case trust == patra.TrustExact:
		f.Found, f.Verdict = "it is that of the list", patra.FindingAgrees
	default:
		f.Found, f.Verdict = "it was that of the list this time", patra.FindingFound
	}
	return f
}

// inWindow is how many different records the window has, by the walk or by the answer that held all of it, and what the provider says.
func (e *Exam) inWindow() (n int64, total *int64, moved, ended bool) {
	note := func(a ExamAnswer) {
		if a.Total != nil {
			moved = moved || total != nil && *total != *a.Total
			total = a.Total
		}
	}
	for _, a := range e.good() {
		note(a)
	}
	n, ended = int64(len(idSet(e.list()))), e.ended()
	if look := e.whole(); look != nil && look.Fault == nil && e.sized() {
		note(*look)
		rows := int64(len(idSet(look.Rows)))
		ended = ended || !look.HasNext && rows >= n // it was one answer
		n = max(n, rows)
	}
	return n, total, moved, ended
}

// End says whether the list ends as the file says.
func (e *Exam) End() patra.Finding {
	p := e.Spec.Pagination
	f := patra.Finding{Question: patra.AskEnd, Claim: "pagination.end: [" + strings.Join(p.End, ", ") + "]"}
	w := e.walk()
	if look := e.whole(); look != nil && (len(w) == 0 || e.cutShort(look)) {
		w = []ExamAnswer{*look}
	}
	if len(w) == 0 {
		return undecided(f.Question, f.Claim, "no window was walked to its end")
	}
	last := w[len(w)-1]
	if e.cutShort(&last) {
		f.Found, f.Evidence = "a short page does not end the list", fmt.Sprintf("an answer with %d records, fewer than were asked for, and smaller pages have more", len(last.Rows))
		return e.against(f, "pagination.end", "leave out SHORT_PAGE, and write EMPTY_PAGE")
	}
	if fault := last.Fault; fault != nil {
		f.Evidence = fmt.Sprintf("page %d: %s", len(w), fault.Text)
		switch {
		case fault.Code == patra.CodeLoop:
			f.Found = "the last page gives its own position again"
			return e.against(f, "pagination.end", "add SAME_TOKEN, and write token.onSame: END")
		case e.Tells(fault):
			f.Found = "the last page has no next position"
			return e.against(f, "pagination.end", "add NO_TOKEN and NULL_NEXT")
		}
		return undecided(f.Question, f.Claim, f.Evidence)
	}
	if len(w) > 1 && len(last.Rows) > 0 && e.repeats(w) {
		f.Found, f.Evidence = "behind the end come rows that were read before", fmt.Sprintf("page %d at %s", len(w), last.Position)
		return e.against(f, "pagination.end", "write end: [SHORT_PAGE]")
	}
	if !e.ended() {
		return undecided(f.Question, f.Claim, fmt.Sprintf("the list went on after %d pages", len(w)))
	}
	return e.endedEarly(f, last)
}

// cutShort reports whether an answer that was taken for the last one, as it is short, is not: the walk has records that it lacks.
func (e *Exam) cutShort(look *ExamAnswer) bool {
	if look.Role != roleLook || look.End != patra.EndShortPage || !e.sized() {
		return false
	}
	known := idSet(look.Rows)
	return slices.ContainsFunc(e.list(), func(r ExamRow) bool { return !known[r.ID] })
}

// endedEarly says whether records lie behind the end that a walk came to.
func (e *Exam) endedEarly(f patra.Finding, last ExamAnswer) patra.Finding {
	known := idSet(e.list())
	behind := 0
	for _, a := range []*ExamAnswer{e.one(roleBeyond), e.whole()} {
		if a == nil || a.Fault != nil {
			continue
		}
		for _, r := range a.Rows {
			if !known[r.ID] {
				behind++
			}
		}
	}
	total := e.Spec.Response.Total.Trust == patra.TrustExact && last.Total != nil && *last.Total > int64(len(known))
	f.Evidence = fmt.Sprintf("the list ended with %s after %d records", last.End, len(known))
	switch {
	case behind > 0 && last.End != patra.EndEmptyPage && last.End != patra.EndEmptyCode:
		f.Found = fmt.Sprintf("%d records lie behind that end", behind)
		return e.against(f, "pagination.end", "leave out "+last.End+", and write EMPTY_PAGE")
	case behind > 0 || total:
		return undecided(f.Question, f.Claim, f.Evidence+", and there are more")
	}
	f.Found, f.Verdict = last.End, patra.FindingAgrees
	return f
}

// Order says whether the list is in the order that the file says, each time.
func (e *Exam) Order() patra.Finding {
	said := e.orderSaid()
	f := patra.Finding{Question: patra.AskOrder, Claim: fmt.Sprintf("pagination.order: %s, window.order: %s", cmp.Or(e.Spec.Pagination.Order, "not said"), cmp.Or(e.Spec.Window.Order, "not said"))}
	times, changed, sure := e.steady()
	if sure {
		f.Found, f.Evidence = "ties or more come in another order from answer to answer", fmt.Sprintf("the same page was asked for %d times, and %d answers differ", times, changed)
		if said == orderAscending || said == orderFixed || said == orderDescending {
			return e.against(f, "pagination.order", "write order: "+orderUnstable)
		}
		f.Verdict = patra.FindingFound
		return f
	}
	up, down, timed := e.sorted()
	f.Evidence = fmt.Sprintf("the same page came in the same order %d times of %d; %d times were compared", times-changed, times, timed)
	switch {
	case said == orderAscending && timed > 1 && !up && e.Spec.SortsByTime(), said == orderDescending && timed > 1 && !down:
		f.Found = "the list is not in the order of its times"
		return e.against(f, "pagination.order", "write order: "+map[bool]string{true: orderDescending, false: orderNone}[down && said != orderDescending])
	case e.Spec.Window.Order == orderAscending && timed > 1 && !up, e.Spec.Window.Order == orderDescending && timed > 1 && !down:
		f.Found = "the list is not in the order of its times"
		return e.against(f, "window.order", "write order: NONE")
	case times < 2 || changed > 0:
		return undecided(f.Question, f.Claim, f.Evidence)
	}
	f.Found, f.Verdict = "the same each time"+map[bool]string{true: ", by time", false: ""}[up && timed > 1], patra.FindingAgrees
	if said == "" {
		f.Verdict = patra.FindingFound
	}
	return f
}

// steady compares answers to the same request. sure: the list has no order that holds, as the same rows came in another one, or an
// earlier answer returned after another.
func (e *Exam) steady() (times, changed int, sure bool) {
	w := e.good()
	var pages [][]ExamRow
	if len(w) > 0 {
		pages = append(pages, w[0].Rows)
	}
	for _, a := range e.of(roleOrder) {
		if a.Fault == nil {
			pages = append(pages, a.Rows)
		}
	}
	for i, rows := range pages {
		if i > 0 && !sameRows(rows, pages[0]) {
			changed++
			sure = sure || shuffled(rows, pages[0])
		} else if changed > 0 {
			sure = true
		}
	}
	times = len(pages)
	if again := e.one(roleAgain); again != nil && again.Fault == nil && len(w) > 1 {
		if times++; shuffled(again.Rows, w[1].Rows) {
			changed, sure = changed+1, true
		}
	}
	return times, changed, sure
}

// shuffled reports whether rows are the same in another order.
func shuffled(a, b []ExamRow) bool {
	if len(a) != len(b) || sameRows(a, b) {
		return false
	}
	set := idSet(b)
	return !slices.ContainsFunc(a, func(r ExamRow) bool { return !set[r.ID] })
}

// sorted reports whether the rows of the walk are in the order of their times, one way or the other.
func (e *Exam) sorted() (up, down bool, timed int) {
	up, down = true, true
	var last *patra.Instant
	rows := e.list()
	if !e.timed() {
		return up, down, 0
	}
	for _, r := range rows {
		if r.At == nil {
			continue
		}
		at := e.Spec.Window.Precision.Floor(*r.At)
		if timed++; last != nil {
			up, down = up && at >= *last, down && at <= *last
		}
		last = &at
	}
	return up, down, timed
}

// Position says what a position is: an index, a key or a place in a frozen list.
func (e *Exam) Position() patra.Finding {
	p := e.Spec.Pagination
	f := patra.Finding{Question: patra.AskPosition, Claim: fmt.Sprintf("pagination.type: %s, stability: %s", p.Type, cmp.Or(p.Stability, "not said"))}
	w := e.good()
	if len(w) < 2 || len(w[1].Rows) == 0 {
		return undecided(f.Question, f.Claim, "there was no second page")
	}
	if sameRows(w[0].Rows, w[1].Rows) {
		f.Found, f.Evidence = "the position is not heeded", "the second page is the first"
		return e.against(f, "pagination.positionParam", "write the parameter that the provider takes the position by")
	}
	if lost := e.lostAtBorders(); lost > 0 {
		f.Found, f.Evidence = "records between two pages are skipped", fmt.Sprintf("%d records of one large page are on no small one before the last", lost)
		if p.Stability == stabilityKeyset {
			return e.against(f, "pagination.key", "the key has ties: leave it out, and write stability: SHIFTING")
		}
		return undecided(f.Question, f.Claim, f.Found+": "+f.Evidence)
	}
	if e.counted() {
		return e.place(f)
	}
	if p.Type == pageTime {
		f.Found, f.Verdict, f.Evidence = "a time", patra.FindingAgrees, fmt.Sprintf("the second page begins at %s", w[1].Position)
		return f
	}
	return e.hidden(f)
}

// lostAtBorders is how many records one large answer has that the small pages, as far as they came, do not have.
func (e *Exam) lostAtBorders() (lost int) {
	look := e.whole()
	if look == nil || !e.sized() {
		return 0
	}
	known, reach := idSet(e.list()), -1
	for i, r := range look.Rows {
		if known[r.ID] {
			reach = i
		}
	}
	for _, r := range look.Rows[:reach+1] {
		if !known[r.ID] {
			lost++
		}
	}
	return lost
}

// place judges positions that we may write ourselves: a page that begins with a row of the page before must begin with that row.
func (e *Exam) place(f patra.Finding) patra.Finding {
	a := e.one(roleOverlap)
	if a == nil || a.Fault != nil {
		f.Evidence = "pages of another size cannot be asked for"
		if !e.sized() && e.Spec.Pagination.Type == pagePage {
			f.Found, f.Verdict = "a page number", patra.FindingAgrees
			return f
		}
		if a != nil || e.sized() {
			return undecided(f.Question, f.Claim, "no overlapping page came")
		}
		f.Found, f.Verdict = "a place", patra.FindingAgrees
		return f
	}
	at, _ := (&Spec{Pagination: sizedAs(e.Spec.Pagination, a.Size)}).Place(a.Position)
	rows := e.list()
	if at < 0 || at >= int64(len(rows)) || len(a.Rows) == 0 {
		return undecided(f.Question, f.Claim, "no overlapping page came")
	}
	f.Evidence = fmt.Sprintf("a page from place %d begins with %s, which was read at that place", at, a.Rows[0].ID)
	if a.Rows[0].ID == rows[at].ID {
		f.Found, f.Verdict = "an index, and pages can be made to overlap", patra.FindingAgrees
		return f
	}
	f.Found = "pages cannot be made to overlap"
	f.Evidence = fmt.Sprintf("a page from place %d begins with %s, and %s was read there", at, a.Rows[0].ID, rows[at].ID)
	if e.Spec.Pagination.Type == pagePage {
		return e.against(f, "pagination.sizeParam", "leave out sizeParam and the sizes: the provider has its own")
	}
	return e.against(f, "pagination.type", "write type: PAGE, if positions are page numbers")
}

func sizedAs(p Pagination, size int) Pagination {
	if size > 0 {
		p.PageSize = size
	}
	return p
}

// hidden judges what a token or a link hides.
func (e *Exam) hidden(f patra.Finding) patra.Finding {
	found, evidence := e.forced()
	if found == "" {
		found, evidence = e.read()
	}
	claimed := e.Spec.Pagination.Stability
	if again := e.one(roleAgain); again != nil && e.repeated(e.good()[1], again) == stateful {
		found, evidence = stabilitySnapshot, "each request goes on behind the one before"
	}
	f.Found, f.Evidence = found, evidence
	switch {
	case found == "":
		return undecided(f.Question, f.Claim, cmp.Or(evidence, "the position tells nothing that could be read"))
	case claimed == found:
		f.Verdict = patra.FindingAgrees
	case claimed == "", claimed == stabilityShifting:
		f.Verdict = patra.FindingFound
	case claimed == stabilityKeyset && found == stabilitySnapshot, claimed == stabilitySnapshot, claimed == stabilityKeyset:
		return e.against(f, "pagination.stability", "write stability: "+found)
	}
	return f
}

// forced is what the second page says when rows of the first have fallen out of the window: an index moves by them, a key does not.
func (e *Exam) forced() (found, evidence string) {
	raised, lowered := e.one(roleRaised), e.one(roleLowered)
	if raised == nil || lowered == nil || raised.Fault != nil || lowered.Fault != nil || len(raised.Rows) == 0 {
		return "", ""
	}
	if strays, _ := strays(lowered.Rows, e.within(lowered.Window)); strays > 0 || sameRows(lowered.Rows, e.good()[1].Rows) {
		return "", "the position carries its own question, so that a narrower window changes nothing"
	}
	first := len(e.good()[0].Rows)
	fallen := 0
	var left []ExamRow // the list in the narrower window
	behind := -1       // the first of them behind the first page
	for i, r := range e.list() {
		if r.At == nil || *r.At < raised.Window.From {
			if i < first {
				fallen++
			}
			continue
		}
		if i >= first && behind < 0 {
			behind = len(left)
		}
		left = append(left, r)
	}
	evidence = fmt.Sprintf("with %d records of the first page out of the window, the second begins with %s", fallen, raised.Rows[0].ID)
	switch begins := raised.Rows[0].ID; {
	case fallen == 0 || behind < 0 || behind == first:
		return "", ""
	case left[behind].ID == begins:
		return stabilityKeyset, evidence
	case first < len(left) && left[first].ID == begins:
		return stabilityShifting, evidence
	}
	return "", evidence
}

var (
	digits  = regexp.MustCompile(`\d+`)
	moments = regexp.MustCompile(`\d{4}-\d{2}-\d{2}([T ][\d:.]+Z?)?`) // whose numbers grow for another reason
	packed  = regexp.MustCompile(`[A-Za-z0-9+/_-]{8,}={0,2}`)
)

// read looks into positions: for the id of the last row of the page before, or for a number that grows by the rows or the pages.
func (e *Exam) read() (found, evidence string) {
	w := e.good()
	var tokens [][]string
	var counts []int
	read := 0
	keys := 0
	for _, a := range w {
		if !a.HasNext || a.Next == "" || len(a.Rows) == 0 {
			break
		}
		read += len(a.Rows)
		forms := decoded(a.Next)
		tokens, counts = append(tokens, forms), append(counts, read)
		if holdsID(forms, a.Rows[len(a.Rows)-1].ID) {
			keys++
		}
	}
	if len(tokens) < 2 {
		return "", "fewer than two positions were given"
	}
	if keys == len(tokens) {
		if up, _, timed := e.sorted(); up && timed > 1 || e.byID() {
			return stabilityKeyset, fmt.Sprintf("%d positions hold the id of the last record of their page, and the list is sorted", keys)
		}
		return "", "positions hold the id of the last record, and the list is in no order that was recognised"
	}
	if keys == 0 && growsBy(tokens, counts) {
		return stabilityShifting, fmt.Sprintf("positions differ in one number only, which grows by the rows or the pages: %s", short(w[len(tokens)-1].Next))
	}
	return "", "the position tells nothing that could be read: " + short(w[0].Next)
}

// short is the end of a position, where what changes mostly stands.
func short(s string) string {
	const most = 80
	if len(s) > most {
		return "…" + strings.ToValidUTF8(s[len(s)-most:], "")
	}
	return s
}

// byID reports whether the walk is sorted by the ids of its records, as numbers or as texts.
func (e *Exam) byID() bool {
	return slices.IsSortedFunc(e.list(), func(a, b ExamRow) int {
		return cmp.Or(cmp.Compare(len(a.ID), len(b.ID)), cmp.Compare(a.ID, b.ID))
	}) || slices.IsSortedFunc(e.list(), func(a, b ExamRow) int { return cmp.Compare(a.ID, b.ID) })
}

// decoded are the forms in which a position can be read.
func decoded(token string) []string {
	forms := []string{token}
	if text, err := url.QueryUnescape(token); err == nil && text != token {
		forms = append(forms, text)
	}
	for _, part := range packed.FindAllString(forms[len(forms)-1], -1) {
		for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
			if b, err := enc.DecodeString(part); err == nil && printable(b) {
				forms = append(forms, string(b))
				break
			}
		}
	}
	return forms
}

func printable(b []byte) bool {
	return !slices.ContainsFunc(b, func(c byte) bool { return c < ' ' || c > '~' })
}

// holdsID reports whether one of the forms names a record: by its whole id, or by the last part of one that has parts.
func holdsID(forms []string, id string) bool {
	tail := id[strings.LastIndexAny(id, ":/")+1:]
	for _, form := range forms {
		if len(id) > 3 && strings.Contains(form, id) {
			return true
		}
		if len(tail) > 3 && slices.ContainsFunc(strings.FieldsFunc(form, func(r rune) bool { return strings.ContainsRune(`/,;:|&=+"[]{} !`, r) }), func(part string) bool { return part == tail }) {
			return true
		}
	}
	return false
}

// growsBy reports whether positions differ in one number only, and that is how many rows were read, or pages.
func growsBy(tokens [][]string, counts []int) bool {
	for form := range tokens[0] {
		var texts []string
		for _, t := range tokens {
			if form < len(t) {
				texts = append(texts, moments.ReplaceAllStringFunc(t[form], lettered))
			}
		}
		for field := range digits.FindAllStringIndex(texts[0], -1) {
			if len(texts) == len(tokens) && grows(texts, counts, field) {
				return true
			}
		}
	}
	return false
}

// lettered writes digits as letters, so that those of a time are no numbers.
func lettered(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return r - '0' + 'a'
		}
		return r
	}, s)
}

func grows(texts []string, counts []int, field int) bool {
	byRows, byPages := [2]bool{true, true}, [2]bool{true, true}
	rest := ""
	for i, text := range texts {
		at := digits.FindAllStringIndex(text, -1)
		if field >= len(at) {
			return false
		}
		from, to := at[field][0], at[field][1]
		n, err := strconv.Atoi(text[from:to])
		if other := text[:from] + "#" + text[to:]; err != nil || i > 0 && other != rest {
			return false
		} else if rest == "" {
			rest = other
		}
		for start := range 2 {
			byRows[start] = byRows[start] && n == counts[i]+start
			byPages[start] = byPages[start] && n == i+1+start
		}
	}
	return byRows[0] || byRows[1] || byPages[0] || byPages[1]
}
