package source

import (
	"fmt"
	"net/url"
	"strings"

	"patra"
)

// Call is one request, ready to be sent.
type Call struct {
	Method  string
	URL     string
	Headers map[string]string
}

// First is the position of the first page.
func (s *Spec) First() string { return s.Pagination.Initial }

// Build makes the request for the page at position of the given fetch window. baseURL, if not empty, takes the
// place of the source's own.
func (s *Spec) Build(fetch patra.Window, position, baseURL string, vars Vars) (Call, error) {
	if baseURL == "" {
		baseURL = s.HTTP.BaseURL
	}
	u, err := url.Parse(baseURL)
	if err != nil || u.Host == "" {
		return Call{}, fmt.Errorf("base URL %q is not an address", baseURL)
	}
	u = u.JoinPath(s.Request.Path)
	q := url.Values{}
	for k, v := range s.Request.Query {
		q.Set(k, v)
	}
	for k, v := range s.renderWindow(fetch) {
		q.Set(k, v)
	}
	q.Set(s.Pagination.SizeParam, fmt.Sprint(s.Pagination.PageSize))
	q.Set(s.Pagination.TokenParam, position)
	u.RawQuery = q.Encode()
	headers := map[string]string{}
	for k, v := range s.HTTP.Headers {
		headers[k] = vars.fill(v)
	}
	return Call{Method: s.Request.Method, URL: u.String(), Headers: headers}, nil
}

// renderWindow writes a half-open window with the provider's own kind of bounds.
func (s *Spec) renderWindow(w patra.Window) map[string]string {
	from, to := w.From, w.To
	switch s.Window.Upper {
	case "INCLUSIVE_DAY":
		to = patra.UnitDay.Prev(patra.UnitDay.Ceil(to))
	case "INCLUSIVE_SECOND":
		to = patra.UnitSecond.Prev(patra.UnitSecond.Ceil(to))
	}
	values := strings.NewReplacer("{{from}}", s.date(from), "{{to}}", s.date(to))
	out := map[string]string{}
	for _, rule := range s.Render {
		if rule.Field != s.Window.Field || rule.Op != "RANGE" {
			continue
		}
		for name, parts := range rule.Params {
			p := s.Params[name]
			filled := make([]string, len(parts))
			for i, part := range parts {
				filled[i] = values.Replace(part)
			}
			out[p.Name] = strings.Join(filled, p.Join)
		}
	}
	return out
}

// date writes a moment as finely as the provider filters.
func (s *Spec) date(i patra.Instant) string {
	if s.Window.Precision == patra.UnitDay || s.Window.Precision == patra.UnitMonth {
		return i.Time().Format("2006-01-02")
	}
	return i.Time().Format("2006-01-02T15:04:05Z")
}
