package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"patra"
	"patra/internal/planner"
	"patra/internal/registry"
	"patra/internal/source"
)

// planFlags are what a person can say about a harvest, a backfill or an update.
type planFlags struct {
	operation                                    patra.Operation
	endpoint, from, to, baseURL, query, campaign string
	params                                       []string
	force, newest, byID, noProbe                 bool
	idsOf                                        string
	pick                                         pickFlags
	priority                                     int
}

func (a *app) addAskFlags(c *cobra.Command, f *planFlags) {
	fl := c.Flags()
	fl.StringVar(&f.endpoint, "endpoint", "", "endpoint of the source, if it has several")
	fl.StringVarP(&f.query, "query", "q", "", "which records, such as 'title:\"heart failure\" AND NOT type:book' (see patra query explain)")
	fl.StringVar(&f.from, "from", "", "start of the window, inclusive: 2026-01-31 or 2026-01-31T09:30:00Z")
	fl.StringVar(&f.to, "to", "", "end of the window, exclusive")
	fl.StringVar(&f.baseURL, "base-url", "", "mirror, proxy or simulator to ask in place of the source's own address")
	fl.StringVar(&a.contact, "contact", "", "address sent where the provider asks for one, in place of contact")
	fl.StringArrayVar(&f.params, "param", nil, "NAME=VALUE of a parameter of the source; may be given several times")
	fl.BoolVar(&f.force, "force", false, "plan and read again what is already covered")
	fl.BoolVar(&f.noProbe, "no-probe", false, "do not ask the provider how much there is; plan from history alone")
	fl.IntVar(&f.priority, "priority", 0, "place in the queue, 1 is first and 9 is last (default 2 for harvests, 5 for updates, 8 for backfills)")
}

// addPastFlags are the flags of work that is not a harvest.
func addPastFlags(c *cobra.Command, f *planFlags) {
	fl := c.Flags()
	fl.StringVar(&f.campaign, "campaign", "", "name under which later calls go on with the same work (default "+patra.DefaultCampaign+")")
	fl.BoolVar(&f.newest, "newest-first", false, "begin at the end of the window")
}

// request turns the flags into what a planner understands.
func (a *app) request(ctx context.Context, code string, f planFlags) (planner.Request, error) {
	c, err := a.load()
	if err != nil {
		return planner.Request{}, err
	}
	file, rows, err := a.activeSource(ctx, code)
	if err != nil {
		return planner.Request{}, err
	}
	req := planner.Request{Source: file, Endpoint: f.endpoint, Contact: c.Contact, BaseURL: f.baseURL, Query: f.query, Force: f.force,
		Operation: f.operation, Campaign: f.campaign, Newest: f.newest, ByID: f.byID || f.idsOf != "", IDsOf: f.idsOf, Priority: f.priority}
	if req.Pick, err = f.pick.pick(); err != nil {
		return req, err
	}
	if req.Pick != nil {
		if f.idsOf != "" {
			return req, patra.Invalid("ids_of", "{ids_of} takes all ids of another source; it cannot be narrowed")
		}
		req.ByID = true
	}
	if from, _, _ := strings.Cut(f.idsOf, "."); from != "" {
		if _, _, err := a.activeSource(ctx, from); err != nil {
			return req, err
		}
	}
	if f.priority < 0 || f.priority > 9 {
		return req, patra.Invalid("priority", "{priority} %d is not between 1 and 9", f.priority)
	}
	if req.Params, err = pairs("params", f.params); err != nil {
		return req, err
	}
	if req.From, err = instantField("from", f.from); err != nil {
		return req, err
	}
	if req.To, err = instantField("to", f.to); err != nil {
		return req, err
	}
	if req.From != nil && req.To != nil && *req.From >= *req.To {
		return req, patra.Invalid("from", "{from} %s does not lie before {to} %s", f.from, f.to)
	}
	if req, err = resolveOperation(rows, req); err != nil {
		return req, err
	}
	if u, err := url.Parse(req.BaseURL); req.BaseURL != "" && (err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || (u.Scheme != "http" && u.Scheme != "https")) {
		return req, patra.Invalid("base_url", "{base_url} %q is not an address; write http://127.0.0.1:8090 or https://host/path", source.WithoutPassword(f.baseURL))
	}
	return req, nil
}

// resolveOperation chooses the rows for the operation of a request: what they say is what is planned with, and where each setting
// is from is kept with the plan.
func resolveOperation(rows []patra.RegistryRow, req planner.Request) (planner.Request, error) {
	f, err := registry.FileFor(rows, compileRequestOf(rows, req))
	if err != nil {
		return req, err
	}
	req.Source, req.Origin = f, origins(rows, req)
	return req, nil
}

// compileRequestOf is what a request asks of the rows.
func compileRequestOf(rows []patra.RegistryRow, req planner.Request) registry.CompileRequest {
	q := registry.CompileRequest{At: present(rows), Options: source.Options{Endpoint: req.Endpoint, Operation: cmp.Or(req.Operation, patra.Harvest), Contact: req.Contact, Parameters: req.Params}}
	if req.ByID && req.Endpoint == "" {
		q.Options.Endpoint = req.Source.ByID()
	}
	return q
}

// origins says which layer each setting of a spec is from. A spec that does not compile has none; the planner says why.
func origins(rows []patra.RegistryRow, req planner.Request) json.RawMessage {
	_, fields, err := registry.Explain(rows, compileRequestOf(rows, req))
	if err != nil {
		return nil
	}
	from := map[string]string{}
	for _, f := range fields {
		from[f.Path] = f.Layer.String()
	}
	b, err := json.Marshal(from)
	if err != nil {
		return nil
	}
	return b
}

// pairs reads NAME=VALUE.
func pairs(field string, said []string) (map[string]string, error) {
	out := map[string]string{}
	for _, s := range said {
		name, value, ok := strings.Cut(s, "=")
		if !ok || name == "" {
			return nil, patra.Invalid(field, "{"+field+"} %q is not NAME=VALUE", s)
		}
		out[name] = value
	}
	return out, nil
}

func instantField(field, value string) (*patra.Instant, error) {
	if value == "" {
		return nil, nil
	}
	i, err := patra.ParseInstant(value)
	if err != nil {
		return nil, patra.Invalid(field, "{"+field+"}: %s", err)
	}
	return &i, nil
}

// addIDFlags are the flags of updates by id.
func addIDFlags(c *cobra.Command, f *planFlags) {
	fl := c.Flags()
	fl.BoolVar(&f.byID, "by-id", false, "UPDATE: fetch known records by their ids, in place of a stretch of time")
	fl.StringVar(&f.idsOf, "ids-of", "", "UPDATE: fetch by the ids of another source, such as crossref, or by a field of its records, such as pubmed.doi")
	f.pick.add(fl)
}
