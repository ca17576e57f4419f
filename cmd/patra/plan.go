package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"patra"
	"patra/internal/planner"
	"patra/internal/registry"
	"patra/internal/source"
	"patra/internal/store"
)

// askFlags are what a person can say about a harvest.
type askFlags struct {
	endpoint, from, to, baseURL, query string
	params                             []string
	force                              bool
}

func (a *app) addAskFlags(c *cobra.Command, f *askFlags) {
	fl := c.Flags()
	fl.StringVar(&f.endpoint, "endpoint", "", "endpoint of the source, if it has several")
	fl.StringVarP(&f.query, "query", "q", "", "which records, such as 'title:\"heart failure\" AND NOT type:book' (see patra query explain)")
	fl.StringVar(&f.from, "from", "", "start of the window, inclusive: 2026-01-31 or 2026-01-31T09:30:00Z")
	fl.StringVar(&f.to, "to", "", "end of the window, exclusive")
	fl.StringVar(&f.baseURL, "base-url", "", "mirror, proxy or simulator to ask in place of the source's own address")
	fl.StringVar(&a.contact, "contact", "", "address sent where the provider asks for one, in place of contact")
	fl.StringArrayVar(&f.params, "param", nil, "NAME=VALUE of a parameter of the source; may be given several times")
	fl.BoolVar(&f.force, "force", false, "plan and read again what is already covered")
}

// request turns the flags into what a planner understands.
func (a *app) request(ctx context.Context, code string, f askFlags) (planner.Request, error) {
	c, err := a.load()
	if err != nil {
		return planner.Request{}, err
	}
	file, rows, err := a.inForce(ctx, code)
	if err != nil {
		return planner.Request{}, err
	}
	req := planner.Request{Source: file, Endpoint: f.endpoint, Contact: c.Contact, BaseURL: strings.TrimSuffix(f.baseURL, "/"), Query: f.query, Force: f.force}
	if req.Params, err = pairs("--param", f.params); err != nil {
		return req, err
	}
	if req.From, err = instantFlag("--from", f.from); err != nil {
		return req, err
	}
	if req.To, err = instantFlag("--to", f.to); err != nil {
		return req, err
	}
	if req.From != nil && req.To != nil && *req.From >= *req.To {
		return req, usage("--from %s does not lie before --to %s", f.from, f.to)
	}
	req.Origin = origins(rows, req)
	if u, err := url.Parse(req.BaseURL); req.BaseURL != "" && (err != nil || u.Host == "" || u.User != nil || (u.Scheme != "http" && u.Scheme != "https")) {
		return req, usage("--base-url %q is not an address; write http://127.0.0.1:8090 or https://host/path", f.baseURL)
	}
	return req, nil
}

// origins says which layer each setting of a spec is from. A spec that does not compile has none; the planner says why.
func origins(rows []patra.RegistryRow, req planner.Request) json.RawMessage {
	_, fields, err := registry.Explain(rows, registry.Question{At: now(), Options: source.Options{Endpoint: req.Endpoint, Operation: patra.Harvest, Contact: req.Contact, Parameters: req.Params}})
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
func pairs(flag string, said []string) (map[string]string, error) {
	out := map[string]string{}
	for _, s := range said {
		name, value, ok := strings.Cut(s, "=")
		if !ok || name == "" {
			return nil, usage("%s %q is not NAME=VALUE", flag, s)
		}
		out[name] = value
	}
	return out, nil
}

func instantFlag(name, value string) (*patra.Instant, error) {
	if value == "" {
		return nil, nil
	}
	i, err := patra.ParseInstant(value)
	if err != nil {
		return nil, usage("%s: %s", name, err)
	}
	return &i, nil
}

func (a *app) planner(s *store.Store) (*planner.Planner, error) {
	c, err := a.load()
	return &planner.Planner{Store: s, SafetyLag: time.Duration(c.Planner.SafetyLag), TaskAttempts: int64(c.Executor.TaskAttempts)}, err
}

func (a *app) planCmd() *cobra.Command {
	var f askFlags
	var dry bool
	var out format
	c := &cobra.Command{
		Use: "plan HARVEST SOURCE", Short: "Decide a window and its slices, without sending anything", Args: exactly("HARVEST", "SOURCE"),
		Example: "  patra plan HARVEST crossref --from 2026-11-01 --to 2026-11-08 --dry-run",
		RunE: func(c *cobra.Command, args []string) error {
			if op := strings.ToUpper(args[0]); op != string(patra.Harvest) {
				return usage("operation %q is not known; write HARVEST", args[0])
			}
			req, err := a.request(c.Context(), args[1], f)
			if err != nil {
				return err
			}
			open := a.openOrCreate
			if dry {
				open = a.openForLooking
			}
			s, err := open(c.Context())
			if err != nil {
				return err
			}
			p, err := a.planner(s)
			if err != nil {
				return err
			}
			var res planner.Result
			if dry {
				d, err := p.Draft(c.Context(), now(), req)
				if err != nil {
					return err
				}
				res.Draft = *d
			} else {
				r, err := p.Plan(c.Context(), now(), req)
				if err != nil {
					return err
				}
				res = *r
			}
			if out != "table" {
				return printValue(a.stdout, out, res)
			}
			a.printPlan(res, dry)
			return nil
		},
	}
	a.addAskFlags(c, &f)
	c.Flags().BoolVar(&dry, "dry-run", false, "store nothing")
	formatFlag(c, &out)
	return c
}

// printPlan shows the arithmetic that led to the window, and the slices.
func (a *app) printPlan(r planner.Result, dry bool) {
	d := r.Decision
	fmt.Fprintf(a.stdout, "Plan      %s\n", r.Plan.Key)
	fmt.Fprintf(a.stdout, "Now       %s, less a safety lag of %s = %s\n", d.Now, time.Duration(d.LagSeconds*float64(time.Second)), d.NowSafe)
	if d.Cursor != nil {
		fmt.Fprintf(a.stdout, "Watermark %s, looked back %s\n", d.WindowInputs.Cursor, d.Lookback)
	} else {
		fmt.Fprintf(a.stdout, "Watermark none yet; history begins at %s (%s)\n", d.Window.From, originText[d.OriginCode])
	}
	if d.Window.IsEmpty() {
		fmt.Fprintf(a.stdout, "Window    %s is empty: %s\n", d.Window, reasonText[d.Reason])
		return
	}
	fmt.Fprintf(a.stdout, "Window    %s, aligned to %s\n", d.Window, d.Align)
	if r.Existing != nil && len(r.Slices) == 0 {
		fmt.Fprintf(a.stdout, "Slices    none: plan %d already has them; %s queued again\n", r.Existing.ID, plural(int64(r.Retried), "failed task"))
		return
	}
	for _, w := range r.Warnings {
		fmt.Fprintf(a.stdout, "Warning   %s (%s)\n", w.Text, w.Code)
	}
	fmt.Fprintf(a.stdout, "Slices    %s\n\n", plural(int64(len(r.Slices)), "slice"))
	t := newTable(a.stdout, "purpose", "answers for", "asks for")
	shown := r.Slices[:min(len(r.Slices), 20)]
	for _, sl := range shown {
		t.AppendRow([]any{sl.Purpose, sl.Window, sl.Fetch})
	}
	t.Render()
	if rest := len(r.Slices) - len(shown); rest > 0 {
		fmt.Fprintf(a.stdout, "... and %d more (-o json lists all)\n", rest)
	}
	if dry {
		fmt.Fprintln(a.stdout, "\nNothing was stored. Next: the same without --dry-run, or patra harvest "+r.Plan.Source)
	} else {
		fmt.Fprintln(a.stdout, "\nNext: patra harvest "+r.Plan.Source+" works through it")
	}
}

var originText = map[string]string{patra.OriginUser: "you said so", patra.OriginConfig: "the source says so", patra.OriginOneWindow: "one window back, because nobody said"}

var reasonText = map[string]string{patra.ReasonUpToDate: "everything up to the safety lag is planned or done", patra.ReasonInverted: "--from does not lie before --to",
	patra.ReasonTooShort: "both ends fall into the same day, month or hour to which this source is aligned", patra.ReasonNotYet: "it begins after now minus the safety lag"}

// days is a set of windows for people: `2026-01-01~2026-01-04, ...`.
func days(c patra.Coverage, most int) string {
	var parts []string
	for _, w := range slices.Clone(c)[:min(len(c), most)] {
		parts = append(parts, w.String())
	}
	if len(c) > most {
		parts = append(parts, fmt.Sprintf("and %d more", len(c)-most))
	}
	return strings.Join(parts, ", ")
}
