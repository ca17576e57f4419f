package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"patra"
	"patra/internal/api"
	"patra/internal/source"
)

// SourceRequestBody is what every request to a provider says of itself.
type SourceRequestBody struct {
	Endpoint string            `json:"endpoint,omitempty" maxLength:"64" doc:"if the source has several"`
	Query    string            `json:"query,omitempty" maxLength:"10000" doc:"which records; nothing is all of them"`
	From     string            `json:"from,omitempty" maxLength:"40" doc:"start of the window, inclusive: 2026-01-31 or 2026-01-31T09:30:00Z"`
	To       string            `json:"to,omitempty" maxLength:"40" doc:"end of the window, exclusive"`
	Params   map[string]string `json:"params,omitempty" maxProperties:"50" doc:"parameters of the source"`
}

// flags is what a command would have been given.
func (b SourceRequestBody) flags() planFlags {
	f := planFlags{endpoint: b.Endpoint, query: b.Query, from: b.From, to: b.To}
	for _, name := range slices.Sorted(maps.Keys(b.Params)) {
		f.params = append(f.params, name+"="+b.Params[name])
	}
	return f
}

// address is where a caller may send us. Whoever can call must not be able to make this machine ask whatever they like: an
// address that is named is trusted, even if it is inside of our network. So it is the one that this server was started with, or
// the source's own, which is asked as always: with everything that guards the way out.
func (d *apiHandlers) address(ctx context.Context, code, said string) (string, error) {
	said = strings.TrimSuffix(said, "/") // which of the two it is does not depend on the slash; what is asked keeps its own
	if said == "" || said == strings.TrimSuffix(d.app.mirror, "/") {
		return d.app.mirror, nil
	}
	f, _, err := d.app.activeSource(ctx, code)
	if err != nil {
		return "", err
	}
	if slices.Contains(ownAddresses(f), said) {
		return "", nil
	}
	return "", api.Refuse(http.StatusForbidden, "base_url is neither what this server was started with (patra serve --base-url) nor the address of %s; nobody can send us elsewhere from outside", code)
}

// ownAddresses are those that a source file names.
func ownAddresses(f *source.File) (all []string) {
	add := func(address string) {
		if address != "" {
			all = append(all, strings.TrimSuffix(address, "/"))
		}
	}
	add(f.Defaults.HTTP.BaseURL)
	for _, e := range f.Endpoints {
		add(e.HTTP.BaseURL)
	}
	return all
}

// queryView is a query and what it becomes, with the fields that it could be about.
type queryView struct {
	Explanation
	AST    any      `json:"ast" doc:"the query as it is kept"`
	Fields []string `json:"fields" nullable:"false" doc:"that this source can be asked about"`
}

// testedPage is one real page of a source: the request as it was sent, the answer as it came, and what would be stored.
type testedPage struct {
	Request  sentRequest     `json:"request"`
	Response receivedAnswer  `json:"response"`
	Detail   *testedExchange `json:"detail,omitempty" doc:"where a search gives only ids: the request for what is behind them"`
	Items    int             `json:"items"`
	HasNext  bool            `json:"has_next"`
	Next     string          `json:"next,omitempty"`
	End      string          `json:"end,omitempty"`
	Total    *int64          `json:"total,omitempty"`
	Records  []patra.Record  `json:"records" nullable:"false"`
	Problems []unreadItem    `json:"problems" nullable:"false"`
	Error    string          `json:"error,omitempty" doc:"why the answer is no page"`
	Code     string          `json:"error_code,omitempty"`
}

// unreadItem is an item that could not become a record.
type unreadItem struct {
	Item int    `json:"item"`
	ID   string `json:"id,omitempty"`
	Code string `json:"code"`
	Path string `json:"path,omitempty"`
	Text string `json:"text"`
}

type testedExchange struct {
	Request  sentRequest    `json:"request"`
	Response receivedAnswer `json:"response"`
}

// sentRequest is a request as it was made; who we are was added when it left.
type sentRequest struct {
	Method  string            `json:"method"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers" nullable:"false"`
	Body    string            `json:"body,omitempty"`
	Auth    string            `json:"auth,omitempty" doc:"how we said who we are; secrets are named and never shown"`
}

type receivedAnswer struct {
	Status    int               `json:"status" doc:"0: nobody answered"`
	Headers   map[string]string `json:"headers" nullable:"false"`
	Bytes     int               `json:"bytes"`
	Body      string            `json:"body"`
	Truncated bool              `json:"truncated"`
}

// mostShown is how much of an answer is shown.
const mostShown = 512 << 10

// mostTried is how many records of a page are shown.
const mostTried = 20

func (d *apiHandlers) askRoutes(s *api.Server) {
	type explainWish struct {
		Body struct {
			Source string `json:"source" minLength:"1" maxLength:"47"`
			SourceRequestBody
		}
	}
	api.Post(s, "/queries/explain", api.Look, api.Doc{ID: "explain-query", Summary: "The request that a query becomes, and the fate of every clause; nothing is sent"}, func(ctx context.Context, in *explainWish) (queryView, error) {
		f := in.Body.flags()
		f.baseURL = d.app.mirror
		e, spec, err := d.app.explain(ctx, in.Body.Source, f)
		if err != nil {
			return queryView{}, err
		}
		return queryView{Explanation: *e, AST: e.AST, Fields: slices.Sorted(maps.Keys(spec.Query.Fields))}, nil
	})
	type testWish struct {
		SourcePath
		Body struct {
			SourceRequestBody
			BaseURL string `json:"base_url,omitempty" maxLength:"400" doc:"what this server was started with, or the source's own address"`
		}
	}
	api.Post(s, "/sources/{code}/test", api.Steer, api.Doc{ID: "test-source", Summary: "Ask for one real page, and show what would be stored; nothing is", Long: true}, func(ctx context.Context, in *testWish) (testedPage, error) {
		f := in.Body.flags()
		var err error
		if f.baseURL, err = d.address(ctx, in.Code, in.Body.BaseURL); err != nil {
			return testedPage{}, err
		}
		req, err := d.app.request(ctx, in.Code, f)
		if err != nil {
			return testedPage{}, err
		}
		defaultTestWindow(&req)
		spec, err := source.Compile(req.Source, source.Options{Endpoint: req.Endpoint, Operation: patra.Harvest, Contact: req.Contact, Parameters: req.Params})
		if err != nil {
			return testedPage{}, err
		}
		// As everybody does who shares the store: through its gate, with a row for each request, and not where somebody holds
		// requests back.
		what := map[string]any{"endpoint": spec.Endpoint, "query": req.Query, "from": req.From, "to": req.To, "base_url": req.BaseURL, "params": req.Params, "over": "http"}
		if _, err := d.store.Audit(ctx, audited(ctx, patra.AuditInspect, spec.Source, "", what)); err != nil { // before anything is sent
			return testedPage{}, err
		}
		p := d.app.prober(d.cfg, d.store, patra.WorkScope{Source: spec.Source, Endpoint: spec.Endpoint, Operation: patra.Harvest, Repository: spec.Repository()})
		page, err := tryPage(ctx, p, req, d.cfg.Sources.Insecure, mostTried)
		return tested(page, err)
	})
}

// tested is what a caller sees of a page. What a provider did wrong is part of it.
func tested(page *samplePage, err error) (out testedPage, _ error) {
	fault, told := errors.AsType[*patra.Fault](err)
	if page == nil || err != nil && !told {
		return out, err
	}
	out = testedPage{Items: page.Items, HasNext: page.HasNext, Next: page.Next, End: page.End, Total: page.Total, Records: append([]patra.Record{}, page.Records...), Problems: []unreadItem{}}
	for _, q := range page.Problems {
		out.Problems = append(out.Problems, unreadItem{q.ItemNo, q.ID, q.Code, q.Path, string(q.Fragment)})
	}
	out.Request, out.Response = page.exchange()
	if page.second != nil {
		out.Detail = &testedExchange{}
		out.Detail.Request, out.Detail.Response = page.second.exchange()
	}
	if told {
		out.Error, out.Code = fault.Error(), fault.Code
	}
	return out, nil
}

// exchange is what was sent and what came.
func (p *samplePage) exchange() (sentRequest, receivedAnswer) {
	sent := sentRequest{Method: p.call.Method, URL: p.call.URL, Headers: p.call.Headers, Body: string(p.call.Body)}
	if sent.Headers == nil {
		sent.Headers = map[string]string{}
	}
	if p.auth.Type != "" && p.auth.Type != source.AuthNone {
		sent.Auth = strings.TrimSpace(fmt.Sprintf("%s %s", p.auth.Type, strings.Join(secretNames(p.auth), ", ")))
	}
	got := receivedAnswer{Status: p.got.Status, Headers: p.got.Headers, Bytes: p.got.Bytes, Truncated: len(p.got.Body) > mostShown}
	if got.Headers == nil {
		got.Headers = map[string]string{}
	}
	got.Body = strings.ToValidUTF8(string(p.got.Body[:min(len(p.got.Body), mostShown)]), "\ufffd")
	return sent, got
}

func secretNames(a source.Auth) (names []string) {
	for _, n := range a.Secrets() {
		names = append(names, n.Name)
	}
	return names
}
