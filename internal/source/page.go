package source

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"patra"
)

// The kinds of paging.
const (
	pageOffset = "OFFSET"
	pagePage   = "PAGE"
	pageToken  = "TOKEN"
	pageURL    = "URL"
	pageTime   = "TIME"
)

// Page is what one answer contains.
type Page struct {
	Items   [][]byte
	Apart   []byte // all items one behind the other, where they are not what stands in the answer
	Next    string // position of the next page
	HasNext bool
	End     string // how the walk announced its end, when it did
	Total   *int64
	Repairs patra.Repairs // what had to be repaired to read it
	walked  *parsedPage
}

// onward decides whether the walk goes on, by the end rules of the source. A short page ends nothing by itself, and a
// total never does.
func (p *Program) onward(page *Page, around any, position string, fetch patra.Window) error {
	if p.Spec.Pagination.Type == "" { // records by id: one answer is all there is
		page.End = patra.EndItemsDone
		return nil
	}
	if len(page.Items) == 0 && p.ends(patra.EndEmptyPage) {
		page.End = patra.EndEmptyPage
		return nil
	}
	if len(page.Items) < p.Spec.Pagination.PageSize && p.ends(patra.EndShortPage) {
		page.End = patra.EndShortPage
		return nil
	}
	switch p.Spec.Pagination.Type {
	case pageOffset:
		return p.step(page, position, p.offsetStep(len(page.Items)))
	case pagePage:
		return p.byPage(page, around, position)
	case pageTime:
		return p.byTime(page, position, fetch)
	}
	return p.byToken(page, around, position)
}

func (p *Program) ends(code string) bool { return slices.Contains(p.Spec.Pagination.End, code) }

// offsetStep is how far the next offset lies behind this one. A page that is smaller than asked for moves it by what came, because
// providers cap the page size; a larger one moves it by what was asked for, because a surplus row need not be the next row of the
// list. A step that is too short reads a row twice, and one that is too long skips a row.
func (p *Program) offsetStep(received int) int {
	if size := p.Spec.Pagination.PageSize; size > 0 {
		return min(received, size)
	}
	return received
}

// step adds to a position that is a number: the step of an offset, or one page.
func (p *Program) step(page *Page, position string, by int) error {
	at, _, err := pageOf(position)
	if err != nil {
		return &patra.Fault{Level: patra.LevelFatal, Code: patra.CodeInternal, Text: "the position is no number"}
	}
	if by == 0 {
		return schemaFault(p.Spec.Response.Items, "the page is empty, and the source does not say that this is the end")
	}
	next := at + int64(by)
	if limit := p.Spec.Pagination.Cap; limit > 0 && next > limit {
		return &patra.Fault{Level: patra.LevelRequest, Code: patra.CodeDeepPaging, Text: fmt.Sprintf("the provider answers no position beyond %d, and there is more", limit)}
	}
	page.Next, page.HasNext = strconv.FormatInt(next, 10), true
	return nil
}

// byPage goes on with the next page number. Where the answer tells whether there is one, that it tells none ends the walk; a number
// that it gives counts, and anything else, such as a link, only means that the list goes on.
func (p *Program) byPage(page *Page, around any, position string) error {
	if p.next == nil {
		return p.step(page, position, 1)
	}
	if err := p.byToken(page, around, position); err != nil || !page.HasNext {
		return err
	}
	if _, err := strconv.ParseInt(page.Next, 10, 64); err == nil {
		return nil
	}
	return p.step(page, position, 1)
}

// PagePosition is the position of a page by its number, where pages differ in size.
func PagePosition(number, size int64) string {
	return strconv.FormatInt(number, 10) + "/" + strconv.FormatInt(size, 10)
}

// pageOf reads a position that is a number; size is 0 where all pages have the same.
func pageOf(position string) (number, size int64, err error) {
	at, of, sized := strings.Cut(position, "/")
	if number, err = strconv.ParseInt(at, 10, 64); err == nil && sized {
		size, err = strconv.ParseInt(of, 10, 64)
	}
	return number, size, err
}

// Place is where in the list the page at a position begins, counted from 0, and how many rows are asked for; -1 where positions are
// not counted.
func (s *Spec) Place(position string) (at, asked int64) {
	asked = int64(s.Pagination.PageSize)
	first, err := strconv.ParseInt(s.First(), 10, 64)
	if err != nil {
		return -1, asked
	}
	number, size, err := pageOf(position)
	switch {
	case err != nil:
		return -1, asked
	case s.Pagination.Type == pageOffset:
		return number - first, asked
	case s.Pagination.Type != pagePage:
		return -1, asked
	case size > 0:
		asked = size
	}
	if asked == 0 {
		return -1, 0
	}
	return (number - first) * asked, asked
}

// PositionAt is the position of the page that begins at a place of the list.
func (s *Spec) PositionAt(place int64) string {
	first, _ := strconv.ParseInt(s.First(), 10, 64)
	return strconv.FormatInt(first+place, 10)
}

// PageNumber is the position of a page by its number, counted from 1, and size.
func (s *Spec) PageNumber(number, size int64) string {
	first, _ := strconv.ParseInt(s.First(), 10, 64)
	return PagePosition(first+number-1, size)
}

// byToken follows what the provider says comes next.
func (p *Program) byToken(page *Page, around any, position string) error {
	found := p.next.find(around)
	if len(found) == 0 {
		return p.stop(page, patra.EndNoToken)
	}
	if found[0] == nil {
		return p.stop(page, patra.EndNullNext)
	}
	next, ok := textOf(found[0])
	if !ok {
		return schemaFault(p.next.text, "the next position is no text")
	}
	if next == "" { // an empty element is how some announce the end
		return p.stop(page, patra.EndNoToken)
	}
	next = p.Spec.withoutKey(next)
	page.Next = next
	if next == position {
		switch p.Spec.Pagination.Token.OnSame {
		case "END":
			page.End = patra.EndSameToken
			return nil
		case "CONTINUE":
		default:
			return &patra.Fault{Level: patra.LevelRetry, Code: patra.CodeLoop, Path: p.next.text, Text: "the provider gave the same position again"}
		}
	}
	page.HasNext = true
	return nil
}

// stop ends the walk if the source says that this is how it ends.
func (p *Program) stop(page *Page, how string) error {
	if !p.ends(how) {
		return schemaFault(p.next.text, "the answer has no next position, and the source does not say that this is the end")
	}
	page.End = how
	return nil
}

// byTime goes on from the time of the last item that lies in what was asked for: the fetch window from position on. An item outside
// of it would lead the walk past everything between. The boundary is read twice, which is harmless; a page that is full of one and
// the same time cannot be passed.
func (p *Program) byTime(page *Page, position string, fetch patra.Window) error {
	var last *patra.Instant
	outside := 0
	for i := range page.Items {
		o, err := p.itemAt(page, i, 0)
		switch {
		case err != nil || o.UpdatedAt == nil:
		case !askedFor(*o.UpdatedAt, position, fetch):
			outside++
		case last == nil || *o.UpdatedAt > *last:
			last = o.UpdatedAt
		}
	}
	if only := outside == len(page.Items); last == nil && only && position == p.Spec.First() && outside < p.Spec.Pagination.PageSize && p.ends(patra.EndEmptyPage) {
		page.End = patra.EndEmptyPage // there is nothing in the window
		return nil
	}
	if last == nil {
		return schemaFault("updatedAt", "no item of the page has a time in the window to go on from")
	}
	page.Next, page.HasNext = p.Spec.Window.Precision.Floor(*last).String(), true
	if page.Next != position {
		return nil
	}
	if len(page.Items) >= p.Spec.Pagination.PageSize {
		return &patra.Fault{Level: patra.LevelRequest, Code: patra.CodeDeepPaging, Text: "more records than a page holds have the same time"}
	}
	page.HasNext, page.End = false, patra.EndSameToken
	return nil
}

// askedFor reports whether a time lies in the fetch window from position on. The zero window has no bounds.
func askedFor(at patra.Instant, position string, fetch patra.Window) bool {
	if fetch != (patra.Window{}) && !fetch.Contains(at) {
		return false
	}
	from, err := patra.ParseInstant(position)
	return err != nil || at >= from
}

// number reads a count that may be written as a number or as text.
func number(values []any) *int64 {
	if len(values) == 0 {
		return nil
	}
	text, _ := textOf(values[0])
	n, err := json.Number(strings.TrimSpace(text)).Int64()
	if err != nil || n < 0 {
		return nil
	}
	return &n
}
