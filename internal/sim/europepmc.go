package sim

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// europePath is where the real provider has its services.
const europePath = "/europepmc/webservices/rest/"

// europePMC answers as the Europe PMC search service does. It remembers nothing: a cursor mark says where to go on,
// and the same mark gives the same page.
type europePMC struct {
	limit *gate
}

func (e *europePMC) gate(*call) *gate { return e.limit }

// refuse is the load balancer's word; the service itself publishes no limit.
func (e *europePMC) refuse(*call) answer {
	return edge(http.StatusTooManyRequests, "429 Too Many Requests")
}

func (e *europePMC) fail(*call) answer {
	return newAnswer(http.StatusServiceUnavailable, "text/plain", []byte("Service Temporarily Unavailable\n"))
}

func (e *europePMC) answer(c *call) answer {
	switch {
	case c.URL.Path != europePath+"search":
		return edge(http.StatusNotFound, "404 Not Found")
	case c.Method != http.MethodGet:
		return onlyGet()
	}
	q, err := parseEurope(c.form)
	if err != nil {
		return q.failed(err)
	}
	return q.page(c.world, c)
}

// europeQuery is a search request after validation.
type europeQuery struct {
	text       string // the query as it was sent
	json       bool
	resultType string
	size       int
	mark       string // as it was sent
	sort       string
	synonym    string
	want       condition
	order      order
}

// page and email are without effect, page surprisingly so: the real service has it for other routes only.
var (
	europeParams = []string{"query", "format", "resultType", "pageSize", "cursorMark", "page", "sort", "synonym", "email"}
	europeSorts  = map[string]order{"": unordered, "FIRST_IDATE_D asc": ascending, "FIRST_IDATE_D desc": descending}
)

func parseEurope(form url.Values) (europeQuery, error) {
	q := europeQuery{
		text: form.Get("query"), json: form.Get("format") == "json", resultType: "lite", size: 25,
		mark: "*", sort: form.Get("sort"), synonym: "false",
	}
	for name := range form {
		if !slices.Contains(europeParams, name) {
			return q, sentence("Parameter " + name + " is not supported")
		}
	}
	if format := form.Get("format"); format != "" && format != "json" && format != "xml" {
		return q, sentence("Invalid format provided: " + format)
	}
	if err := q.readPaging(form); err != nil {
		return q, err
	}
	var err error
	if q.want, err = parseLucene(q.text, europeClause); err != nil {
		return q, sentence("Invalid query provided: " + err.Error())
	}
	return q, nil
}

func (q *europeQuery) readPaging(form url.Values) error {
	if form.Has("resultType") {
		q.resultType = strings.ToLower(form.Get("resultType"))
	}
	if _, ok := europeForms[q.resultType]; !ok {
		return sentence("Invalid resultType provided: " + q.resultType)
	}
	if form.Has("pageSize") {
		n, err := strconv.Atoi(form.Get("pageSize"))
		if err != nil || n < 1 || n > 1000 {
			return sentence("Invalid page size provided. Page size must be greater than 0 and less than or equal to 1000")
		}
		q.size = n
	}
	if form.Has("cursorMark") {
		q.mark = form.Get("cursorMark")
	}
	if strings.EqualFold(form.Get("synonym"), "true") {
		q.synonym = "true"
	}
	var ok bool
	if q.order, ok = europeSorts[strings.TrimSpace(q.sort)]; !ok {
		return sentence("Invalid sort provided: " + q.sort)
	}
	return nil
}

var europeDates = map[string]*dateField{
	"FIRST_IDATE": byIndexed, "UPDATE_DATE": byRevised, "FIRST_PDATE": byPublished, "CREATION_DATE": byEntered,
}

// europeClause says what a term of a query means.
func europeClause(c clause) (condition, error) {
	field := strings.ToUpper(c.field)
	if by := europeDates[field]; by != nil {
		if c.bounds == nil {
			c.bounds = &bounds{from: c.text, to: c.text}
		}
		return c.bounds.dated(by, time.DateOnly)
	}
	if c.bounds != nil {
		return nil, fmt.Errorf("field %s has no range", c.field)
	}
	switch field {
	case "":
		return mentions(c.text, inTitle, inAbstract, inAuthors), nil
	case "TITLE":
		return mentions(c.text, inTitle), nil
	case "ABSTRACT":
		return mentions(c.text, inAbstract), nil
	case "TITLE_ABS":
		return mentions(c.text, inTitle, inAbstract), nil
	case "AUTH":
		return mentions(c.text, inAuthors), nil
	case "EXT_ID":
		return test(func(s *subject) bool { return europeID(s) == strings.ToUpper(c.text) }), nil
	case "SRC":
		return test(func(s *subject) bool { return europeSource(s) == strings.ToUpper(c.text) }), nil
	case "DOI":
		return test(func(s *subject) bool { return strings.EqualFold(s.paper().DOI, c.text) }), nil
	}
	return nil, fmt.Errorf("field %s is not supported", c.field)
}

// failed says what is wrong, in a 200.
func (q *europeQuery) failed(err error) answer {
	t, finish := q.document("errorBean")
	t.number("errCode", http.StatusNotFound)
	t.text("errMsg", err.Error())
	a := finish()
	a.refused = true
	return a
}

// document opens an answer of either kind; the function closes it.
func (q *europeQuery) document(root string) (tree, func() answer) {
	if q.json {
		j := &jsonText{b: []byte("{"), escape: plainEscapes}
		return jsonTree{j}, func() answer {
			j.close('}')
			return newAnswer(http.StatusOK, "application/json;charset=UTF-8", j.b)
		}
	}
	x := &xmlText{}
	x.raw(`<?xml version="1.0" encoding="UTF-8" standalone="yes"?>`)
	x.open(root + ` xmlns:slx="http://www.scholix.org" xmlns:epmc="https://www.europepmc.org/data"`)
	return xmlTree{x}, func() answer {
		x.close(root)
		return newAnswer(http.StatusOK, "application/xml;charset=UTF-8", x.b)
	}
}
