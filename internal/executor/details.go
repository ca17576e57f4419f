package executor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"patra"
)

// detailPhase is the second phase of a scan whose search gave only ids: their records are fetched in batches. A batch that
// the provider refuses is halved until the id that spoils it stands alone; an id that an answer leaves out is asked for
// alone before it counts as missing.
type detailPhase struct {
	*run
	ordinal int64
	after   int64 // the last id that was taken from the list
	size    int
	halves  [][]patra.DetailID // of batches that were refused; they come first
	alone   []patra.DetailID   // left out of a larger answer; they come last
	done    int                // ids whose record came
	lost    int                // ids that are missing or bad
	refusals
}

// detailBatch is some ids whose records are on their way.
type detailBatch struct {
	*inflightPage
	items   []patra.DetailID
	attempt int
	control bool // the id is asked for to see whether refusals can be believed
}

// details fetches the records behind all ids of the scan.
func (r *run) details(ctx context.Context) error {
	d := &detailPhase{run: r, ordinal: 1, size: r.program.Spec.Detail.Batch}
	if r.scan.no == r.claim.Task.ScanNo && r.claim.Task.NextDetail > 1 {
		// An earlier run settled some of the ids. What it left open may well be the missing ones only: they are few
		// beside all that came, and must be seen so.
		open, err := r.Store.Items(ctx, r.claim, r.scan.no, 0, int(r.scan.seen()))
		if err != nil {
			return err
		}
		d.ordinal, d.done = r.claim.Task.NextDetail, int(r.scan.seen())-len(open)
	}
	for {
		items, control, err := d.next(ctx)
		if err != nil || len(items) == 0 {
			return err
		}
		coming, err := d.sendBatch(ctx, items, 1, control)
		for err == nil && coming != nil {
			coming, err = d.acceptBatch(ctx, coming)
		}
		if err != nil {
			return err
		}
		if d.draining() {
			return errDrained
		}
	}
}

// next is what to ask for next: a control if too many refusals are held, halves of what was refused, ids from the list, and
// when it is empty those that are to be asked for alone, and a control for the last refusals.
func (d *detailPhase) next(ctx context.Context) (items []patra.DetailID, control bool, err error) {
	if d.streak >= maxStreak {
		return d.control(ctx)
	}
	if len(d.halves) > 0 {
		items, d.halves = d.halves[0], d.halves[1:]
		return items, false, nil
	}
	if items, err = d.Store.Items(ctx, d.claim, d.scan.no, d.after, d.size); err != nil {
		return nil, false, err
	}
	if n := len(items); n > 0 {
		d.after = items[n-1].Seq
		return items, false, nil
	}
	switch {
	case len(d.alone) > 0:
		items, d.alone = d.alone[:1], d.alone[1:]
	case len(d.held) > 0:
		d.listDone = true
		return d.control(ctx)
	}
	return items, false, nil
}

func (d *detailPhase) control(ctx context.Context) ([]patra.DetailID, bool, error) {
	id, err := d.nextControl(ctx)
	return []patra.DetailID{{ID: id}}, true, err
}

// announce makes the row of a request for some ids.
func (d *detailPhase) announce(ctx context.Context, ordinal int64, items []patra.DetailID) (pageRequest, error) {
	ids := idsOf(items)
	call, err := d.program.Spec.BuildIDs(ids, d.claim.BaseURL, d.Config.Vars)
	if err != nil {
		return pageRequest{}, &patra.Fault{Level: patra.LevelRequest, Code: patra.CodeInternal, Text: err.Error(), Err: err}
	}
	return d.newPageRequest(ctx, patra.PhaseDetail, ordinal, strings.Join(ids, ","), call)
}

// sendBatch writes the row of a request for some ids and sends it.
func (d *detailPhase) sendBatch(ctx context.Context, items []patra.DetailID, attempt int, control bool) (*detailBatch, error) {
	t, err := d.announce(ctx, d.ordinal, items)
	if err != nil {
		return nil, err
	}
	coming, err := d.sendNow(ctx, t)
	return &detailBatch{coming, items, attempt, control}, err
}

func idsOf(items []patra.DetailID) []string {
	ids := make([]string, len(items))
	for i, it := range items {
		ids[i] = it.ID
	}
	return ids
}

// acceptBatch waits for some records, commits them, and gives the next ones that are on their way, if there are.
func (d *detailPhase) acceptBatch(ctx context.Context, c *detailBatch) (*detailBatch, error) {
	res, err := d.awaitPage(c.inflightPage)
	defer c.span.End()
	if err != nil {
		return d.again(ctx, c, err)
	}
	defer c.held.release()
	return d.acceptPage(ctx, c, res)
}

// acceptPage settles the ids of a page, and the refusals that it makes credible.
func (d *detailPhase) acceptPage(ctx context.Context, c *detailBatch, res patra.PageResult) (*detailBatch, error) {
	if c.control {
		return d.acceptControl(ctx, c, res)
	}
	res.Items = d.outcomes(c.items, res)
	if refused := res.Items[patra.ItemMissing]; d.counts() && len(refused) > 0 { // it is one
		delete(res.Items, patra.ItemMissing)
		if err := d.hold(ctx, refused[0], res.Exchange.SentAt); err != nil {
			return nil, err
		}
	}
	if done := res.Items[patra.ItemDone]; d.counts() && len(res.Records) > 0 && len(done) > 0 {
		d.recordGiven(&res, done[len(done)-1])
	}
	return d.commitBatch(ctx, c, res)
}

// commitBatch commits what became of some ids.
func (d *detailPhase) commitBatch(ctx context.Context, c *detailBatch, res patra.PageResult) (*detailBatch, error) {
	if err := d.believe(res); err != nil {
		failedSpan(c.span, err)
		return nil, err
	}
	items, control, err := d.next(ctx)
	if err != nil {
		return nil, err
	}
	var next *pageRequest
	if len(items) > 0 && !d.draining() {
		t, err := d.announce(ctx, d.ordinal+1, items)
		if err != nil {
			return nil, err
		}
		next = &t
	}
	after, err := d.commitOnly(ctx, c, res, next)
	switch {
	case err != nil:
		return nil, err
	case after != nil:
		return &detailBatch{after, items, 1, control}, nil
	case len(items) > 0:
		return nil, errDrained
	}
	return nil, nil
}

// commitOnly commits a page, and the row of the next one if there is one.
func (d *detailPhase) commitOnly(ctx context.Context, c *detailBatch, res patra.PageResult, next *pageRequest) (*inflightPage, error) {
	after, counts, err := d.commit(ctx, c.inflightPage, res, next)
	if err != nil {
		return nil, err
	}
	d.ordinal++
	d.progress = d.progress || len(res.Items) > 0
	d.reportSuccess(ctx, res.Exchange)
	d.emit(Event{Kind: EventPage, Claim: d.claim, Counts: counts, Exchange: res.Exchange, Took: time.Since(res.Exchange.SentAt.Time())})
	return after, nil
}

// again goes on after a request that gave no records: with halves of it, without the one id that spoils it, or with the
// same once more.
func (d *detailPhase) again(ctx context.Context, c *detailBatch, err error) (*detailBatch, error) {
	failed, ok := errors.AsType[*pageError](err)
	if !ok {
		return nil, err
	}
	fault := failed.fault
	refused, slow := fault.Level == patra.LevelRequest, fault.Code == patra.CodeTimeout && c.attempt > 1
	oneSpoils := fault.Code == patra.CodeTooLarge || fault.IsRedirect() // it may be one id that does, and then the others can be had
	spoilt := refused || oneSpoils && c.attempt >= d.program.Spec.Retry.MaxAttempts
	switch {
	case (refused || slow || oneSpoils) && len(c.items) > 1:
		return nil, d.halve(ctx, c, failed)
	case c.control && spoilt, refused && d.noSuchRecord(c, fault):
		return d.acceptPage(ctx, c, patra.PageResult{Exchange: failed.exchange, Response: failed.response, EndCode: patra.EndItemsDone, Gone: d.second.Gone()})
	case spoilt:
		return d.quarantine(ctx, c, failed)
	}
	if err := d.retryPage(ctx, c.page, err, c.attempt); err != nil {
		return nil, err
	}
	return d.sendBatch(ctx, c.items, c.attempt+1, c.control)
}

// halve puts the two halves of a batch in its place. Where it was simply too much, the batches that follow are smaller too.
func (d *detailPhase) halve(ctx context.Context, c *detailBatch, failed *pageError) error {
	err := d.failPage(ctx, patra.InstantOf(time.Now()), c.page, failed)
	if err == nil {
		err = d.reportFailure(ctx, failed)
	}
	if err != nil {
		return err
	}
	half := len(c.items) / 2
	d.halves = append([][]patra.DetailID{c.items[:half], c.items[half:]}, d.halves...)
	if code := failed.fault.Code; code == patra.CodeTooLarge || code == patra.CodeTimeout {
		d.size = max(1, half)
	}
	d.heal(ctx, patra.HealBisect, failed.fault.Code, map[string]any{"ids": len(c.items), "text": failed.fault.Text})
	return nil
}

// believe refuses a detail endpoint that has no record for a good part of the ids.
func (d *detailPhase) believe(res patra.PageResult) error {
	done, lost := d.done+len(res.Items[patra.ItemDone]), d.lost+len(res.Items[patra.ItemBad])
	switch missing := len(res.Items[patra.ItemMissing]); {
	case d.counts(): // held before
	case d.foreign(): // that another source's id is not known here is an answer
		done += missing
	default:
		lost += missing
	}
	if patra.TooManyBadItems(lost, lost+done) {
		return &patra.Fault{Level: patra.LevelFatal, Code: patra.CodeSchema, Path: "detail", Text: fmt.Sprintf("the records behind %d of %d ids cannot be had; is the detail endpoint right?", lost, lost+done)}
	}
	d.done, d.lost = done, lost
	return nil
}

// foreign reports whether the ids are those of another source, or of a person: nobody knows whether they are known here.
func (d *detailPhase) foreign() bool {
	ids := d.claim.Slice.Spec.Range
	return ids != nil && ids.Kind == patra.RangeBucket && (patra.ForeignIDs(ids.Key) || ids.Key == patra.NamedIDs)
}

// outcomes settles the ids of a page. One that was left out of a larger answer stays open and is asked for alone.
func (d *detailPhase) outcomes(items []patra.DetailID, res patra.PageResult) map[patra.Status][]string {
	there := map[string]bool{}
	for _, o := range res.Records {
		there[o.ID] = true
	}
	for _, q := range res.Quarantined {
		there[q.ID] = true
	}
	out := map[patra.Status][]string{}
	// The answer to one id is about that id, also where the provider writes it in another way.
	answered := len(items) == 1 && len(res.Records)+len(res.Quarantined) == 1
	for _, it := range items {
		switch {
		case there[it.ID] || answered:
			out[patra.ItemDone] = append(out[patra.ItemDone], it.ID)
		case len(items) == 1:
			out[patra.ItemMissing] = append(out[patra.ItemMissing], it.ID)
		default:
			d.alone = append(d.alone, it)
		}
	}
	return out
}

// quarantine settles an id that cannot be asked for: it is quarantined with what the provider said.
func (d *detailPhase) quarantine(ctx context.Context, c *detailBatch, failed *pageError) (*detailBatch, error) {
	id := c.items[0].ID
	d.heal(ctx, patra.HealAside, failed.fault.Code, map[string]any{"id": id, "text": failed.fault.Text})
	return d.commitBatch(ctx, c, patra.PageResult{
		Exchange: failed.exchange, Response: failed.response, EndCode: patra.EndItemsDone, Items: map[patra.Status][]string{patra.ItemBad: {id}},
		Quarantined: []patra.RejectedItem{{ItemNo: 1, ID: id, Code: failed.fault.Code, Path: failed.fault.Path, Fragment: []byte(failed.fault.Text)}},
	})
}
