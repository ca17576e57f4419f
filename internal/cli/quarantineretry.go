package cli

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"patra"
	"patra/internal/planner"
	"patra/internal/source"
	"patra/internal/store"
)

// retryResult is what came of looking at an item again.
type retryResult struct {
	ID       int64  `json:"id"`
	RecordID string `json:"record_id,omitempty"`
	Reads    bool   `json:"reads_now"` // the present mapping can read what is kept
	Way      string `json:"way"`       // BY_ID, WINDOW or NONE
	PlanID   int64  `json:"plan_id,omitempty"`
	Text     string `json:"text"`
}

// The ways to get a record whose item could not be read.
const (
	wayByID   = "BY_ID"
	wayWindow = "WINDOW"
	wayNone   = "NONE"
)

func (a *app) quarantineRetryCmd() *cobra.Command {
	var q quarantineFlags
	var out format
	var baseURL string
	c := &cobra.Command{
		Use: "retry [ID...]", Short: "Look at items again: by their ids, or by reading their windows again",
		Long: "Retry first reads what is kept of an item with the present source file, which sends nothing. An item whose id is known is\nfetched by it, where the source can do that: a signal is raised, and patra update SOURCE --signals works through them. For\nall others the window that they came in is planned again. An item is resolved when a record with its id arrives.",
		Example: `  patra quarantine retry 3
  patra quarantine retry --source crossref --code BAD_TIME`,
		RunE: func(c *cobra.Command, args []string) error {
			s, err := a.open(c.Context())
			if err != nil {
				return err
			}
			items, err := chosen(c.Context(), s, q, args)
			if err != nil {
				return err
			}
			all := []retryResult{}
			for _, item := range items {
				r, err := a.retryItem(c.Context(), s, item, baseURL)
				if err != nil {
					return err
				}
				all = append(all, r)
			}
			return printRows(a.stdout, out, all, columns[retryResult]{
				names: []string{"id", "record", "reads now", "way", "what happens"},
				row:   func(r retryResult) []any { return []any{r.ID, r.RecordID, yes(r.Reads), r.Way, r.Text} },
				empty: "Nothing that is open fits. patra quarantine list shows what is there.",
			})
		},
	}
	q.add(c)
	c.Flags().StringVar(&baseURL, "base-url", "", "mirror, proxy or simulator to ask in place of the source's own address")
	c.Flags().StringVar(&a.contact, "contact", "", "address sent where the provider asks for one, in place of contact")
	formatFlag(c, &out)
	return c
}

// chosen are the items that are named, or those that fit the flags and are open.
func chosen(ctx context.Context, s *store.Store, q quarantineFlags, args []string) ([]patra.QuarantineItem, error) {
	if len(args) == 0 && q.f == (store.QuarantineFilter{}) {
		return nil, patra.Invalid("", "name items, or say which with {source}, {code} or {id}")
	}
	var items []patra.QuarantineItem
	if len(args) == 0 {
		q.f.Status, q.f.Limit = patra.Open, most
		found, err := s.Quarantine(ctx, q.f)
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			args = append(args, fmt.Sprint(f.ID))
		}
	}
	for _, word := range args {
		item, err := setAside(ctx, s, word)
		if err != nil {
			return nil, err
		}
		if err := retriable(item); err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	return items, nil
}

// retriable refuses an item that is settled.
func retriable(item patra.QuarantineItem) error {
	if item.Status != patra.Open && item.Status != patra.Retrying {
		return patra.Invalid("", "item %d is %s; only what is open can be looked at again", item.ID, item.Status)
	}
	return nil
}

// retryItem finds the way for one item and sets out on it.
func (a *app) retryItem(ctx context.Context, s *store.Store, item patra.QuarantineItem, baseURL string) (retryResult, error) {
	r := retryResult{ID: item.ID, RecordID: item.RecordID}
	slice, err := sliceOf(ctx, s, item)
	if err != nil {
		return r, err
	}
	req, err := a.request(ctx, item.Source, planFlags{operation: patra.Harvest, endpoint: endpointOf(ctx, s, slice), baseURL: baseURL})
	if err != nil {
		return r, err
	}
	reads(req, item, &r)
	switch {
	case r.RecordID != "" && req.Source.ByID() != "":
		r.Way = wayByID
		r.Text = fmt.Sprintf("it will be fetched by its id; next: patra update %s --signals", item.Source)
		return r, s.RetryQuarantined(ctx, now(), item.ID, r.RecordID, true, actor(ctx))
	case slice == nil || slice.Spec.Window == nil:
		r.Way, r.Text = wayNone, "there is no way to get it: the source cannot be asked by id, and it came in no window"
		return r, nil
	}
	if req, err = sameQuestion(ctx, s, req, slice); err != nil {
		return r, err
	}
	p, err := a.planner(s, req.Contact, false)
	if err != nil {
		return r, err
	}
	plan, err := p.Plan(ctx, now(), req)
	if err != nil {
		return r, err
	}
	r.Way, r.PlanID = wayWindow, plan.Plan.ID
	r.Text = fmt.Sprintf("%s is planned to be read again, as plan %d; next: %s works through it", slice.Window, plan.Plan.ID, nextCommand(&plan.Draft))
	return r, s.RetryQuarantined(ctx, now(), item.ID, r.RecordID, false, actor(ctx))
}

// sameQuestion asks what the slice asked, for its window, again.
func sameQuestion(ctx context.Context, s *store.Store, now planner.Request, slice *patra.Slice) (planner.Request, error) {
	plan, err := s.Plan(ctx, slice.PlanID)
	if err != nil {
		return now, err
	}
	body, err := s.Snapshot(ctx, plan.Spec)
	if err != nil {
		return now, err
	}
	spec, err := source.FromSnapshot(plan.Spec, body)
	if err != nil {
		return now, err
	}
	then := planner.File{Plan: plan, Params: spec.Parameters}.Request(now.Source, now.Contact)
	then.From, then.To, then.Force, then.Purpose, then.Origin = &slice.Window.From, &slice.Window.To, true, patra.PurposeFill, now.Origin
	then.BaseURL = cmp.Or(now.BaseURL, plan.BaseURL)
	return then, nil
}

// reads tries what is kept of an item with the present source file.
func reads(req planner.Request, item patra.QuarantineItem, r *retryResult) {
	for _, endpoint := range append([]string{req.Endpoint}, req.Source.ByID()) {
		spec, err := source.Compile(req.Source, source.Options{Endpoint: endpoint, Operation: patra.Harvest, Contact: "nobody@example.org", Parameters: req.Params})
		if err != nil {
			continue
		}
		program, err := spec.Records().Compile()
		if err != nil {
			continue
		}
		if o, err := program.Item(item.Fragment, 0); err == nil {
			r.Reads = true
			if r.RecordID == "" {
				r.RecordID = o.ID
			}
			return
		}
	}
}

// sliceOf is the slice in which an item came; nil if nobody knows any more.
func sliceOf(ctx context.Context, s *store.Store, item patra.QuarantineItem) (*patra.Slice, error) {
	if item.Lineage == nil {
		return nil, nil
	}
	rows, err := s.Slices(ctx, store.Filter{Slice: item.Lineage.Slice})
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return &rows[0], nil
}

// endpointOf is the endpoint that a slice was read at, if it can be searched.
func endpointOf(ctx context.Context, s *store.Store, slice *patra.Slice) string {
	if slice == nil || slice.Spec.Window == nil {
		return ""
	}
	plan, err := s.Plan(ctx, slice.PlanID)
	if err != nil {
		return ""
	}
	return plan.Endpoint
}
