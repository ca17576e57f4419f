package source

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"patra"
	"patra/internal/query"
)

// Where parameters go.
const (
	sendQuery = "QUERY"
	sendForm  = "FORM"
	sendJSON  = "JSON"
)

// What a body says it is.
const (
	typeForm = "application/x-www-form-urlencoded"
	typeJSON = "application/json"
)

// Call is one request, ready to be sent.
type Call struct {
	Method  string
	URL     string
	Headers map[string]string
	Body    []byte
}

// First is the position of the first page.
func (s *Spec) First() string {
	if s.Pagination.Initial != "" {
		return s.Pagination.Initial
	}
	switch s.Pagination.Type {
	case pageOffset:
		return "0"
	case pagePage:
		return "1"
	}
	return "" // no token, no URL, the window's own beginning
}

// Build makes the request for the page at position of a query in the given fetch window. baseURL, if not empty, takes
// the place of the source's own.
func (s *Spec) Build(query query.Node, fetch patra.Window, position, baseURL string, vars Vars) (Call, error) {
	return s.build(baseURL, vars, func() (url.Values, error) { return s.params(query, fetch, position, vars) }, position)
}

// build makes a request with the given parameters.
func (s *Spec) build(baseURL string, vars Vars, ask func() (url.Values, error), position string) (Call, error) {
	if baseURL == "" {
		baseURL = s.Address(vars)
	}
	u, err := url.Parse(baseURL)
	if err != nil || u.Host == "" {
		return Call{}, fmt.Errorf("base URL %q is not an address", baseURL)
	}
	params, err := ask()
	if err != nil {
		return Call{}, err
	}
	call := Call{Method: s.Request.Method, Headers: map[string]string{}}
	for _, headers := range []map[string]string{s.HTTP.Headers, s.Request.Headers} {
		for k, v := range headers {
			call.Headers[k] = vars.fill(v, s.Parameters)
		}
	}
	if s.Pagination.Type == pageURL && position != "" {
		for _, hole := range placeholder.FindAllStringSubmatch(s.Request.Path, -1) {
			params.Del(hole[1]) // what stands in the path stands in the link's path too
		}
		call.URL, err = follow(u, position, params)
		return call, err
	}
	s.address(&call, u, params, position)
	return call, nil
}

// BuildIDs makes the request for the records behind some ids.
func (s *Spec) BuildIDs(ids []string, baseURL string, vars Vars) (Call, error) {
	second := s.Second
	return second.build(baseURL, vars, func() (url.Values, error) {
		params, err := second.params(query.All(), patra.Window{}, "", vars)
		if err == nil {
			params.Set(s.Detail.IDsParam, s.Detail.written(ids, len(second.Response.ID)))
		}
		return params, err
	}, "")
}

// written is how a provider wants some ids to be said; an id has as many parts as there are paths to it.
func (d Detail) written(ids []string, parts int) string {
	said := slices.Clone(ids)
	for i, id := range ids {
		if d.Each == "" {
			continue
		}
		pairs := []string{"{{id}}", id}
		for n, part := range strings.SplitN(id, "/", parts) {
			pairs = append(pairs, fmt.Sprintf("{{%d}}", n+1), part)
		}
		said[i] = strings.NewReplacer(pairs...).Replace(d.Each)
	}
	return strings.Join(said, cmp.Or(d.Join, ","))
}

// address puts the parameters where the provider wants them: into the path where it names them, the rest as a query,
// a form or a JSON object.
func (s *Spec) address(call *Call, u *url.URL, params url.Values, position string) {
	path := placeholder.ReplaceAllStringFunc(s.Request.Path, func(hole string) string {
		name := hole[2 : len(hole)-1]
		value := params.Get(name)
		params.Del(name)
		return url.PathEscape(value)
	})
	if path != "/" { // an address that is whole as it stands gets no slash behind it
		u = u.JoinPath(path)
	}
	raw := ""
	if name := s.Pagination.PositionParam; s.Pagination.Token.Encode == "NEVER" && params.Get(name) != "" {
		raw = "&" + url.QueryEscape(name) + "=" + position
		params.Del(name)
	}
	switch s.Request.Send {
	case sendForm:
		call.Body = []byte(params.Encode() + raw)
		call.Headers["Content-Type"] = typeForm
	case sendJSON:
		call.Body = object(params)
		call.Headers["Content-Type"] = typeJSON
	default:
		u.RawQuery = strings.TrimPrefix(params.Encode()+raw, "&")
	}
	call.URL = u.String()
}

// object is parameters as a JSON object; one that is sent several times is a list.
func object(params url.Values) []byte {
	members := map[string]any{}
	for name, values := range params {
		if members[name] = values; len(values) == 1 {
			members[name] = values[0]
		}
	}
	b, err := json.Marshal(members)
	if err != nil {
		panic(err) // texts always marshal
	}
	return b
}

// params are all parameters of a request by the provider's names.
func (s *Spec) params(query query.Node, fetch patra.Window, position string, vars Vars) (url.Values, error) {
	if s.Pagination.Type == pageTime && position != "" {
		at, err := patra.ParseInstant(position)
		if err != nil {
			return nil, err
		}
		fetch.From = s.Window.Precision.Floor(at)
	}
	params := url.Values{}
	for k, v := range s.Request.Query {
		if filled := vars.fill(v, s.Parameters); filled != "" || v == "" {
			params.Set(k, filled)
		}
	}
	if s.Role != roleDetail { // records by id are not searched for
		asked, err := s.Query.Render(s.Bind(query, fetch))
		if err != nil {
			return nil, err
		}
		if asked.Empty { // a request without parameters would ask for everything
			return nil, matchesNothing()
		}
		maps.Copy(params, asked.Params)
	}
	p := s.Pagination
	if p.SizeParam != "" {
		params.Set(p.SizeParam, strconv.Itoa(p.PageSize))
	}
	if number, size, err := pageOf(position); p.Type == pagePage && err == nil && size > 0 {
		position = strconv.FormatInt(number, 10)
		params.Set(p.SizeParam, strconv.FormatInt(size, 10))
	}
	if len(p.Token.Alone) > 0 && position != s.First() {
		maps.DeleteFunc(params, func(name string, _ []string) bool { return !slices.Contains(p.Token.Alone, name) })
	}
	if p.PositionParam != "" && position != "" && p.Type != pageTime && p.Type != pageURL {
		params.Set(p.PositionParam, position)
	}
	return params, nil
}

// follow takes the provider's link to the next page. It must stay at the same host, and our own parameters that the
// provider forgot are put back.
func follow(base *url.URL, link string, params url.Values) (string, error) {
	next, err := base.Parse(strings.ReplaceAll(link, " ", "%20")) // some providers send spaces as they are
	if err != nil {
		return "", awayFault("the link to the next page is no address; it should lead to " + origin(base))
	}
	if next.Host != base.Host || next.Scheme != base.Scheme || next.User != nil {
		return "", awayFault(fmt.Sprintf("the link to the next page leads to %s, away from %s; it is not followed", origin(next), origin(base)))
	}
	q := next.Query()
	for name, values := range params {
		if !q.Has(name) {
			q[name] = values
		}
	}
	next.RawQuery, next.Fragment = q.Encode(), ""
	return next.String(), nil
}

// CheckLink finds out whether the link to the next page can be followed. Positions of other kinds lead nowhere.
func (s *Spec) CheckLink(baseURL string, vars Vars, link string) error {
	if s.Pagination.Type != pageURL || link == "" {
		return nil
	}
	base, err := url.Parse(cmp.Or(baseURL, s.Address(vars)))
	if err != nil {
		return err
	}
	_, err = follow(base, link, nil)
	return err
}

// origin is an address as far as it says who is asked, without what could be a name and a password in it. What is not ASCII is
// shown as such: hosts can be made to look like others.
func origin(u *url.URL) string {
	host := u.Host
	if quoted := strconv.QuoteToASCII(host); quoted != `"`+host+`"` || host == "" {
		host = quoted
	}
	if u.User != nil {
		host = "somebody@" + host
	}
	return u.Scheme + "://" + host
}

func awayFault(text string) *patra.Fault {
	return &patra.Fault{Level: patra.LevelRetry, Code: patra.CodeLinkAway, Path: "pagination.next", Text: text}
}

// Digest is a call for the ledger: what was sent, without secrets.
func (c Call) Digest() json.RawMessage {
	d := map[string]any{"method": c.Method, "url": c.URL, "headers": c.Headers}
	if len(c.Body) > 0 {
		d["body"] = string(bytes.ToValidUTF8(c.Body, []byte("\ufffd")))
	}
	b, err := json.Marshal(d)
	if err != nil {
		panic(err) // texts always marshal
	}
	return b
}
