package source

import (
	"net/url"
	"strings"

	"patra"
	"patra/internal/query"
)

// CanCount reports whether the provider says how many records there are. An estimate is a count too.
func (s *Spec) CanCount() bool {
	return s.Response.Total.Path != "" && s.Response.Total.Trust != patra.TrustNone
}

// BuildCount makes the cheapest request whose answer says how many records there are; see Program.Count. It is the first
// page with a single record, and without a position: a provider that keeps the state of a walk must not begin one.
func (s *Spec) BuildCount(query query.Node, fetch patra.Window, baseURL string, vars Vars) (Call, error) {
	p := s.Pagination
	position := ""
	if strings.Contains(s.Request.Path, "${"+p.PositionParam+"}") { // an address cannot do without
		position = s.First()
	}
	return s.build(baseURL, vars, func() (url.Values, error) {
		params, err := s.params(query, fetch, s.First(), vars)
		if err != nil {
			return nil, err
		}
		if position == "" {
			params.Del(p.PositionParam)
		}
		if p.SizeParam != "" {
			params.Set(p.SizeParam, "1")
		}
		return params, nil
	}, position)
}

// Count reads how many records there are from the answer to BuildCount; nil if the provider does not say this time. The
// way on is not looked for, because an answer to a request without a position may have none.
func (p *Program) Count(status int, body []byte) (*int64, error) {
	page, err := p.CountPage(status, body)
	page.walked.release()
	return page.Total, err
}

// CountPage is Count with what else came: items that nobody asked for are evidence all the same.
func (p *Program) CountPage(status int, body []byte) (Page, error) {
	page, _, err := p.open(status, body, p.Spec.First())
	if err == nil && page.End == patra.EndEmptyCode {
		page.Total = new(int64)
	}
	return page, err
}
