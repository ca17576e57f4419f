package sim

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

const datacitePath = "/dois"

// datacite answers as the DataCite REST API does: JSON:API pages that say where the next one is. It remembers nothing.
type datacite struct {
	limit *gate
}

func (d *datacite) gate(*call) *gate { return d.limit }

func (d *datacite) refuse(*call) answer {
	a := dataciteFailed(http.StatusTooManyRequests, "Too many requests.")
	a.header.Set("Retry-After", "1")
	return a
}

func (d *datacite) fail(*call) answer {
	return edge(http.StatusServiceUnavailable, "503 Service Temporarily Unavailable")
}

func (d *datacite) answer(c *call) answer {
	doi, single := strings.CutPrefix(c.URL.Path, datacitePath+"/")
	switch {
	case c.Method != http.MethodGet:
		return onlyGet()
	case single && doi != "":
		return d.doi(c, doi)
	}
	q, err := parseDatacite(c.form)
	if err != nil {
		return dataciteFailed(http.StatusBadRequest, err.Error())
	}
	return q.page(c.world, c)
}

func (d *datacite) doi(c *call, doi string) answer {
	p, ok := c.world.find(doi)
	if !ok {
		return dataciteFailed(http.StatusNotFound, "The resource you are looking for doesn't exist.")
	}
	sk, _ := c.world.decode(p.DOI[len(p.DOI)-codeLength:])
	j := &jsonText{escape: htmlEscapes}
	j.raw(`{"data":`)
	writeDatacite(j, &subject{world: c.world, sketch: sk})
	j.close('}')
	a := newAnswer(http.StatusOK, "application/json; charset=utf-8", j.b)
	a.items = 1
	return a
}

func dataciteFailed(status int, title string) answer {
	j := &jsonText{escape: htmlEscapes}
	j.raw(`{"errors":[{`)
	j.pair("status", itoa(status))
	j.pair("title", title)
	j.b = append(j.b, "}]}"...)
	return newAnswer(status, "application/json; charset=utf-8", j.b)
}

// dataciteQuery is a list request after validation.
type dataciteQuery struct {
	form     url.Values
	want     condition
	order    order
	size     int
	number   int    // of the page, from 1; without meaning if there is a cursor
	cursor   string // as it was sent
	byCursor bool
}

var dataciteParams = []string{
	"query", "page[size]", "page[number]", "page[cursor]", "sort", "resource-type-id", "exclude_registration_agencies",
	"affiliation", "disable-facets", "mailto",
}

// The search engine behind the API reaches this far by page number. Beyond it the last page comes again, and again.
const dataciteReach = 10_000

func parseDatacite(form url.Values) (*dataciteQuery, error) {
	q := &dataciteQuery{form: form, want: everything{}, size: 25, number: 1, cursor: form.Get("page[cursor]"), byCursor: form.Has("page[cursor]")}
	for name := range form {
		if !slices.Contains(dataciteParams, name) {
			return nil, fmt.Errorf("parameter %s is not supported", name)
		}
	}
	if form.Has("page[size]") {
		n, err := strconv.Atoi(form.Get("page[size]"))
		if err != nil {
			return nil, fmt.Errorf("page[size] is %q", form.Get("page[size]"))
		}
		q.size = min(max(n, 0), 1000)
	}
	if n, err := strconv.Atoi(form.Get("page[number]")); err == nil {
		q.number = min(max(n, 1), max(dataciteReach/max(q.size, 1), 1))
	}
	var ok bool
	if q.order, ok = map[string]order{"": descending, "-updated": descending, "updated": ascending}[form.Get("sort")]; !ok {
		return nil, fmt.Errorf("sort %s is not supported", form.Get("sort"))
	}
	if q.byCursor {
		q.order = unordered // whatever was asked for
	}
	return q, q.readWant()
}

func (q *dataciteQuery) readWant() error {
	if text := q.form.Get("query"); strings.TrimSpace(text) != "" {
		var err error
		if q.want, err = parseLucene(text, dataciteClause); err != nil {
			return err
		}
	}
	if kind := q.form.Get("resource-type-id"); kind != "" {
		q.want = both{q.want, test(func(s *subject) bool { return strings.EqualFold(resourceType(s), kind) })}
	}
	if q.form.Get("exclude_registration_agencies") == "true" {
		q.want = both{q.want, test(func(s *subject) bool { return !foreign(s) })}
	}
	return nil
}

var dataciteDates = map[string]*dateField{"updated": byChanged, "created": byCreated, "registered": byCreated}

func dataciteClause(c clause) (condition, error) {
	if by := dataciteDates[c.field]; by != nil {
		if c.bounds == nil {
			c.bounds = &bounds{from: c.text, to: c.text}
		}
		return c.bounds.dated(by, time.RFC3339, time.DateOnly)
	}
	if c.bounds != nil {
		return nil, fmt.Errorf("field %s has no range", c.field)
	}
	switch c.field {
	case "":
		return mentions(c.text, inTitle, inAbstract, inAuthors), nil
	case "titles.title":
		return mentions(c.text, inTitle), nil
	case "descriptions.description":
		return mentions(c.text, inAbstract), nil
	case "doi":
		return test(func(s *subject) bool { return strings.EqualFold(s.paper().DOI, c.text) }), nil
	}
	return nil, fmt.Errorf("field %s is not supported", c.field)
}

// resume takes a walk to the place of a cursor. A cursor that cannot be read is the beginning, as at the real one.
func (q *dataciteQuery) resume(k *walk) {
	if !q.byCursor {
		k.skip((q.number - 1) * q.size)
		return
	}
	text, err := base64.RawURLEncoding.DecodeString(q.cursor)
	day, n, ok := strings.Cut(string(text), ",")
	d, err1 := strconv.Atoi(day)
	i, err2 := strconv.Atoi(n)
	if ok && err == nil && err1 == nil && err2 == nil && d >= 0 && i >= 0 {
		k.resume(d, i)
	}
}

// next is the address of the page after this one. It is made of some of the parameters: the agencies that were to be
// left out are back, and so is the default order.
func (q *dataciteQuery) next(c *call, k *walk) string {
	form := url.Values{"page[size]": {itoa(q.size)}}
	for _, name := range []string{"query", "resource-type-id", "affiliation", "disable-facets", "mailto"} {
		if q.form.Has(name) {
			form.Set(name, q.form.Get(name))
		}
	}
	if q.byCursor {
		form.Set("page[cursor]", base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%d,%d", k.day, k.n)))
	} else {
		form.Set("page[number]", itoa(q.number+1))
	}
	return c.address(datacitePath) + "?" + form.Encode()
}
