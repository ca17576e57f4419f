package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"patra"
	"patra/internal/executor"
	"patra/internal/expr"
	"patra/internal/gate"
	"patra/internal/planner"
	"patra/internal/source"
)

// triedPage is one real page of a source, as it would be harvested.
type triedPage struct {
	Method   string              `json:"method"`
	URL      string              `json:"url"`
	Status   int                 `json:"status"`
	Bytes    int                 `json:"bytes"`
	Items    int                 `json:"items"`
	HasNext  bool                `json:"has_next"`
	Next     string              `json:"next,omitempty"`
	End      string              `json:"end,omitempty"`
	Total    *int64              `json:"total,omitempty"`
	Records  []patra.Record      `json:"records"`
	Problems []patra.Quarantined `json:"problems"`

	call   source.Call // as it was made; who we are is added when it is sent
	auth   source.Auth
	got    executor.Tried
	second *triedPage // where a search gives only ids: the request for what is behind them
}

func (a *app) sourceTestCmd() *cobra.Command {
	var f askFlags
	var out format
	var most int
	c := &cobra.Command{
		Use: "test SOURCE", Short: "Ask for one real page and show what would be stored", Args: exactly("SOURCE"),
		Long:    "Ask a provider for the first page of a window (by default the day before yesterday) and show how its records are read.\nNothing is stored.",
		Example: "  patra source test crossref --contact me@example.org --from 2026-11-01 --to 2026-11-02",
		RunE: func(c *cobra.Command, args []string) error {
			req, err := a.request(c.Context(), args[0], f)
			if err != nil {
				return err
			}
			aDay(&req)
			p, err := a.tester()
			if err != nil {
				return err
			}
			page, err := tryPage(c.Context(), p, req, most)
			if err != nil {
				return err
			}
			if out != "table" {
				return printValue(a.stdout, out, page)
			}
			page.print(a.stdout)
			return nil
		},
	}
	a.addAskFlags(c, &f)
	c.Flags().IntVar(&most, "limit", 3, "show at most this many records")
	formatFlag(c, &out)
	return c
}

// aDay is what is tried where nobody says when: the day before yesterday.
func aDay(req *planner.Request) {
	if req.From == nil {
		day := patra.UnitDay.Floor(now()) - 2*patra.Day
		req.From = &day
	}
}

// tester asks without a store: nothing of what it does is written down.
func (a *app) tester() (*executor.Prober, error) {
	c, err := a.load()
	if err != nil {
		return nil, err
	}
	return &executor.Prober{Store: unwritten{}, Gate: gate.NewLocal(), Client: clientFor, Vars: source.Vars{Contact: c.Contact, Version: version}, Log: a.logger(c), Credentials: a.credentials()}, nil
}

// tryPage sends one request, or two where a search gives only ids.
func tryPage(ctx context.Context, p *executor.Prober, req planner.Request, most int) (*triedPage, error) {
	spec, err := source.Compile(req.Source, source.Options{Endpoint: req.Endpoint, Operation: patra.Harvest, Contact: req.Contact, Parameters: req.Params})
	if err != nil {
		return nil, err
	}
	if err := spec.Harvestable(); err != nil {
		return nil, err
	}
	if err := spec.Guarded(req.BaseURL); err != nil {
		return nil, err
	}
	if _, err := spec.Access(p.Credentials.Have); err != nil {
		return nil, err
	}
	query := expr.All()
	if req.Query != "" {
		if query, err = expr.Parse(req.Query, spec.Query.Fields); err != nil {
			return nil, err
		}
		if err := spec.CanAsk(query); err != nil {
			return nil, err
		}
	}
	program, err := spec.Compile()
	if err != nil {
		return nil, err
	}
	vars := source.Vars{Contact: req.Contact, Version: version}
	call, err := spec.Build(query, window(req.From, req.To).Widen(spec.Window.Overlap, spec.Window.Precision), spec.First(), req.BaseURL, vars)
	if err != nil {
		return nil, err
	}
	page, items, err := try(ctx, p, program, call, req.BaseURL)
	if err != nil || spec.Second == nil || len(items) == 0 {
		return page.fill(program, items, most), err
	}
	ids := page.fill(program, items, most).Records
	second, err := spec.Second.Compile()
	if err != nil {
		return nil, err
	}
	var wanted []string
	for _, r := range ids {
		wanted = append(wanted, r.ProviderID)
	}
	if call, err = spec.BuildIDs(wanted, req.BaseURL, vars); err != nil {
		return nil, err
	}
	details, items, err := try(ctx, p, second, call, req.BaseURL)
	page.second = details
	return page.fill(second, items, most), err
}

// try sends a request and reads the answer.
func try(ctx context.Context, p *executor.Prober, program *source.Program, call source.Call, baseURL string) (*triedPage, [][]byte, error) {
	page := &triedPage{Method: call.Method, URL: call.URL, call: call, auth: program.Spec.Auth}
	got, err := p.Try(ctx, program, call, baseURL)
	page.got = got
	if err != nil {
		err = fmt.Errorf("%s %s: %w", call.Method, call.URL, err)
		if got.Status == 0 { // nobody answered
			err = environment(fmt.Errorf("%w. See that this address can be reached from here; another one is named with --base-url", err))
		}
		return page, nil, err
	}
	page.Status, page.Bytes, page.Items = got.Status, got.Bytes, len(got.Items)
	page.HasNext, page.Next, page.End, page.Total = got.HasNext, got.Next, got.End, got.Total
	return page, got.Items, nil
}

// unwritten takes the rows of requests of which nothing is to be stored.
type unwritten struct{}

// OpenRequest implements executor.Requests.
func (unwritten) OpenRequest(context.Context, patra.Instant, patra.RequestOpen) (int64, error) {
	return 0, nil
}

// CloseRequest implements executor.Requests.
func (unwritten) CloseRequest(context.Context, int64, patra.Exchange) error { return nil }

// fill reads some of the items as records.
func (p *triedPage) fill(program *source.Program, items [][]byte, most int) *triedPage {
	p.Records, p.Problems = []patra.Record{}, []patra.Quarantined{}
	for i, raw := range items {
		o, err := program.Item(raw, patra.InstantOf(time.Now()))
		if err != nil {
			f := patra.AsFault(err)
			p.Problems = append(p.Problems, patra.Quarantined{ItemNo: i + 1, ID: o.ID, Code: f.Code, Path: f.Path, Fragment: []byte(f.Text)})
			continue
		}
		if len(p.Records) < most {
			p.Records = append(p.Records, patra.Record{Source: program.Spec.Source, Type: program.Spec.RecordType, ProviderID: o.ID, UpdatedAt: o.UpdatedAt, Deleted: o.Deleted, Fields: o.Fields, Raw: []byte("null")})
		}
	}
	return p
}

func (p *triedPage) print(w io.Writer) {
	fmt.Fprintf(w, "Request  %s %s\nAnswer   %d, %s bytes, %s", p.Method, p.URL, p.Status, thousands(int64(p.Bytes)), plural(int64(p.Items), "item"))
	if p.Total != nil {
		fmt.Fprintf(w, " of %s", thousands(*p.Total))
	}
	if p.HasNext {
		fmt.Fprintf(w, ", more at %.60s\n", p.Next)
	} else {
		fmt.Fprintf(w, ", the end (%s)\n", p.End)
	}
	for _, r := range p.Records {
		updated := "no time"
		if r.UpdatedAt != nil {
			updated = r.UpdatedAt.String()
		}
		fmt.Fprintf(w, "\n%s  %s\n", r.ProviderID, updated)
		_ = printIndented(w, r.Fields)
	}
	for _, q := range p.Problems {
		fmt.Fprintf(w, "\nItem %d cannot become a record: %s at %s: %s\n", q.ItemNo, q.Code, q.Path, q.Fragment)
	}
}
