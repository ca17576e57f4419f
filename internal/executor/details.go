package executor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"patra"
)

// details is the second phase of a scan whose search gave only ids: their records are fetched in batches. A batch that
// the provider refuses is halved until the id that spoils it stands alone; an id that an answer leaves out is asked for
// alone before it counts as missing.
type details struct {
	*run
	ordinal int64
	after   int64 // the last id that was taken from the list
	size    int
	alone   []patra.Item
	done    int // ids whose record came
	lost    int // ids that are missing or bad
}

// details fetches the records behind all ids of the scan.
func (r *run) details(ctx context.Context) error {
	d := &details{run: r, ordinal: 1, size: r.program.Spec.Detail.Batch}
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
		items, err := d.next(ctx)
		if err != nil || len(items) == 0 {
			return err
		}
		if err := d.fetchAll(ctx, items); err != nil {
			return err
		}
		if d.draining() {
			return errDrained
		}
	}
}

// next takes ids from the list, and when it is empty those that are to be asked for alone.
func (d *details) next(ctx context.Context) ([]patra.Item, error) {
	items, err := d.Store.Items(ctx, d.claim, d.scan.no, d.after, d.size)
	if err != nil {
		return nil, err
	}
	if n := len(items); n > 0 {
		d.after = items[n-1].Seq
		return items, nil
	}
	if len(d.alone) == 0 {
		return nil, nil
	}
	items, d.alone = d.alone[:1], d.alone[1:]
	return items, nil
}

// fetchAll gets the records of some ids, in smaller parts if it must be.
func (d *details) fetchAll(ctx context.Context, items []patra.Item) error {
	fault, err := d.batch(ctx, items)
	if err != nil || fault == nil {
		return err
	}
	if half := len(items) / 2; half > 0 {
		if err := d.fetchAll(ctx, items[:half]); err != nil {
			return err
		}
		return d.fetchAll(ctx, items[half:])
	}
	return nil
}

// batch asks for some ids until there is an answer. It gives the fault back when the provider refuses them together and
// they are more than one; an id that is refused alone is put aside with the reason.
func (d *details) batch(ctx context.Context, items []patra.Item) (*patra.Fault, error) {
	ids := idsOf(items)
	for attempt := 1; ; attempt++ {
		page, err := d.open(ctx, ids)
		if err != nil {
			return nil, err
		}
		err = d.page(ctx, page, items)
		failed, ok := errors.AsType[*failedPage](err)
		if !ok {
			return nil, err
		}
		if failed.fault.Level == patra.LevelRequest {
			if len(items) == 1 {
				return nil, d.putAside(ctx, page, items[0], failed)
			}
			return failed.fault, d.fail(ctx, page, failed)
		}
		if err := d.recover(ctx, page, err, attempt); err != nil {
			return nil, err
		}
	}
}

func idsOf(items []patra.Item) []string {
	ids := make([]string, len(items))
	for i, it := range items {
		ids[i] = it.ID
	}
	return ids
}

// open writes the row of a detail request.
func (d *details) open(ctx context.Context, ids []string) (patra.OpenPage, error) {
	call, err := d.program.Spec.BuildIDs(ids, d.claim.BaseURL, d.Config.Vars)
	if err != nil {
		return patra.OpenPage{}, &patra.Fault{Level: patra.LevelRequest, Code: patra.CodeInternal, Text: err.Error(), Err: err}
	}
	ticket, err := d.ticket(ctx, patra.PhaseDetail, d.ordinal, strings.Join(ids, ","), call)
	if err != nil {
		return patra.OpenPage{}, err
	}
	return d.Store.OpenPage(ctx, d.claim, patra.InstantOf(time.Now()), ticket)
}

// page sends one detail request and commits what it brought.
func (d *details) page(ctx context.Context, page patra.OpenPage, items []patra.Item) error {
	call, err := d.program.Spec.BuildIDs(idsOf(items), d.claim.BaseURL, d.Config.Vars)
	if err != nil {
		return err
	}
	got, err := d.fetch(ctx, page, call)
	if err != nil {
		return err
	}
	res, err := d.read(d.second, page, got)
	if err != nil {
		return got.failed(patra.AsFault(err))
	}
	res.Items = d.outcomes(items, res)
	return d.commit(ctx, page, res)
}

func (d *details) commit(ctx context.Context, page patra.OpenPage, res patra.PageResult) error {
	done, lost := d.done+len(res.Items[patra.ItemDone]), d.lost+len(res.Items[patra.ItemBad])
	if missing := len(res.Items[patra.ItemMissing]); d.foreign() { // that another source's id is not known here is an answer
		done += missing
	} else {
		lost += missing
	}
	if poisoned(lost, lost+done) {
		return &patra.Fault{Level: patra.LevelFatal, Code: patra.CodeSchema, Path: "detail", Text: fmt.Sprintf("the records behind %d of %d ids cannot be had; is the detail endpoint right?", lost, lost+done)}
	}
	d.done, d.lost = done, lost
	counts, _, err := d.Store.CommitPage(ctx, d.claim, patra.InstantOf(time.Now()), d.program.Spec.RecordType, page, res, nil)
	if err != nil {
		return err
	}
	d.ordinal++
	d.tell(Event{Kind: EventPage, Claim: d.claim, Counts: counts})
	return nil
}

// foreign reports whether the ids are those of another source, or of a person: nobody knows whether they are known here.
func (d *details) foreign() bool {
	ids := d.claim.Slice.Spec.Range
	return ids != nil && ids.Kind == patra.RangeBucket && (patra.ForeignIDs(ids.Key) || ids.Key == patra.NamedIDs)
}

// outcomes settles the ids of a page. One that was left out of a larger answer stays open and is asked for alone.
func (d *details) outcomes(items []patra.Item, res patra.PageResult) map[patra.Status][]string {
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

// putAside settles an id that cannot be asked for: it is quarantined with what the provider said.
func (d *details) putAside(ctx context.Context, page patra.OpenPage, item patra.Item, failed *failedPage) error {
	d.log.Warn("an id cannot be fetched and is put aside", "id", item.ID, "code", failed.fault.Code, "reason", failed.fault.Text)
	return d.commit(ctx, page, patra.PageResult{
		Exchange: failed.exchange, Response: failed.response, EndCode: patra.EndItemsDone, Items: map[patra.Status][]string{patra.ItemBad: {item.ID}},
		Quarantined: []patra.Quarantined{{ItemNo: 1, ID: item.ID, Code: failed.fault.Code, Path: failed.fault.Path, Fragment: []byte(failed.fault.Text)}},
	})
}

// fail records a refused batch.
func (d *details) fail(ctx context.Context, page patra.OpenPage, failed *failedPage) error {
	_, err := d.Store.FailPage(ctx, d.claim, patra.InstantOf(time.Now()), page, patra.PageFailure{Exchange: failed.exchange, Fault: *failed.fault, Response: failed.response}, nil)
	return err
}
