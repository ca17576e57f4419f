package source

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"patra"
	"patra/internal/strictyaml"
)

// Load reads and checks one source file. It reports every problem at once, each with its line.
func Load(file string, data []byte) (*File, error) {
	doc, err := strictyaml.Parse(file, data)
	if err != nil {
		return nil, err
	}
	f := &File{}
	decodeErr := doc.Decode(f)
	var found patra.Problems
	if decodeErr != nil && !errors.As(decodeErr, &found) {
		return nil, decodeErr
	}
	if len(found) == 0 { // half-read values would only cause problems that are not there
		found = validate(doc, f)
	}
	return f, found.Err()
}

// Find looks for a source by its code: first in the user's folder, then among the shipped ones.
func Find(code string, places ...fs.FS) (*File, error) {
	var known []string
	for _, place := range places {
		names, err := fs.Glob(place, "*.yaml")
		if err != nil {
			return nil, fmt.Errorf("look for sources: %w", err)
		}
		for _, name := range names {
			known = append(known, strings.TrimSuffix(name, ".yaml"))
		}
		if !slices.Contains(names, code+".yaml") {
			continue
		}
		data, err := fs.ReadFile(place, code+".yaml")
		if err != nil {
			return nil, fmt.Errorf("read source: %w", err)
		}
		f, err := Load(code+".yaml", data)
		if err == nil && f.Code != code {
			err = patra.Problems{{Code: "BAD_VALUE", File: code + ".yaml", Path: "code", Text: fmt.Sprintf("the file is named after %q, but describes %q", code, f.Code), Hint: "name the file after its code"}}
		}
		return f, err
	}
	slices.Sort(known)
	p := patra.Problem{Code: patra.CodeUnknownSource, Text: fmt.Sprintf("there is no source %q", code), Hint: "known sources: " + strings.Join(slices.Compact(known), ", ")}
	if near, ok := strictyaml.Nearest(code, known); ok {
		p.Hint = fmt.Sprintf("did you mean %q?", near)
	}
	return nil, patra.Problems{p}
}

// checker collects problems with their places.
type checker struct {
	doc   *strictyaml.Document
	found patra.Problems
}

func (c *checker) add(path, code, text, hint string) {
	c.found = append(c.found, c.doc.Problem(path, code, text, hint))
}

func (c *checker) required(path, value string) {
	if value == "" {
		c.add(path, "REQUIRED", lastPart(path)+" is required", "")
	}
}

// oneOf checks a word against the words allowed there.
func (c *checker) oneOf(path, value string, allowed ...string) {
	if slices.Contains(allowed, value) {
		return
	}
	hint := "write one of " + strings.Join(allowed, ", ")
	if near, ok := strictyaml.Nearest(value, allowed); ok {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	if value == "" {
		c.add(path, "REQUIRED", lastPart(path)+" is required", hint)
		return
	}
	c.add(path, "BAD_VALUE", fmt.Sprintf("%s %q is not known", lastPart(path), value), hint)
}

func (c *checker) positive(path string, ok bool, text string) {
	if !ok {
		c.add(path, "BAD_VALUE", text, "")
	}
}

func (c *checker) namePath(path, value string) {
	if _, err := parseNamePath(value); err != nil {
		c.add(path, "BAD_PATH", err.Error(), "write a path of names such as $.message.items")
	}
}

func (c *checker) itemPath(path, value string) {
	if _, err := parsePath(value); err != nil {
		c.add(path, "BAD_PATH", err.Error(), "write a JSONPath such as $.indexed['date-time']")
	}
}

func lastPart(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

var codeForm = regexp.MustCompile(`^[a-z][a-z0-9-]{0,46}$`)

// validate checks what the types cannot: words, ranges, paths, and that the parts fit together.
func validate(doc *strictyaml.Document, f *File) patra.Problems {
	c := &checker{doc: doc}
	c.oneOf("apiVersion", f.APIVersion, "patra/v1")
	if !codeForm.MatchString(f.Code) {
		c.add("code", "BAD_VALUE", fmt.Sprintf("code %q is not a source code", f.Code), "use lower-case letters, digits and dashes, at most 47")
	}
	c.required("name", f.Name)
	c.required("recordType", f.RecordType)
	c.defaults(f.Defaults)
	if len(f.Endpoints) == 0 {
		c.add("endpoints", "REQUIRED", "a source needs at least one endpoint", "")
	}
	for name, e := range f.Endpoints {
		c.endpoint("endpoints."+name, e, f.Query)
	}
	for i, r := range f.Query.Render {
		c.rule(fmt.Sprintf("query.render[%d]", i), r, f.Query)
	}
	for name, text := range f.Mapping {
		if _, err := parseMapping(text); err != nil {
			c.add("mapping."+name, "BAD_MAPPING", err.Error(), "write a path, then functions: $.DOI | lower")
		}
	}
	slices.SortStableFunc(c.found, func(a, b patra.Problem) int { return a.Line - b.Line })
	return c.found
}

func (c *checker) defaults(d Defaults) {
	u, err := url.Parse(d.HTTP.BaseURL)
	if err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") || u.User != nil {
		c.add("defaults.http.baseUrl", "BAD_VALUE", fmt.Sprintf("baseUrl %q is not an address", d.HTTP.BaseURL), "write https://host/path")
	}
	for name, value := range d.HTTP.Headers {
		if strings.ContainsAny(name+value, "\r\n\x00") {
			c.add("defaults.http.headers."+name, "BAD_VALUE", "a header holds no line breaks", "")
		}
		if err := checkTemplate(value); err != nil {
			c.add("defaults.http.headers."+name, "BAD_VALUE", err.Error(), "known: ${contact}, ${version}")
		}
	}
	c.positive("defaults.http.timeout", d.HTTP.Timeout.Total > 0 && d.HTTP.Timeout.Connect > 0 && d.HTTP.Timeout.Read > 0, "connect, read and total time-outs are needed")
	c.positive("defaults.http.maxBody", d.HTTP.MaxBody > 0 && d.HTTP.MaxBody <= 1<<30, "maxBody is between 1 byte and 1 GiB")
	c.positive("defaults.rate.perSecond", d.Rate.PerSecond > 0, "perSecond is more than 0")
	c.positive("defaults.rate.burst", d.Rate.Burst >= 1, "burst is at least 1")
	c.positive("defaults.retry.maxAttempts", d.Retry.MaxAttempts >= 1 && d.Retry.MaxAttempts <= 100, "maxAttempts counts the first attempt too and is between 1 and 100")
	b := d.Retry.Backoff
	c.positive("defaults.retry.backoff", b.Initial > 0 && b.Max >= b.Initial && b.Factor >= 1 && b.Jitter >= 0 && b.Jitter <= 1,
		"a back-off needs initial > 0, max >= initial, factor >= 1 and jitter between 0 and 1")
}

func (c *checker) endpoint(at string, e Endpoint, q Query) {
	c.oneOf(at+".role", e.Role, "SEARCH")
	c.oneOf(at+".request.method", e.Request.Method, "GET")
	if !strings.HasPrefix(e.Request.Path, "/") || strings.ContainsAny(e.Request.Path, "?#") {
		c.add(at+".request.path", "BAD_VALUE", fmt.Sprintf("path %q is not a path", e.Request.Path), "begin with / and put parameters into query")
	}
	c.pagination(at+".pagination", e.Pagination)
	c.response(at+".response", e.Response)
	c.window(at+".window", e.Window, q)
}

func (c *checker) pagination(at string, p Pagination) {
	c.oneOf(at+".type", p.Type, "TOKEN")
	c.positive(at+".pageSize", p.PageSize >= 1 && p.PageSize <= p.MaxPageSize, "pageSize is between 1 and maxPageSize")
	c.required(at+".sizeParam", p.SizeParam)
	c.required(at+".tokenParam", p.TokenParam)
	c.required(at+".initial", p.Initial)
	c.namePath(at+".next", p.Next)
	c.oneOf(at+".token.state", p.Token.State, stateless, stateful)
	c.oneOf(at+".token.onSame", p.Token.OnSame, "END", "CONTINUE", "ERROR")
	if p.Token.State == stateless && p.Token.OnSame == "CONTINUE" {
		c.add(at+".token.onSame", "CONFLICT", "a STATELESS token that stays the same asks for the same page for ever", "write END or ERROR, or state: STATEFUL")
	}
	if len(p.End) == 0 {
		c.add(at+".end", "REQUIRED", "a walk needs at least one way to end", "write end: [EMPTY_PAGE]")
	}
	for i, end := range p.End {
		c.oneOf(fmt.Sprintf("%s.end[%d]", at, i), end, patra.EndEmptyPage, patra.EndNoToken, patra.EndSameToken, patra.EndNullNext)
	}
}

func (c *checker) response(at string, r Response) {
	c.oneOf(at+".format", r.Format, "JSON")
	c.namePath(at+".items", r.Items)
	c.itemPath(at+".id", r.ID)
	if r.UpdatedAt != "" {
		c.itemPath(at+".updatedAt", r.UpdatedAt)
	}
	c.oneOf(at+".total.trust", string(r.Total.Trust), string(patra.TrustExact), string(patra.TrustEstimate), string(patra.TrustNone))
	if r.Total.Path != "" {
		c.namePath(at+".total.path", r.Total.Path)
	}
	for i, v := range r.Volatile {
		c.namePath(fmt.Sprintf("%s.volatile[%d]", at, i), v)
	}
}

func (c *checker) window(at string, w Window, q Query) {
	c.oneOf(at+".mode", string(w.Mode), string(patra.ModeCalendar), string(patra.ModeSliding))
	var units []string
	for _, u := range patra.Units {
		units = append(units, string(u))
	}
	c.oneOf(at+".precision", string(w.Precision), units...)
	if w.Mode == patra.ModeCalendar {
		c.oneOf(at+".align", string(w.Align), units...)
	}
	c.oneOf(at+".upper", w.Upper, "INCLUSIVE_DAY", "INCLUSIVE_SECOND", "EXCLUSIVE")
	c.positive(at+".size", !w.Size.IsZero(), "a window needs a size such as P1D")
	if _, ok := q.Fields[w.Field]; !ok {
		c.add(at+".field", "UNKNOWN_FIELD", fmt.Sprintf("field %q is not among query.fields", w.Field), "")
		return
	}
	if !slices.ContainsFunc(q.Render, func(r Rule) bool { return r.Field == w.Field && r.Op == "RANGE" }) {
		c.add(at+".field", "NO_RENDER_RULE", fmt.Sprintf("no rule under query.render turns a RANGE of %q into parameters", w.Field), "")
	}
}

func (c *checker) rule(at string, r Rule, q Query) {
	c.oneOf(at+".op", r.Op, "RANGE")
	if _, ok := q.Fields[r.Field]; !ok {
		c.add(at+".field", "UNKNOWN_FIELD", fmt.Sprintf("field %q is not among query.fields", r.Field), "")
	}
	for name := range r.Params {
		if p, ok := q.Params[name]; !ok || p.Name == "" {
			c.add(at+".params."+name, "UNKNOWN_PARAM", fmt.Sprintf("parameter %q has no name under query.params", name), "")
		}
	}
}
