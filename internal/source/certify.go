package source

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"patra"
	"patra/internal/query"
	"patra/internal/strictyaml"
)

// Why a request of a certification is sent.
const (
	roleLook    = "LOOK"    // a window with records enough, and not too many
	roleWalk    = "WALK"    // the pages of that window, small ones where the size can be chosen
	roleAgain   = "AGAIN"   // the second page once more
	roleOverlap = "OVERLAP" // a page that begins with a row of the first
	roleUnit    = "UNIT"    // the unit of time that a record lies in
	roleLeft    = "LEFT"    // the halves of the window
	roleRight   = "RIGHT"
	roleWhole   = "WHOLE"   // the window once more, where the halves do not add up
	roleBeyond  = "BEYOND"  // what lies behind the last page
	roleRaised  = "RAISED"  // the second page, with a window from which records of the first have fallen out
	roleLowered = "LOWERED" // and with one from which records of the second have
	roleOrder   = "ORDER"   // the first page once more
)

// MaxExamRequests is how many requests a certification sends at most, in each of its forms.
var MaxExamRequests = map[string]int{patra.CertificateFull: 25, patra.CertificateShort: 6}

const (
	shortPageSize = 10 // rows of a page of a short form
	enoughRows    = 6  // a window with fewer records tells little
	mostOrders    = 7
	mostLooks     = 5
)

// ExamAsk is the next request of a certification.
type ExamAsk struct {
	Role     string       `json:"role"`
	Window   patra.Window `json:"window"`
	Position string       `json:"position,omitempty"`
	Size     int          `json:"size,omitempty"`    // of the page; 0 is that of the file
	Witness  string       `json:"witness,omitempty"` // the record that is looked for
	Forced   bool         `json:"forced,omitempty"`  // the window is written over the one that a link has
}

// ExamAnswer is what came of it.
type ExamAnswer struct {
	ExamAsk
	Rows    []ExamRow    `json:"rows,omitempty"`
	Total   *int64       `json:"total,omitempty"`
	Next    string       `json:"next,omitempty"`
	HasNext bool         `json:"has_next,omitempty"`
	End     string       `json:"end,omitempty"`
	Fault   *patra.Fault `json:"fault,omitempty"`
}

// all reports whether one answer holds all there is: it says so, or it has as many rows as its total.
func (a ExamAnswer) all() bool {
	return a.Fault == nil && (!a.HasNext || a.Total != nil && *a.Total == int64(len(a.Rows)))
}

// ExamRow is one row of an answer.
type ExamRow struct {
	ID string         `json:"id"`
	At *patra.Instant `json:"at,omitempty"`
}

// Exam is a certification under way: the answers until now decide what is asked next, and what is found at the end.
type Exam struct {
	Spec    *Spec
	Form    string
	Windows []patra.Window // to look at, the most likely first
	Answers []ExamAnswer
	Sent    int // requests, those that had to be sent again among them
}

// NewExam begins a certification. Without a window of the user it looks at quiet days that are over for a week.
func NewExam(spec *Spec, form string, now patra.Instant, from, to *patra.Instant) *Exam {
	e := &Exam{Spec: spec, Form: form}
	step := spec.Window.Size
	if step.IsZero() {
		step = patra.Period{Days: 1}
	}
	grain := spec.Window.Precision
	start := step.Floor(now - 7*patra.Day)
	if from != nil {
		start = *from
	} else if form == patra.CertificateFull {
		start = step.Before(start)
	}
	start = grain.Floor(start)
	first := patra.Window{From: start, To: grain.Ceil(step.After(start))}
	if form == patra.CertificateFull { // two units at least, to see how one ends
		first.To = max(first.To, grain.Next(grain.Next(start)))
	}
	if to != nil && *to > start && (form == patra.CertificateFull || *to < first.To) {
		first.To = grain.Ceil(*to)
	}
	e.Windows = []patra.Window{first}
	for _, times := range []patra.Instant{8, 64} {
		length := (first.To - first.From) * times
		if to == nil && from == nil && form == patra.CertificateFull {
			e.Windows = append(e.Windows, patra.Window{From: grain.Floor(first.To - length), To: first.To})
		}
	}
	return e
}

// of are the answers to requests of a role.
func (e *Exam) of(role string) (all []ExamAnswer) {
	for _, a := range e.Answers {
		if a.Role == role {
			all = append(all, a)
		}
	}
	return all
}

// one is the last answer to a request of a role; nil if there is none.
func (e *Exam) one(role string) *ExamAnswer {
	all := e.of(role)
	if len(all) == 0 {
		return nil
	}
	return &all[len(all)-1]
}

// sized reports whether the size of a page can be chosen.
func (e *Exam) sized() bool {
	return e.Spec.Pagination.SizeParam != "" && e.Spec.Pagination.PageSize > 2
}

// counted reports whether positions are places or page numbers that we may write.
func (e *Exam) counted() bool {
	t := e.Spec.Pagination.Type
	return t == pageOffset || t == pagePage
}

// timed reports whether records tell the time that the filter goes by.
func (e *Exam) timed() bool {
	s := e.Spec
	return s.Window.filters() && !s.Window.OtherDate && len(s.Response.UpdatedAt) > 0 && s.Second == nil
}

// whole is the answer that shows the window at the page size of the file; nil where only small pages were asked for.
func (e *Exam) whole() *ExamAnswer { return e.one(roleLook) }

// walk are the pages of the window in their order.
func (e *Exam) walk() []ExamAnswer {
	pages := e.of(roleWalk)
	if look := e.whole(); look != nil && !e.sized() {
		return append([]ExamAnswer{*look}, pages...)
	}
	return pages
}

// good are the pages of the walk that were answered.
func (e *Exam) good() []ExamAnswer {
	return slices.DeleteFunc(e.walk(), func(a ExamAnswer) bool { return a.Fault != nil })
}

// orderSaid is the order that the file claims for a question without words, as ours is.
func (e *Exam) orderSaid() string {
	if e.Spec.Pagination.Order == orderRelevance {
		return orderFixed
	}
	return e.Spec.Pagination.Order
}

// list are the rows of the walk, one behind the other.
func (e *Exam) list() (rows []ExamRow) {
	for _, a := range e.good() {
		rows = append(rows, a.Rows...)
	}
	return rows
}

// ended reports whether the walk came to the end that the provider told.
func (e *Exam) ended() bool {
	w := e.walk()
	return len(w) > 0 && w[len(w)-1].Fault == nil && !w[len(w)-1].HasNext
}

// window is the one that is looked at.
func (e *Exam) window() patra.Window {
	if a := e.whole(); a != nil {
		return a.Window
	}
	return e.Windows[0]
}

// Next is the next request; false: nothing more is asked.
func (e *Exam) Next() (ExamAsk, bool) {
	if e.Sent >= MaxExamRequests[e.Form] {
		return ExamAsk{}, false
	}
	steps := []func() (ExamAsk, bool){e.look, e.page, e.again, e.overlap}
	if e.Form == patra.CertificateFull {
		steps = append(steps, e.unit, e.halves, e.wholeAgain, e.beyond, e.raised, e.lowered, e.order)
	}
	for _, step := range steps {
		if ask, more := step(); more {
			return ask, true
		}
	}
	return ExamAsk{}, false
}

// Add takes the answer to the last request.
func (e *Exam) Add(a ExamAnswer) { e.Answers = append(e.Answers, a) }

// Tells reports whether a fault is an answer: that the way on is not as the file says.
func (e *Exam) Tells(f *patra.Fault) bool {
	return f.Code == patra.CodeLoop || f.Code == patra.CodeSchema && e.Spec.Pagination.Next != "" && f.Path == e.Spec.Pagination.Next
}

// look searches a window that tells something.
func (e *Exam) look() (ExamAsk, bool) {
	looks := e.of(roleLook)
	if e.Form == patra.CertificateShort && e.sized() || len(looks) >= mostLooks || e.one(roleWalk) != nil {
		return ExamAsk{}, false
	}
	ask := ExamAsk{Role: roleLook, Window: e.Windows[0], Position: e.Spec.First()}
	if len(looks) == 0 {
		return ask, true
	}
	last := looks[len(looks)-1]
	few := len(last.Rows) < enoughRows || !e.sized() && !last.HasNext
	wider := slices.Index(e.Windows, last.Window) + 1
	switch {
	case last.Fault != nil || e.Form == patra.CertificateShort:
	case few && wider > 0 && wider < len(e.Windows):
		ask.Window = e.Windows[wider]
		return ask, true
	case !few && e.sized() && !last.all() && len(last.Rows) >= e.Spec.Pagination.PageSize:
		ask.Window = e.narrower(last)
		return ask, ask.Window != last.Window
	}
	return ExamAsk{}, false
}

// narrower is a part of a window that may fit one answer; the same window where it cannot be cut.
func (e *Exam) narrower(last ExamAnswer) patra.Window {
	w, grain := last.Window, e.Spec.Window.Precision
	share := patra.Instant(4)
	if last.Total != nil && *last.Total > 0 {
		share = patra.Instant(2**last.Total/int64(len(last.Rows))) + 1
	}
	if min := e.Spec.Window.MinStep; !min.IsZero() && min.After(w.From) >= w.To {
		return w
	}
	to := grain.Floor(w.From + (w.To-w.From)/max(share, 2))
	if to = max(to, grain.Next(grain.Next(w.From))); to >= w.To {
		return w
	}
	return patra.Window{From: w.From, To: to}
}

// size is that of the pages of the walk; 0 is that of the file.
func (e *Exam) size() int {
	most := e.Spec.Pagination.PageSize
	if !e.sized() {
		return 0
	}
	if e.Form == patra.CertificateShort {
		return min(shortPageSize, most)
	}
	look := e.whole()
	n := len(look.Rows)
	if !look.all() && look.Total != nil && *look.Total <= int64(5*most) {
		n = int(*look.Total)
	}
	size := max(2, min((n+2)/3|1, most)) // an odd one, as ties come in pairs mostly
	for s := size; s <= min(n/2, most) && e.timed(); s++ {
		if a, b := look.Rows[min(s, len(look.Rows)-1)].At, look.Rows[min(s, len(look.Rows))-1].At; a != nil && b != nil && *a == *b && s < len(look.Rows) {
			return s // the border of the first page lies inside of a tie
		}
	}
	return size
}

// page goes on with the walk.
func (e *Exam) page() (ExamAsk, bool) {
	pages := e.walk()
	if len(pages) == 0 {
		look := e.whole()
		if look != nil && (look.Fault != nil || len(look.Rows) < 2) {
			return ExamAsk{}, false
		}
		return ExamAsk{Role: roleWalk, Window: e.window(), Position: e.Spec.First(), Size: e.size()}, true
	}
	last, most := pages[len(pages)-1], 3
	if e.Form == patra.CertificateFull {
		most = 6
	}
	if last.Fault != nil || !last.HasNext || len(pages) >= most || len(pages) > 1 && len(last.Rows) > 0 && e.repeats(pages) {
		return ExamAsk{}, false
	}
	return ExamAsk{Role: roleWalk, Window: e.window(), Position: last.Next, Size: e.size()}, true
}

// repeats reports whether the last page of a walk holds only what was read before.
func (e *Exam) repeats(pages []ExamAnswer) bool {
	known := map[string]bool{}
	for _, a := range pages[:len(pages)-1] {
		for _, r := range a.Rows {
			known[r.ID] = true
		}
	}
	return !slices.ContainsFunc(pages[len(pages)-1].Rows, func(r ExamRow) bool { return !known[r.ID] })
}

// again asks for the second page once more, when the walk is over: a provider that counts requests goes on behind it.
func (e *Exam) again() (ExamAsk, bool) {
	w := e.good()
	if len(w) < 2 || len(w[1].Rows) == 0 || e.one(roleAgain) != nil {
		return ExamAsk{}, false
	}
	return ExamAsk{Role: roleAgain, Window: e.window(), Position: w[1].Position, Size: e.size()}, true
}

// overlap asks for a page that begins with a row of the first.
func (e *Exam) overlap() (ExamAsk, bool) {
	w := e.good()
	if !e.counted() || !e.sized() || len(w) < 2 || len(w[0].Rows) < 3 || len(w[1].Rows) == 0 || e.one(roleOverlap) != nil {
		return ExamAsk{}, false
	}
	ask := ExamAsk{Role: roleOverlap, Window: e.window(), Size: e.size()}
	at := int64(len(w[0].Rows) - 1)
	if ask.Position = e.Spec.PositionAt(at); e.Spec.Pagination.Type == pagePage {
		ask.Position = e.Spec.PageNumber(patra.PageAcross(at, int64(len(w[0].Rows))))
	}
	return ask, true
}

// unit asks for the unit of time that a record lies in, as a window of its own.
func (e *Exam) unit() (ExamAsk, bool) {
	row, ok := e.witness()
	if !ok || e.one(roleUnit) != nil {
		return ExamAsk{}, false
	}
	grain := e.Spec.Window.Precision
	from := grain.Floor(*row.At)
	return ExamAsk{Role: roleUnit, Window: patra.Window{From: from, To: grain.Next(from)}, Position: e.Spec.First(), Witness: row.ID}, true
}

// witness is a record of the window that lies behind the beginning of its unit. One that is dated by the day tells nothing about
// finer units.
func (e *Exam) witness() (best ExamRow, found bool) {
	look, grain := e.whole(), e.Spec.Window.Precision
	if !e.timed() || look == nil {
		return best, false
	}
	for _, r := range look.Rows {
		if r.At == nil || !look.Window.Contains(*r.At) || grain != patra.UnitDay && grain != patra.UnitMonth && patra.UnitDay.Floor(*r.At) == *r.At {
			continue
		}
		if !found || grain.Floor(*best.At) == *best.At && grain.Floor(*r.At) != *r.At {
			best, found = r, true
		}
	}
	return best, found
}

// halves asks for the two parts of the window.
func (e *Exam) halves() (ExamAsk, bool) {
	look := e.whole()
	if look == nil || !e.Spec.Window.filters() || len(look.Rows) == 0 {
		return ExamAsk{}, false
	}
	w := look.Window
	middle := e.Spec.Window.Precision.Floor(w.From + (w.To-w.From)/2)
	if at := patra.UnitDay.Floor(middle); at > w.From {
		middle = at
	}
	if middle <= w.From || middle >= w.To {
		return ExamAsk{}, false
	}
	if e.one(roleLeft) == nil {
		return ExamAsk{Role: roleLeft, Window: patra.Window{From: w.From, To: middle}, Position: e.Spec.First()}, true
	}
	return ExamAsk{Role: roleRight, Window: patra.Window{From: middle, To: w.To}, Position: e.Spec.First()}, e.one(roleRight) == nil
}

// wholeAgain asks for the window once more before it is said that its parts do not add up.
func (e *Exam) wholeAgain() (ExamAsk, bool) {
	if e.one(roleWhole) != nil || e.one(roleRight) == nil || e.Days().Verdict != patra.FindingContradicts {
		return ExamAsk{}, false
	}
	return ExamAsk{Role: roleWhole, Window: e.window(), Position: e.Spec.First()}, true
}

// beyond asks for the place behind the last page, where we can name it and the walk has not been there.
func (e *Exam) beyond() (ExamAsk, bool) {
	w := e.good()
	if !e.counted() || !e.ended() || len(w) == 0 || e.one(roleBeyond) != nil || len(w[len(w)-1].Rows) == 0 {
		return ExamAsk{}, false
	}
	last := w[len(w)-1]
	ask := ExamAsk{Role: roleBeyond, Window: e.window(), Size: e.size()}
	first, _, err := pageOf(e.Spec.First())
	at, _, err2 := pageOf(last.Position)
	if err != nil || err2 != nil {
		return ExamAsk{}, false
	}
	by := int64(1)
	if e.Spec.Pagination.Type == pageOffset {
		by = int64(len(last.Rows))
	}
	ask.Position = e.Spec.PositionAt(at - first + by)
	return ask, true
}

// raised asks for the second page with a window from which rows of the first have fallen out: what is an index moves by them.
func (e *Exam) raised() (ExamAsk, bool) {
	w := e.good()
	if !e.forceable() || e.one(roleRaised) != nil {
		return ExamAsk{}, false
	}
	grain, window := e.Spec.Window.Precision, e.window()
	var at []patra.Instant
	for _, r := range w[0].Rows {
		if r.At != nil && window.Contains(*r.At) {
			at = append(at, grain.Next(grain.Floor(*r.At)))
		}
	}
	slices.Sort(at)
	for _, from := range at {
		if from > window.From && from < window.To && countFrom(w[1].Rows, from) > 0 {
			return ExamAsk{Role: roleRaised, Window: patra.Window{From: from, To: window.To}, Position: w[1].Position, Size: e.size(), Forced: true}, true
		}
	}
	return ExamAsk{}, false
}

// lowered is its control: the second page must be cut by a window that ends in it, else the position carries its own question.
func (e *Exam) lowered() (ExamAsk, bool) {
	if e.one(roleRaised) == nil || e.one(roleLowered) != nil {
		return ExamAsk{}, false
	}
	grain, window := e.Spec.Window.Precision, e.window()
	var to patra.Instant
	for _, r := range e.good()[1].Rows {
		if r.At != nil && window.Contains(*r.At) {
			to = max(to, grain.Floor(*r.At))
		}
	}
	if to <= window.From {
		return ExamAsk{}, false
	}
	return ExamAsk{Role: roleLowered, Window: patra.Window{From: window.From, To: to}, Position: e.good()[1].Position, Size: e.size(), Forced: true}, true
}

// forceable reports whether the filter travels beside the position.
func (e *Exam) forceable() bool {
	p, w, again := e.Spec.Pagination, e.good(), e.one(roleAgain)
	return (p.Type == pageToken || p.Type == pageURL) && len(p.Token.Alone) == 0 && e.timed() && len(w) > 1 && len(w[0].Rows) > 1 &&
		again != nil && again.Fault == nil && sameRows(again.Rows, w[1].Rows)
}

func countFrom(rows []ExamRow, from patra.Instant) (n int) {
	for _, r := range rows {
		if r.At != nil && *r.At >= from {
			n++
		}
	}
	return n
}

// order asks for the first page again and again.
func (e *Exam) order() (ExamAsk, bool) {
	w, most := e.good(), mostOrders
	if e.Spec.Stateful() {
		most = 1 // each begins a walk that the provider has to remember
	}
	if len(w) == 0 || len(w[0].Rows) < 2 || len(e.of(roleOrder)) >= most {
		return ExamAsk{}, false
	}
	return ExamAsk{Role: roleOrder, Window: e.window(), Position: e.Spec.First(), Size: e.size()}, true
}

func sameRows(a, b []ExamRow) bool {
	return slices.EqualFunc(a, b, func(x, y ExamRow) bool { return x.ID == y.ID })
}

func idSet(rows []ExamRow) map[string]bool {
	set := map[string]bool{}
	for _, r := range rows {
		set[r.ID] = true
	}
	return set
}

// LineOf is the line of a source file in which a setting stands, or where it belongs.
func LineOf(name string, text []byte, path string) int {
	doc, err := strictyaml.Parse(name, text)
	if err != nil {
		return 0
	}
	line, _ := doc.At(path)
	return line
}

// learn takes what was found out about positions of which the file says nothing.
func (s *Spec) learn(found patra.FoundClaims) {
	if found.Stability == "" || s.Pagination.Stability != "" || s.Pagination.Type != pageToken && s.Pagination.Type != pageURL {
		return
	}
	s.Pagination.Stability = found.Stability
	s.Pagination.Key = cmp.Or(s.Pagination.Key, found.Key)
	s.Pagination.Order = cmp.Or(s.Pagination.Order, found.Order)
}

// proves is the witness of a spec whose claims rest on something else.
func (s *Spec) proves(basis string, found patra.FoundClaims) patra.WitnessPlan {
	other := *s
	other.Basis = cmp.Or(basis, s.basis(""))
	other.learn(found)
	return other.Witness(query.All())
}

// Certifying is how windows would be proved if the provider were examined and did what the file says.
func (s *Spec) Certifying() patra.WitnessPlan {
	return s.proves(patra.BasisCertified, patra.FoundClaims{})
}

// Scope is what a certificate of a spec holds for.
func (s *Spec) Scope(baseURL string) patra.CertificateScope {
	return patra.CertificateScope{Source: s.Source, Endpoint: s.Endpoint, Address: s.At(baseURL), Params: s.Parameters, ClaimsHash: s.Claims().Hash()}
}

// restsOn are the questions that a witness rests on.
func (s *Spec) restsOn(w patra.WitnessPlan) []patra.Question {
	all := []patra.Question{patra.AskEnd}
	if s.Window.filters() {
		all = append(all, patra.AskFilter)
		if !s.Discovers() {
			all = append(all, patra.AskUpper)
		}
	}
	if w.Trust == patra.TrustExact {
		all = append(all, patra.AskTotal)
	}
	switch w.Witness {
	case patra.WitnessSeam, patra.WitnessSizes, patra.WitnessKeyset, patra.WitnessTime:
		all = append(all, patra.AskOrder, patra.AskPosition)
	case patra.WitnessSnapshot:
		all = append(all, patra.AskRepeat, patra.AskPosition)
	case patra.WitnessMetAgain:
		if w.Index {
			all = append(all, patra.AskPosition)
		}
	}
	return slices.Sorted(slices.Values(all))
}

// Card is what a certification has found out. known are the cards that were made before for the same claims, newest first.
func (e *Exam) Card(scope patra.CertificateScope, known []patra.Certificate) patra.Certificate {
	c := patra.Certificate{CertificateScope: scope, Form: e.Form, Requests: e.Sent, Findings: e.Findings(), Found: e.found()}
	c.Rests = e.Spec.restsOn(e.Spec.proves(patra.BasisCertified, c.Found))
	c.Judge()
	c.Before = e.Spec.proves(patra.BasisOf(known))
	c.Witness = e.Spec.proves(patra.BasisOf(append([]patra.Certificate{c}, known...)))
	return c
}

// found are claims that the file does not make. That a position is a key is believed from the full form alone, as one scan is all
// that follows from it.
func (e *Exam) found() (found patra.FoundClaims) {
	f := e.Position()
	if f.Verdict != patra.FindingFound || e.Spec.Pagination.Stability != "" {
		return found
	}
	switch {
	case f.Found == stabilityShifting:
		found.Stability = stabilityShifting
	case f.Found == stabilitySnapshot && e.Form == patra.CertificateFull:
		found.Stability = stabilitySnapshot
	case f.Found == stabilityKeyset && e.Form == patra.CertificateFull:
		found = patra.FoundClaims{Stability: stabilityKeyset, Key: keyUnique, Order: orderFixed}
		if up, _, timed := e.sorted(); up && timed > 1 {
			found.Order = orderAscending
		}
	}
	return found
}

// ExamStep is a kind of request that a certification may send.
type ExamStep struct {
	Role      string           `json:"role"`
	Most      int              `json:"most"`
	Why       string           `json:"why"`
	Questions []patra.Question `json:"questions"`
}

// Steps are the kinds of requests that a certification of a spec may send; together they are at most MaxExamRequests.
func (e *Exam) Steps() []ExamStep {
	t := e.Spec.Pagination.Type
	steps := []ExamStep{
		{roleLook, mostLooks, "the first page of a window, until one has records enough and fits a page", []patra.Question{patra.AskFilter, patra.AskTotal}},
		{roleWalk, 6, "the pages of that window, small ones where the size can be chosen", []patra.Question{patra.AskTotal, patra.AskEnd, patra.AskOrder, patra.AskPosition}},
		{roleAgain, 1, "the second page once more", []patra.Question{patra.AskRepeat}},
	}
	if e.counted() && e.sized() {
		steps = append(steps, ExamStep{roleOverlap, 1, "a page that begins with the last row of the first", []patra.Question{patra.AskPosition}})
	}
	if e.timed() {
		steps = append(steps, ExamStep{roleUnit, 1, "the " + strings.ToLower(string(e.Spec.Window.Precision)) + " in which a record of the window lies", []patra.Question{patra.AskUpper, patra.AskPrecision}})
	}
	if e.Spec.Window.filters() {
		steps = append(steps, ExamStep{roleLeft, 3, "the halves of the window, and the window again where they do not add up", []patra.Question{patra.AskDays, patra.AskFilter}})
	}
	if e.counted() {
		steps = append(steps, ExamStep{roleBeyond, 1, "what lies behind the last page", []patra.Question{patra.AskEnd}})
	}
	if (t == pageToken || t == pageURL) && len(e.Spec.Pagination.Token.Alone) == 0 && e.timed() && !e.Spec.Stateful() {
		steps = append(steps, ExamStep{roleRaised, 2, "the second page with a shorter window", []patra.Question{patra.AskPosition}})
	}
	orders := mostOrders
	if e.Spec.Stateful() {
		orders = 1
	}
	return append(steps, ExamStep{roleOrder, orders, "the first page again", []patra.Question{patra.AskOrder}})
}

// BuildExam makes a request of a certification.
func (s *Spec) BuildExam(ask ExamAsk, baseURL string, vars Vars) (Call, error) {
	if ask.Size > 0 {
		sized := *s
		sized.Pagination.PageSize = ask.Size
		s = &sized
	}
	call, err := s.Build(query.All(), ask.Window, ask.Position, baseURL, vars)
	if err != nil || !ask.Forced || s.Pagination.Type != pageURL {
		return call, err
	}
	asked, err := s.Query.Render(s.Bind(query.All(), ask.Window))
	if err != nil {
		return call, err
	}
	u, err := url.Parse(call.URL)
	if err != nil {
		return call, fmt.Errorf("the link to the next page is not an address")
	}
	q := u.Query()
	maps.Copy(q, asked.Params)
	u.RawQuery = q.Encode()
	call.URL = u.String()
	return call, nil
}
