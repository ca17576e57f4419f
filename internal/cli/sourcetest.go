package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"patra"
	"patra/internal/executor"
	"patra/internal/gate"
	"patra/internal/planner"
	"patra/internal/query"
	"patra/internal/source"
)

// samplePage is one real page of a source, as it would be harvested.
type samplePage struct {
	Method   string               `json:"method"`
	URL      string               `json:"url"`
	Status   int                  `json:"status"`
	Bytes    int                  `json:"bytes"`
	Items    int                  `json:"items"`
	HasNext  bool                 `json:"has_next"`
	Next     string               `json:"next,omitempty"`
	End      string               `json:"end,omitempty"`
	Total    *int64               `json:"total,omitempty"`
	Records  []patra.Record       `json:"records"`
	Problems []patra.RejectedItem `json:"problems"`
	Repairs  patra.Repairs        `json:"repairs,omitempty"` // what of the answer had to be repaired to read it
	Read     int                  `json:"read"`              // how many items were tried: where a search gives only ids, some of them
	Absent   []string             `json:"absent"`            // what was looked for in all of them and found in none: fields, and updatedAt
	Outside  int                  `json:"outside"`           // items with a time outside of the window that was asked for
	Window   *patra.Window        `json:"window,omitempty"`  // which is none where it is not sent

	call   source.Call // as it was made; who we are is added when it is sent
	auth   source.Auth
	got    executor.TestResponse
	second *samplePage // where a search gives only ids: the request for what is behind them
}

func (a *app) sourceTestCmd() *cobra.Command {
	var f planFlags
	var out format
	var most int
	c := &cobra.Command{
		Use: "test SOURCE", Short: "Ask for one real page and show what would be stored", Args: exactArgs("SOURCE"),
		Long:    "Ask a provider for the first page of a window (by default the day before yesterday) and show how its records are read.\nNothing is stored.",
		Example: "  patra source test crossref --contact me@example.org --from 2026-11-01 --to 2026-11-02",
		RunE: func(c *cobra.Command, args []string) error {
			req, err := a.request(c.Context(), args[0], f)
			if err != nil {
				return err
			}
			defaultTestWindow(&req)
			p, err := a.tester()
			if err != nil {
				return err
			}
			page, err := tryPage(c.Context(), p, req, a.config.Sources.Insecure, most)
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

// defaultTestWindow is what is tried where nobody says when: the day before yesterday.
func defaultTestWindow(req *planner.Request) {
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
	return &executor.Prober{Store: discardLedger{}, Gate: gate.NewLocal(), Client: clientFor(c), Vars: source.Vars{Contact: c.Contact, Version: a.version}, Log: a.logger(c), Credentials: a.credentials()}, nil
}

// tryPage sends one request, or two where a search gives only ids.
func tryPage(ctx context.Context, p *executor.Prober, req planner.Request, insecure []string, most int) (*samplePage, error) {
	spec, err := source.Compile(req.Source, source.Options{Endpoint: req.Endpoint, Operation: patra.Harvest, Contact: req.Contact, Parameters: req.Params})
	if err != nil {
		return nil, err
	}
	if err := spec.Harvestable(); err != nil {
		return nil, err
	}
	if err := spec.RequireHTTPS(req.BaseURL, insecure); err != nil {
		return nil, err
	}
	if _, err := spec.Access(p.Credentials.Have); err != nil {
		return nil, err
	}
	q := query.All()
	if req.Query != "" {
		if q, err = query.Parse(req.Query, spec.Query.Fields); err != nil {
			return nil, err
		}
		if err := spec.CheckQuery(q); err != nil {
			return nil, err
		}
	}
	program, err := spec.Compile()
	if err != nil {
		return nil, err
	}
	vars := source.Vars{Contact: req.Contact, Version: p.Vars.Version}
	asked := window(req.From, req.To).Widen(spec.Window.Overlap, spec.Window.Precision)
	call, err := spec.Build(q, asked, spec.First(), req.BaseURL, vars)
	if err != nil {
		return nil, err
	}
	page, items, err := try(ctx, p, program, call, req.BaseURL)
	if spec.Window.Strategy != patra.StrategyLandmark {
		page.Window = &asked
	}
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
	page.second, page.Repairs = details, page.Repairs.Add(details.Repairs)
	return page.fill(second, items, most), err
}

// try sends a request and reads the answer.
func try(ctx context.Context, p *executor.Prober, program *source.Program, call source.Call, baseURL string) (*samplePage, [][]byte, error) {
	page := &samplePage{Method: call.Method, URL: call.URL, call: call, auth: program.Spec.Auth}
	got, err := p.Try(ctx, program, call, baseURL)
	page.got = got
	if err != nil {
		err = fmt.Errorf("%s %s: %w", call.Method, call.URL, err)
		if got.Status == 0 && patra.KindOf(err) != patra.KindConflict { // no answer, and it was permitted to ask
			err = unreachable(err)
		}
		return page, nil, err
	}
	page.Status, page.Bytes, page.Items = got.Status, got.Bytes, len(got.Items)
	page.HasNext, page.Next, page.End, page.Total, page.Repairs = got.HasNext, got.Next, got.End, got.Total, got.Repairs
	return page, got.Items, nil
}

// discardLedger takes the rows of requests of which nothing is to be stored.
type discardLedger struct{}

// OpenRequest implements executor.RequestLedger.
func (discardLedger) OpenRequest(context.Context, patra.Instant, patra.RequestOpen) (int64, error) {
	return 0, nil
}

// CloseRequest implements executor.RequestLedger.
func (discardLedger) CloseRequest(context.Context, int64, patra.Exchange) error { return nil }

// fill reads some of the items as records.
func (p *samplePage) fill(program *source.Program, items [][]byte, most int) *samplePage {
	p.Records, p.Problems, p.Outside, p.Read = []patra.Record{}, []patra.RejectedItem{}, 0, len(items)
	found := fieldHits{}
	for i, raw := range items {
		o, err := program.Item(raw, patra.InstantOf(time.Now()))
		if err != nil {
			f := patra.AsFault(err)
			p.Problems = append(p.Problems, patra.RejectedItem{ItemNo: i + 1, ID: o.ID, Code: f.Code, Path: f.Path, Fragment: []byte(f.Text)})
			continue
		}
		found.in(o)
		if o.UpdatedAt != nil && p.Window != nil && !p.Window.Contains(*o.UpdatedAt) {
			p.Outside++
		}
		if len(p.Records) < most {
			p.Records = append(p.Records, patra.Record{Source: program.Spec.Source, Type: program.Spec.RecordType, ProviderID: o.ID, UpdatedAt: o.UpdatedAt, Deleted: o.Deleted, Fields: o.Fields, Raw: []byte("null")})
		}
	}
	p.Absent = found.never(program.Spec)
	return p
}

// fieldHits counts in how many items something was found.
type fieldHits map[string]int

// timeOfChange stands among the fields under the name that it has in a source file, which no field of a mapping can have.
const timeOfChange = "response.updatedAt"

// in looks at one record. A deleted one need not have anything.
func (f fieldHits) in(o patra.Observation) {
	var fields map[string]json.RawMessage
	if o.Deleted || json.Unmarshal(o.Fields, &fields) != nil {
		return
	}
	f[""]++
	for name := range fields {
		f[name]++
	}
	if o.UpdatedAt != nil {
		f[timeOfChange]++
	}
}

// never is what a source looks for and no item has, with the path that found nothing. One path that is wrong is silent
// otherwise, as a field that finds nothing is left out.
func (f fieldHits) never(s *source.Spec) []string {
	absent := []string{}
	if f[""] == 0 { // nothing was looked at
		return absent
	}
	if len(s.Response.UpdatedAt) > 0 && f[timeOfChange] == 0 {
		absent = append(absent, fmt.Sprintf("%s (%s)", timeOfChange, strings.Join(s.Response.UpdatedAt, ", ")))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Mapping)) {
		if f[name] == 0 {
			absent = append(absent, fmt.Sprintf("mapping.%s (%s)", name, s.Mapping[name]))
		}
	}
	return absent
}

func (p *samplePage) print(w io.Writer) {
	fmt.Fprintf(w, "Request  %s %s\nAnswer   %d, %s bytes, %s", p.Method, p.URL, p.Status, thousands(int64(p.Bytes)), plural(int64(p.Items), "item"))
	if p.Total != nil {
		fmt.Fprintf(w, " of %s", thousands(*p.Total))
	}
	if p.HasNext {
		fmt.Fprintf(w, ", more at %.60s\n", p.Next)
	} else {
		fmt.Fprintf(w, ", the end (%s)\n", p.End)
	}
	if len(p.Repairs) > 0 {
		fmt.Fprintf(w, "Repaired %s\n", wrapped(fmt.Sprintf("%s. The answer is no XML as it was sent; response.strict refuses such answers.", p.Repairs), 9))
	}
	for _, r := range p.Records {
		updated := "no time"
		if r.UpdatedAt != nil {
			updated = r.UpdatedAt.String()
		}
		fmt.Fprintf(w, "\n%s  %s\n", r.ProviderID, updated)
		_ = printIndented(w, r.Fields)
	}
	p.printProblems(w)
	p.printDoubts(w)
}

// printProblems says once what is wrong with many items.
func (p *samplePage) printProblems(w io.Writer) {
	why := func(q patra.RejectedItem) string { return fmt.Sprintf("%s at %s: %s", q.Code, q.Path, q.Fragment) }
	met := map[string]int{}
	for _, q := range p.Problems {
		met[why(q)]++
	}
	for _, q := range p.Problems {
		switch n := met[why(q)]; n {
		case 0: // it was said
		case 1:
			fmt.Fprintf(w, "\nItem %d cannot become a record: %s\n", q.ItemNo, why(q))
		default:
			fmt.Fprintf(w, "\n%d of %s cannot become records, the first of them is item %d: %s\n", n, plural(int64(p.Read), "item"), q.ItemNo, why(q))
		}
		met[why(q)] = 0
	}
}

// printDoubts says what is no mistake, but looks like one of the source file.
func (p *samplePage) printDoubts(w io.Writer) {
	if p.Items == 0 {
		fmt.Fprintf(w, "\nDoubt    %s\n", wrapped("Nothing came, which says little about the file. Name a day that has records (--from), and look at the dates of the request: a provider that leaves out the end of a filter (window.upper) has nothing between a day and itself.", 9))
	}
	if len(p.Absent) > 0 {
		fmt.Fprintf(w, "\nDoubt    %s\n", wrapped(fmt.Sprintf("Found in none of %s: %s. That is right where records seldom have it; otherwise see the path.", plural(int64(p.Read), "item"), strings.Join(p.Absent, ", ")), 9))
	}
	if p.Outside > 0 {
		fmt.Fprintf(w, "\nDoubt    %s\n", wrapped(fmt.Sprintf("%d of %s changed outside of the window that was asked for, %s. That is right where response.updatedAt is another date than window.field; otherwise see window.precision, window.upper and the dates of the request.", p.Outside, plural(int64(p.Read), "item"), *p.Window), 9))
	}
}
