package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"patra"
	"patra/internal/api"
	"patra/internal/engine"
	"patra/internal/planner"
	"patra/internal/view"
)

// planBody is what a plan is asked for with: what harvest, backfill and update take.
type planBody struct {
	Operation string `json:"operation,omitempty" enum:"HARVEST,BACKFILL,UPDATE" default:"HARVEST"`
	Source    string `json:"source" minLength:"1" maxLength:"47"`
	SourceRequestBody
	Campaign string   `json:"campaign,omitempty" maxLength:"64" doc:"BACKFILL, UPDATE: name under which later plans go on with the same work"`
	Newest   bool     `json:"newest_first,omitempty" doc:"BACKFILL, UPDATE: begin at the end of the window"`
	Force    bool     `json:"force,omitempty" doc:"plan and read again what is already covered"`
	Priority int      `json:"priority,omitempty" minimum:"0" maximum:"9" doc:"1 is first, 9 is last; 0 is that of the operation"`
	ByID     bool     `json:"by_id,omitempty" doc:"UPDATE: fetch known records by their ids"`
	IDsOf    string   `json:"ids_of,omitempty" maxLength:"120" doc:"UPDATE: fetch by the ids of another source, or by a field of its records, such as pubmed.doi"`
	Stale    string   `json:"stale,omitempty" maxLength:"20" doc:"UPDATE: records that nobody has looked at for so long, such as 30d"`
	Share    string   `json:"share,omitempty" maxLength:"20" doc:"with stale: at most this share of the known records, such as 1/30"`
	Mapping  bool     `json:"changed_mapping,omitempty" doc:"UPDATE: records that were read by another mapping than the present one"`
	Signals  bool     `json:"signals,omitempty" doc:"UPDATE: records that open signals ask for"`
	IDs      []string `json:"ids,omitempty" maxItems:"10000" doc:"UPDATE: these ids"`
	NoProbe  bool     `json:"no_probe,omitempty" doc:"do not ask the provider how much there is"`
	BaseURL  string   `json:"base_url,omitempty" maxLength:"400" doc:"what this server was started with, or the source's own address"`
	DryRun   bool     `json:"dry_run,omitempty" doc:"only show what would be planned"`
}

func (b planBody) flags() planFlags {
	f := b.SourceRequestBody.flags()
	f.operation = patra.Operation(b.Operation)
	f.campaign, f.newest, f.force, f.priority, f.byID, f.idsOf = b.Campaign, b.Newest, b.Force, b.Priority, b.ByID, b.IDsOf
	f.pick = pickFlags{stale: b.Stale, share: b.Share, mapping: b.Mapping, signals: b.Signals, ids: b.IDs}
	return f
}

// planResult is what came of asking for work: what was, or would be, put into the queue.
type planResult struct {
	Said     string                `json:"said"`
	Next     string                `json:"next"`
	DryRun   bool                  `json:"dry_run"`
	Nothing  bool                  `json:"nothing" doc:"there is nothing to do"`
	Plan     *patra.Plan           `json:"plan,omitempty"`
	Existing *patra.Plan           `json:"existing,omitempty" doc:"the same plan, made earlier"`
	Decision *patra.WindowDecision `json:"decision,omitempty" doc:"how the window was decided"`
	Price    patra.CostEstimate    `json:"price"`
	Probes   int                   `json:"probes" doc:"counts that the provider was asked for"`
	Added    int64                 `json:"added" doc:"slices that this call put into the queue"`
	Retried  int                   `json:"retried" doc:"failed tasks of an earlier plan that were queued again"`
	Slices   []patra.Slice         `json:"slices" nullable:"false" doc:"of a dry run: the first of them"`
	Quota    []quotaShare          `json:"quota" nullable:"false"`
	Warnings []warning             `json:"warnings" nullable:"false"`
}

// warning is what somebody should know about a plan.
type warning struct {
	Code string `json:"code"`
	Text string `json:"text"`
	Hint string `json:"hint,omitempty"`
}

// quotaShare is a quota of the provider, and what part of it a plan takes.
type quotaShare struct {
	patra.QuotaUse
	Said string `json:"said"`
}

func (d *apiHandlers) planRoutes(s *api.Server) {
	type wish struct{ Body planBody }
	api.Post(s, "/plans", api.Steer, api.Doc{ID: "make-plan", Summary: "Plan a harvest, a backfill or an update, and leave it in the queue for the workers", Long: true}, func(ctx context.Context, in *wish) (planResult, error) {
		f := in.Body.flags()
		var err error
		if f.baseURL, err = d.address(ctx, in.Body.Source, in.Body.BaseURL); err != nil {
			return planResult{}, err
		}
		req, err := d.app.request(ctx, in.Body.Source, f)
		if err != nil {
			return planResult{}, err
		}
		return d.plan(ctx, req, !in.Body.NoProbe, in.Body.DryRun)
	})
	type gapFill struct {
		Body struct {
			Cursor   int64  `json:"cursor" minimum:"1" doc:"id of a watermark"`
			From     string `json:"from,omitempty" maxLength:"40" doc:"start of the stretch; without one all of its time"`
			To       string `json:"to,omitempty" maxLength:"40"`
			Disputed bool   `json:"disputed,omitempty" doc:"read again what the provider counts differently, too"`
			Read     bool   `json:"read,omitempty" doc:"read again what was read without a proof, too"`
			NoProbe  bool   `json:"no_probe,omitempty"`
			DryRun   bool   `json:"dry_run,omitempty"`
		}
	}
	api.Post(s, "/gaps/fill", api.Steer, api.Doc{ID: "fill-gaps", Summary: "Plan exactly what is missing of a watermark, at the address where it was read before", Long: true}, func(ctx context.Context, in *gapFill) (planResult, error) {
		b := in.Body
		return d.fill(ctx, fillFlags{timeRangeFlags: timeRangeFlags{from: b.From, to: b.To, cursor: b.Cursor}, disputed: b.Disputed, read: b.Read, dry: b.DryRun, noProbe: b.NoProbe})
	})
	type coverageCheck struct {
		Body struct {
			Cursor  int64  `json:"cursor" minimum:"1" doc:"id of a watermark"`
			From    string `json:"from,omitempty" maxLength:"40" doc:"start of the stretch; without one all of its time"`
			To      string `json:"to,omitempty" maxLength:"40"`
			Compare string `json:"compare,omitempty" enum:"auto,ids,counts" default:"auto" doc:"auto lists windows of few pages and counts the others, where the provider counts exactly"`
			Mark    bool   `json:"mark,omitempty" doc:"put what differs into dispute, and seal what agrees"`
		}
	}
	summary := "Compare what the provider lists in every window that was read to its end with what is stored; ids that differ are named"
	api.Post(s, "/coverage/check", api.Steer, api.Doc{ID: "check-coverage", Summary: summary, Long: true}, func(ctx context.Context, in *coverageCheck) (view.CheckReport, error) {
		b := in.Body
		what := map[string]any{"from": b.From, "to": b.To, "compare": b.Compare, "over": "http"}
		target := patra.WorkTarget(patra.ScopeCursor, b.Cursor).String()
		if _, err := d.store.Audit(ctx, audited(ctx, patra.AuditInspect, target, "", what)); err != nil { // before anything is sent
			return view.CheckReport{}, err
		}
		f := coverageCheckFlags{timeRangeFlags: timeRangeFlags{from: b.From, to: b.To, cursor: b.Cursor}, compare: cmp.Or(b.Compare, engine.CompareAuto), mark: b.Mark}
		return d.app.checkCoverage(ctx, d.store, "", f)
	})
}

// fill plans the gaps of a watermark.
func (d *apiHandlers) fill(ctx context.Context, f fillFlags) (planResult, error) {
	cursors, err := f.cursors(ctx, d.store, "")
	if err != nil {
		return planResult{}, err
	}
	req, err := d.app.fillRequest(ctx, d.store, cursors[0], f)
	if err != nil {
		return planResult{}, err
	}
	if req != nil {
		return d.plan(ctx, *req, !f.noProbe, f.dry)
	}
	if err := nothingToFill(ctx, d.store, cursors, f); err != nil {
		return planResult{}, err
	}
	return planResult{Said: "There is nothing to fill.", Next: "patra coverage show", DryRun: f.dry, Nothing: true, Slices: []patra.Slice{}, Quota: []quotaShare{}, Warnings: []warning{}}, nil
}

// plan decides a plan and puts it into the queue, or shows what it would be.
func (d *apiHandlers) plan(ctx context.Context, req planner.Request, probe, dry bool) (planResult, error) {
	req.By = planner.Trigger{Job: "api"}
	p, err := d.app.planner(d.store, req.Contact, probe)
	if err != nil {
		return planResult{}, err
	}
	if dry {
		draft, err := p.Draft(ctx, now(), req)
		if err != nil {
			return planResult{}, err
		}
		v, err := d.app.price(ctx, p, draft, shownSlices)
		if err != nil {
			return planResult{}, err
		}
		return d.drafted(v), nil
	}
	what := map[string]any{"operation": req.Operation, "endpoint": req.Endpoint, "query": req.Query, "from": req.From, "to": req.To, "campaign": req.Campaign, "force": req.Force, "base_url": req.BaseURL, "fill": req.Fill}
	action := patra.AuditPlan
	if req.Fill != nil {
		action = patra.AuditFill
	}
	if _, err := d.store.Audit(ctx, audited(ctx, action, req.Source.Code, "", what)); err != nil {
		return planResult{}, err
	}
	res, err := p.Plan(ctx, now(), req)
	if err != nil {
		return planResult{}, err
	}
	return inQueue(res), nil
}

// drafted is what a plan would be.
func (d *apiHandlers) drafted(v *planView) planResult {
	out := begun(v.Draft)
	out.DryRun, out.Price, out.Probes, out.Slices = true, v.Price, v.Probes, v.Slices
	out.Next = "the same without dry_run puts it into the queue"
	if out.Nothing {
		return out
	}
	tariff := v.Spec.Tariff(d.app.have)
	for _, u := range v.Quota {
		out.Quota = append(out.Quota, quotaShare{u, quotaText(u, v.Price.Requests*max(tariff.Cost, 1), tariff.PerSecond*float64(max(tariff.Cost, 1)), v.Decision.Now)})
	}
	out.Said = fmt.Sprintf("%s of %s would be read: %s, about %s in %s, %s.", v.Decision.Window, v.Plan.Source, plural(v.Price.Slices, "slice"), plural(v.Price.Records, "record"), plural(v.Price.Requests, "request"), roughly(v.Price.Seconds))
	return out
}

// inQueue is what a plan is, now that it is in the queue.
func inQueue(res *planner.Result) planResult {
	res.Draft.Warnings = append(res.Draft.Warnings, res.SlicingStats.Warnings...)
	out := begun(&res.Draft)
	out.Price, out.Probes, out.Added, out.Retried = res.Price, res.Probes, res.Added, res.Retried
	out.Next = "patra serve works through it, or " + nextCommand(&res.Draft)
	if out.Nothing {
		return out
	}
	var said []string
	if res.Existing != nil {
		said = append(said, fmt.Sprintf("Plan %d was made before; %s queued again.", res.Existing.ID, plural(int64(res.Retried), "failed task")))
	}
	said = append(said, fmt.Sprintf("Plan %d has %s more, about %s and %s.", res.Plan.ID, plural(res.Added, "slice"), plural(res.Price.Records, "record"), plural(res.Price.Requests, "request")))
	if res.Plan.Status == patra.Partial {
		said = append(said, fmt.Sprintf("Not all of it yet: %s.", view.PartialReason(res.Plan.Reason)))
	}
	out.Said = strings.Join(said, " ")
	return out
}

// begun is what a draft says whether it is stored or not.
func begun(d *planner.Draft) planResult {
	out := planResult{Plan: &d.Plan, Existing: d.Existing, Decision: &d.Decision, Nothing: d.Decision.Window.IsEmpty(), Slices: []patra.Slice{}, Quota: []quotaShare{}, Warnings: []warning{}}
	for _, w := range d.Warnings {
		out.Warnings = append(out.Warnings, warning{w.Code, w.Text, w.Hint})
	}
	if out.Nothing {
		why := patra.Spell(view.EmptyReason(d.Decision, d.Cursor), func(field string) string { return field })
		out.Said = fmt.Sprintf("Nothing to %s from %s: %s.", strings.ToLower(string(d.Plan.Operation)), d.Plan.Source, why)
	}
	return out
}
