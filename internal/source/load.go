package source

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
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
	if strings.ContainsAny(code, "/.") {
		p.Hint = "name a source by its code; a file is found by it in the folder of sources.dir, which PATRA_SOURCES_DIR sets too"
	} else if near, ok := strictyaml.Nearest(code, known); ok {
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

// once adds a problem that several endpoints share.
func (c *checker) once(path, code, text, hint string) {
	if p := c.doc.Problem(path, code, text, hint); !slices.Contains(c.found, p) {
		c.found = append(c.found, p)
	}
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

func (c *checker) notZero(path string, zero bool) {
	if zero && c.doc.Has(path) {
		c.add(path, "BAD_VALUE", lastPart(path)+" is more than 0", "leave it out for the default")
	}
}

func (c *checker) positive(path string, ok bool, text string) {
	if !ok {
		c.add(path, "BAD_VALUE", text, "")
	}
}

// items checks where the items stand: a path of names in JSON, of elements in XML, nothing in lines and tables.
func (c *checker) items(at, format, value string) {
	var err error
	switch format {
	case formatXML:
		_, err = parseElements(value)
	case formatJSON:
		_, err = parseNamePath(value)
	default:
		if value != "" {
			err = fmt.Errorf("every line of %s is an item", format)
		}
	}
	if err != nil {
		c.add(at, "BAD_PATH", err.Error(), "write $.message.items in JSON, /feed/entry or //record in XML")
	}
}

func (c *checker) path(at, format, value string) {
	if _, err := parsePath(format, value); err != nil {
		c.add(at, "BAD_PATH", err.Error(), "write a JSONPath such as $.indexed['date-time'], or in XML an XPath such as header/identifier")
	}
}

func lastPart(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

var idHole = regexp.MustCompile(`\{\{(id|[1-9])\}\}`)

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
	c.blocks("defaults", f.Defaults, merge(platform, f.Defaults), f.Parameters)
	if len(f.Endpoints) == 0 {
		c.add("endpoints", "REQUIRED", "a source needs at least one endpoint", "")
	}
	format, sure := "", true
	for _, name := range slices.Sorted(maps.Keys(f.Endpoints)) {
		e := f.Endpoints[name]
		c.endpoint("endpoints."+name, e, f)
		sure = sure && e.hasRole()
		if len(e.Mapping) == 0 && (format == "" || e.Role == roleDetail) { // where there are two phases, the mapping reads the second
			format = e.Response.Format
		}
	}
	if sure { // else nobody knows whose records it reads
		c.mapping("mapping", format, f.Mapping)
	}
	c.merge(f)
	c.update(f.Update)
	c.changes(f)
	slices.SortStableFunc(c.found, func(a, b patra.Problem) int { return a.Line - b.Line })
	return c.found
}

// blocks checks settings as they are after merging, and that nobody wrote a zero, which would count as not written.
func (c *checker) blocks(at string, own, d Blocks, params map[string]Parameter) {
	c.notZero(at+".http.maxBody", own.HTTP.MaxBody == 0)
	c.notZero(at+".retry.maxAttempts", own.Retry.MaxAttempts == 0)
	c.notZero(at+".breaker.failures", own.Breaker.Failures == 0)
	c.notZero(at+".breaker.cooldown", own.Breaker.Cooldown.IsZero())
	inherited := at != "defaults" // what is inherited is looked at where it stands
	if !inherited || c.doc.Has(at+".http.baseUrl") {
		c.baseURL(at+".http.baseUrl", d.HTTP.BaseURL, params)
	}
	c.headers(at+".http.headers", own.HTTP.Headers, params)
	if !inherited || c.doc.Has(at+".auth") {
		c.auth(at+".auth", d.Auth, params)
	}
	if !inherited || c.doc.Has(at+".http") {
		c.positive(at+".http.timeout", d.HTTP.Timeout.Total >= d.HTTP.Timeout.Read, "the total time-out is at least as long as the one for reading")
		c.positive(at+".http.maxBody", d.HTTP.MaxBody > 0 && d.HTTP.MaxBody <= 1<<30, "maxBody is between 1 byte and 1 GiB")
	}
	c.rate(at+".rate", own.Rate, d.Rate)
	if !inherited || c.doc.Has(at+".retry") {
		c.retry(at+".retry", d.Retry)
	}
	if !inherited || c.doc.Has(at+".breaker") {
		c.breaker(at+".breaker", d.Breaker)
	}
}

// retry checks how often and when something is asked for again.
func (c *checker) retry(at string, r Retry) {
	c.positive(at+".maxAttempts", r.MaxAttempts >= 1 && r.MaxAttempts <= 100, "maxAttempts counts the first attempt too and is between 1 and 100")
	for n, status := range r.AfterOn {
		c.positive(fmt.Sprintf("%s.afterOn[%d]", at, n), status >= 400 && status <= 599, "afterOn has statuses that refuse something, from 400 to 599")
	}
	b := r.Backoff
	c.positive(at+".backoff", b.Initial > 0 && b.Max >= b.Initial && b.Factor >= 1 && b.Jitter >= 0 && b.Jitter <= 1,
		"a back-off needs initial > 0, max >= initial, factor >= 1 and jitter between 0 and 1")
}

// baseURL checks an address. One without encryption is no use: nothing is ever sent there.
func (c *checker) baseURL(at, text string, params map[string]Parameter) {
	base := placeholder.ReplaceAllString(text, "x")
	if strings.HasPrefix(text, "${param.") { // the whole address is the user's to say
		base = "https://x"
	}
	switch u, err := url.Parse(base); {
	case err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") || u.User != nil:
		c.add(at, "BAD_VALUE", fmt.Sprintf("baseUrl %q is not an address", text), "write https://host/path")
	case moreThanBase(u):
		c.add(at, "BAD_VALUE", fmt.Sprintf("baseUrl %q has more than a path: what stands behind the ? or the # would not be asked for", text), hintBase)
	case u.Scheme == "http":
		c.add(at, "BAD_VALUE", fmt.Sprintf("baseUrl %q is without encryption", text), "write https://host/path; a server of your own, such as patra sim, is named with {base_url}")
	}
	c.template(at, text, params)
}

func (c *checker) headers(at string, headers map[string]string, params map[string]Parameter) {
	for name, value := range headers {
		if strings.ContainsAny(name+value, "\r\n\x00") {
			c.add(at+"."+name, "BAD_VALUE", "a header holds no line breaks", "")
		}
		c.template(at+"."+name, value, params)
	}
}

func (c *checker) template(at, text string, params map[string]Parameter) {
	if err := checkTemplate(text, params); err != nil {
		c.add(at, "BAD_VALUE", err.Error(), "known: ${contact}, ${version}, ${param.NAME} for each of parameters")
	}
}

// What an endpoint is for.
const (
	roleSearch = "SEARCH"
	roleDetail = "DETAIL"
)

// hasRole tells whether it is known what an endpoint is for.
func (e Endpoint) hasRole() bool { return e.Role == roleSearch || e.Role == roleDetail }

func (c *checker) endpoint(at string, e Endpoint, f *File) {
	c.oneOf(at+".role", e.Role, roleSearch, roleDetail)
	c.blocks(at, e.Blocks, merge(platform, f.Defaults, e.Blocks), f.Parameters)
	c.oneOf(at+".request.method", cmp.Or(e.Request.Method, "GET"), "GET", "POST")
	c.oneOf(at+".request.send", cmp.Or(e.Request.Send, sendQuery), sendQuery, sendForm, sendJSON)
	if e.Request.Send != "" && e.Request.Send != sendQuery && e.Request.Method != "POST" {
		c.add(at+".request.send", "CONFLICT", "only a POST has a body to send parameters in", "write method: POST")
	}
	if !strings.HasPrefix(e.Request.Path, "/") || strings.ContainsAny(e.Request.Path, "?#") {
		c.add(at+".request.path", "BAD_VALUE", fmt.Sprintf("path %q is not a path", e.Request.Path), "begin with / and put parameters into query")
	}
	c.keyInBody(at, e, f)
	c.headers(at+".request.headers", e.Request.Headers, f.Parameters)
	for name, value := range e.Request.Query {
		c.template(at+".request.query."+name, value, f.Parameters)
	}
	c.response(at+".response", e.Response)
	c.mapping(at+".mapping", e.Response.Format, e.Mapping)
	if !e.hasRole() { // what else it needs depends on it
		return
	}
	if e.Role == roleDetail {
		if e.Default {
			c.add(at+".default", "CONFLICT", "an endpoint for records by id cannot be the one that is searched", "")
		}
		if e.Detail != nil {
			c.detail(at+".detail", *e.Detail)
			if e.Detail.Endpoint != "" {
				c.add(at+".detail.endpoint", "CONFLICT", "an endpoint that gives records by id names no other for that", "leave it out")
			}
		}
		return
	}
	c.pagination(at+".pagination", e)
	c.census(at+".census", e)
	c.window(at+".window", e, f)
	g := f.grammar(e.Window)
	for _, problem := range g.Check() {
		c.once("query."+problem.Path, problem.Code, problem.Text, problem.Hint)
	}
	if d := e.Detail; d != nil {
		if f.Endpoints[d.Endpoint].Role != roleDetail {
			c.add(at+".detail.endpoint", "UNKNOWN_ENDPOINT", fmt.Sprintf("%q is no endpoint with role: DETAIL", d.Endpoint), "")
		}
		c.detail(at+".detail", *d)
	}
}

func (c *checker) detail(at string, d Detail) {
	c.required(at+".idsParam", d.IDsParam)
	c.positive(at+".batch", d.Batch >= 1, "batch is at least 1")
	if d.Each != "" && !idHole.MatchString(d.Each) {
		c.add(at+".each", "BAD_VALUE", fmt.Sprintf("each %q has no place for an id", d.Each), "write {{id}}, or {{1}} and {{2}} for its parts")
	}
}

func (c *checker) mapping(at, format string, m Mapping) {
	for name, text := range m {
		if _, err := parseMapping(format, text); err != nil {
			c.add(at+"."+name, "BAD_MAPPING", err.Error(), "write a path, then functions: $.DOI | lower")
		}
	}
}

func (c *checker) pagination(at string, e Endpoint) {
	p := e.Pagination
	c.oneOf(at+".type", p.Type, pageToken, pageOffset, pagePage, pageURL, pageTime)
	if p.SizeParam != "" || p.PageSize != 0 {
		c.positive(at+".pageSize", p.PageSize >= 1 && p.PageSize <= p.MaxPageSize, "pageSize is between 1 and maxPageSize")
	}
	if p.Type == pageToken || p.Type == pageOffset || p.Type == pagePage {
		c.required(at+".positionParam", p.PositionParam)
	}
	if p.Next != "" {
		c.path(at+".next", e.Response.Format, p.Next)
	} else if p.Type == pageToken || p.Type == pageURL {
		c.add(at+".next", "REQUIRED", "a walk by "+p.Type+" needs the path of the next position", "")
	}
	if p.Type == pageToken {
		c.oneOf(at+".token.state", p.Token.State, stateless, stateful)
		c.oneOf(at+".token.onSame", p.Token.OnSame, "END", "CONTINUE", "ERROR")
		c.oneOf(at+".token.encode", cmp.Or(p.Token.Encode, "ALWAYS"), "ALWAYS", "NEVER")
	}
	if p.Token.State == stateless && p.Token.OnSame == "CONTINUE" {
		c.add(at+".token.onSame", "CONFLICT", "a STATELESS token that stays the same asks for the same page for ever", "write END or ERROR, or state: STATEFUL")
	}
	if p.Type == pageOffset && p.Cap > 0 && int64(p.PageSize) > p.Cap {
		c.add(at+".cap", "CONFLICT", "one page is larger than the provider's cap", "")
	}
	if p.Type == pageTime && (len(e.Response.UpdatedAt) == 0 || p.PageSize == 0 || e.Window.Order != "ASC") {
		c.add(at+".type", "CONFLICT", "a walk by TIME needs response.updatedAt, pageSize and window.order: ASC", "")
	}
	if counts := p.Type == pageOffset || (p.Type == pagePage && p.Next == ""); counts && !slices.Contains(p.End, patra.EndEmptyPage) && !slices.Contains(p.End, patra.EndShortPage) {
		c.add(at+".end", "CONFLICT", "a walk that counts ends with an empty or a short page", "write end: [EMPTY_PAGE]")
	}
	c.stability(at, e)
	if len(p.End) == 0 {
		c.add(at+".end", "REQUIRED", "a walk needs at least one way to end", "write end: [EMPTY_PAGE]")
	}
	for i, end := range p.End {
		c.oneOf(fmt.Sprintf("%s.end[%d]", at, i), end, patra.EndEmptyPage, patra.EndNoToken, patra.EndSameToken, patra.EndNullNext, patra.EndShortPage)
	}
}

func (c *checker) response(at string, r Response) {
	c.oneOf(at+".format", r.Format, formatJSON, formatXML, formatJSONL, formatCSV)
	if r.Strict && r.Format != formatXML {
		c.add(at+".strict", "CONFLICT", "only XML is repaired, so only XML can be strict", "leave it out")
	}
	c.items(at+".items", r.Format, r.Items)
	if r.Order != "" {
		c.items(at+".order", formatJSON, r.Order)
	}
	if len(r.ID) == 0 {
		c.add(at+".id", "REQUIRED", "id is required", "write the path of what identifies a record, or a list of paths")
	}
	for _, p := range r.ID {
		c.path(at+".id", r.Format, p)
	}
	for _, p := range r.UpdatedAt {
		c.path(at+".updatedAt", r.Format, p)
	}
	c.oneOf(at+".noId", cmp.Or(r.NoID, "QUARANTINE"), "QUARANTINE", "HASH")
	c.oneOf(at+".total.trust", string(r.Total.Trust), string(patra.TrustExact), string(patra.TrustEstimate), string(patra.TrustNone))
	if r.Total.Path != "" {
		c.path(at+".total.path", r.Format, r.Total.Path)
	}
	if r.Deleted != nil {
		c.path(at+".deleted.path", r.Format, r.Deleted.Path)
	}
	if r.Retracted != nil {
		c.path(at+".retracted.path", r.Format, r.Retracted.Path)
	}
	if r.MergedInto != "" {
		c.path(at+".mergedInto", r.Format, r.MergedInto)
	}
	if r.MergedFrom != "" {
		c.path(at+".mergedFrom", r.Format, r.MergedFrom)
	}
	for i, n := range r.Signals {
		c.notice(fmt.Sprintf("%s.signals[%d]", at, i), r.Format, n)
	}
	for i, v := range r.Volatile {
		if r.Format == formatXML {
			c.items(fmt.Sprintf("%s.volatile[%d]", at, i), formatXML, v)
		} else {
			c.items(fmt.Sprintf("%s.volatile[%d]", at, i), formatJSON, v)
		}
	}
	for i, rule := range r.Errors {
		c.failure(fmt.Sprintf("%s.errors[%d]", at, i), r.Format, rule)
	}
}

func (c *checker) failure(at, format string, f ErrorRule) {
	c.oneOf(at+".means", f.Means, meansRetry, meansRefused, meansFatal, meansSchema, meansEmpty, meansExpired)
	if f.Path != "" {
		c.path(at+".path", format, f.Path)
	}
	if _, err := regexp.Compile(f.Match); err != nil {
		c.add(at+".match", "BAD_VALUE", "match is no regular expression: "+err.Error(), "")
	}
	if len(f.Status) == 0 && f.Path == "" && f.Match == "" {
		c.add(at, "REQUIRED", "an error rule needs a status, a path or a match: it would fit every answer", "")
	}
}
