package source

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"patra"
)

// Program is a Spec with its paths compiled, ready to read pages. It is immutable and safe for concurrent use.
type Program struct {
	Spec       *Spec
	splitter   splitter
	opener     opener
	next       *path
	total      *path
	precision  *path // where a provider says how finely it filters
	id         []path
	updatedAt  []path
	deleted    *path
	retracted  *path
	merged     *path
	mergedFrom *path
	mark       *path // what decides between versions of the same time
	notices    []notice
	failures   []compiledErrorRule
	fields     []field
	watches    []compiledChange
	rules      string // the key of what is watched
}

// compiledErrorRule is a compiled rule for answers that mean something else than their status says.
type compiledErrorRule struct {
	ErrorRule
	path  *path
	match *regexp.Regexp
}

// Compile makes the program of a spec.
func (s *Spec) Compile() (*Program, error) {
	c := &compiler{format: s.Response.Format}
	p := &Program{Spec: s}
	p.splitter, p.opener = c.reader(s.Response, s.Role == roleDetail)
	p.next = c.optional(s.Pagination.Next)
	p.total = c.optional(s.Response.Total.Path)
	if s.AsksPrecision() {
		p.precision = c.optional(s.Window.Discover.Precision)
	}
	for _, text := range s.Response.ID {
		p.id = append(p.id, c.path(text))
	}
	for _, text := range s.Response.UpdatedAt {
		p.updatedAt = append(p.updatedAt, c.path(text))
	}
	if s.Response.Deleted != nil {
		p.deleted = c.optional(s.Response.Deleted.Path)
	}
	if s.Response.Retracted != nil {
		p.retracted = c.optional(s.Response.Retracted.Path)
	}
	p.merged = c.optional(s.Response.MergedInto)
	p.mergedFrom = c.optional(s.Response.MergedFrom)
	for _, n := range s.Response.Signals {
		p.notices = append(p.notices, c.notice(n))
	}
	for _, f := range s.Response.Errors {
		p.failures = append(p.failures, compiledErrorRule{ErrorRule: f, path: c.optional(f.Path), match: c.regexp(f.Match)})
	}
	if j, ok := p.splitter.(jsonSplitter); ok {
		p.splitter = j.reading(p)
	}
	if s.Detail == nil { // where there are two phases, the mapping reads the second
		p.mark = c.optional(s.Merge.by())
		p.fields = c.fields(s.Mapping)
		if len(s.Changes) > 0 {
			p.watches, p.rules = c.watches(s.Changes, s.Mapping, p.fields), patra.Hash(s.Changes)[:shortHash]
		}
	}
	if c.err != nil {
		return nil, fmt.Errorf("compile %s: %w", s.Source, c.err)
	}
	return p, nil
}

// Sized is the program with pages of another size.
func (p *Program) Sized(n int) *Program {
	spec, sized := *p.Spec, *p
	spec.Pagination.PageSize = n
	sized.Spec = &spec
	return &sized
}

// compiler keeps the first error, so that compiling reads top to bottom.
type compiler struct {
	format string
	err    error
}

func (c *compiler) note(err error) {
	if c.err == nil {
		c.err = err
	}
}

func (c *compiler) path(text string) path {
	p, err := parsePath(c.format, text)
	c.note(err)
	return p
}

func (c *compiler) optional(text string) *path {
	if text == "" {
		return nil
	}
	p := c.path(text)
	return &p
}

func (c *compiler) regexp(text string) *regexp.Regexp {
	if text == "" {
		return nil
	}
	r, err := regexp.Compile(text)
	c.note(err)
	return r
}

func (c *compiler) mapping(text string) *mapping {
	m, err := parseMapping(c.format, text)
	c.note(err)
	return m
}

func (c *compiler) names(text string) namePath {
	p, err := parseNamePath(text)
	c.note(err)
	return p
}

func (c *compiler) elements(text string) []elementPath {
	p, err := parseElements(text)
	c.note(err)
	return p
}

// reader makes the two halves of a format. one allows an answer that is a single record.
func (c *compiler) reader(r Response, one bool) (splitter, opener) {
	if c.format == formatXML {
		x := xmlOpener{}
		for _, v := range r.Volatile {
			x.volatile = append(x.volatile, c.elements(v)...)
		}
		return xmlSplitter{r.Items, c.elements(r.Items), r.Strict}, x
	}
	j := jsonOpener{}
	for _, v := range r.Volatile {
		j.volatile = append(j.volatile, c.names(v))
	}
	switch c.format {
	case formatJSONL:
		return linesSplitter{}, j
	case formatCSV:
		return csvSplitter{}, j
	}
	s := jsonSplitter{text: r.Items, items: c.names(r.Items), one: one}
	if r.Order != "" {
		s.order = c.names(r.Order)
	}
	return s, j
}

// Read finds the items and the way on in an answer to a request for position, or says what kind of failure it is. An
// answer that is not understood is never taken for an empty one.
func (p *Program) Read(status int, body []byte, position string) (Page, error) {
	return p.ReadWithin(status, body, position, patra.Window{})
}

// ReadWithin is Read for an answer to a request for a fetch window: a walk by time looks for the way on only in items of that window.
func (p *Program) ReadWithin(status int, body []byte, position string, fetch patra.Window) (Page, error) {
	page, around, err := p.open(status, body, position)
	if err != nil || page.End != "" {
		return page, err
	}
	if err := p.onward(&page, around, position, fetch); err != nil {
		page.walked.release()
		return page, err
	}
	return page, nil
}

// open finds what is in an answer, and leaves the way on to others: they are given what stands around the items.
func (p *Program) open(status int, body []byte, position string) (page Page, around any, err error) {
	got, splitErr := p.splitter.split(body)
	defer func() {
		if page.walked == nil { // nobody will ask for the items
			got.walked.release()
		}
	}()
	around = got.around
	if means, fault := p.failed(status, body, around); fault != nil {
		return Page{}, nil, fault
	} else if means == meansEmpty && got.unclear == nil {
		return Page{End: patra.EndEmptyCode}, nil, nil
	}
	if fault := p.Spec.classify(status, position); fault != nil {
		return Page{}, nil, fault
	}
	if err := firstOf(got.unclear, splitErr); err != nil {
		return Page{}, nil, err
	}
	page.Items, page.Apart, page.walked, page.Repairs = got.items, got.apart, got.walked, got.repairs
	if p.total != nil {
		page.Total = number(p.total.find(around))
	}
	return page, around, nil
}

// What an error rule may mean.
const (
	meansRetry   = "RETRY"
	meansRefused = "REFUSED"
	meansFatal   = "FATAL"
	meansSchema  = "SCHEMA"
	meansEmpty   = "EMPTY"
	meansExpired = "TOKEN_EXPIRED"
)

// failed looks for the first error rule that fits.
func (p *Program) failed(status int, body []byte, around any) (means string, fault *patra.Fault) {
	for _, f := range p.failures {
		text, fits := f.fits(status, body, around)
		if !fits {
			continue
		}
		fault := &patra.Fault{Code: patra.CodeProvider, Status: status, Path: f.Path, Text: text}
		switch f.Means {
		case meansEmpty:
			return meansEmpty, nil
		case meansRetry:
			if fault.Level = patra.LevelRetry; status == http.StatusTooManyRequests {
				fault.Code = patra.CodeRateLimited // whatever words it comes with, everybody slows down
			}
		case meansExpired:
			fault.Level, fault.Code = patra.LevelRetry, patra.CodeTokenExpired
		case meansSchema:
			fault.Level, fault.Code, fault.Text = patra.LevelRetry, patra.CodeSchema, "the answer does not look as it should"
		case meansFatal:
			fault.Level = patra.LevelFatal
		default:
			fault.Level = patra.LevelRequest
		}
		return f.Means, fault
	}
	return "", nil
}

// maxErrorText bounds what is kept of a provider's own words.
const maxErrorText = 300

func (f compiledErrorRule) fits(status int, body []byte, around any) (text string, ok bool) {
	if len(f.Status) > 0 && !slices.Contains(f.Status, status) {
		return "", false
	}
	if f.path == nil {
		text = string(body)
	} else {
		found := f.path.find(around)
		if len(found) == 0 || found[0] == nil || found[0] == false {
			return "", false
		}
		text, _ = textOf(found[0])
	}
	if f.match != nil && !f.match.MatchString(text) {
		return "", false
	}
	return strings.ToValidUTF8(text[:min(len(text), maxErrorText)], ""), true
}
