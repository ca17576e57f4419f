package executor

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"patra"
)

// A provider that has lost a record and one that is out of order may give the same answer. So a refusal is held, its id not
// settled, until the provider has given a record after it, and for as long as more than a fifth of the ids of the run are
// refused. After some refusals in a row, and at the end of the list, the provider is asked for records that it gave before
// (controls). If it gives none of them, no refusal that is held counts, and the run fails.
const (
	maxStreak   = 5 // refusals in a row, until a control is asked for
	maxControls = 3 // controls that must all be refused
)

// refusals are the answers without a record that are not believed yet.
type refusals struct {
	held     []patra.Refusal
	streak   int      // how many came since the provider gave a record
	listDone bool     // all ids were asked for: what is held now is settled with the next control
	given    string   // the last id whose record came in this run
	controls []string // to be asked for, while a check is under way; nil: none is
	blind    bool     // the store has no record to compare with
}

// counts reports whether refusals say something about stored records: the ids are those of the source's own.
func (d *detailPhase) counts() bool {
	ids := d.claim.Slice.Spec.Range
	return ids != nil && ids.Kind == patra.RangeBucket && !patra.ForeignIDs(ids.Key)
}

// hold keeps a refusal until it is believed. One of a record that was missing before is no news: it does not speak against
// the provider.
func (d *detailPhase) hold(ctx context.Context, id string, at patra.Instant) error {
	d.held = append(d.held, patra.Refusal{ID: id, At: at})
	d.streak++
	if d.foreign() {
		d.done++
		return nil
	}
	known, err := d.Store.IsAbsent(ctx, d.claim.Task.Source, d.program.Spec.RecordType, id)
	if err == nil && !known {
		d.lost++
	}
	return err
}

// recordGiven notes that the provider gave a record. The held refusals count with its page, if they are not too many.
func (d *detailPhase) recordGiven(res *patra.PageResult, id string) {
	d.given, d.controls, d.streak = id, nil, 0
	if len(d.held) == 0 || !d.listDone && patra.ImplausibleShare(d.lost, d.lost+d.done) {
		return
	}
	res.Refused = d.held
	d.settleHeld(res)
}

// settleHeld settles the ids of the held refusals with a page.
func (d *detailPhase) settleHeld(res *patra.PageResult) {
	if res.Items == nil {
		res.Items = map[patra.Status][]string{}
	}
	d.streak = 0
	for _, r := range d.held {
		res.Items[patra.ItemMissing] = append(res.Items[patra.ItemMissing], r.ID)
	}
	d.held = nil
}

// nextControl is the id to be asked for before the held refusals are believed; nothing if none of them needs it now. Without
// any record to compare with, the first of the refused ids itself is asked for again.
func (d *detailPhase) nextControl(ctx context.Context) (string, error) {
	if d.controls == nil {
		recent, err := d.Store.SeenLast(ctx, d.claim.Task.Source, d.program.Spec.RecordType, d.claim.Task.Repository, maxControls+len(d.held)+1)
		if err != nil {
			return "", err
		}
		if d.given != "" {
			recent = append([]string{d.given}, slices.DeleteFunc(recent, func(id string) bool { return id == d.given })...)
		}
		recent = slices.DeleteFunc(recent, func(id string) bool {
			return slices.ContainsFunc(d.held, func(r patra.Refusal) bool { return r.ID == id })
		})
		d.controls = recent[:min(len(recent), maxControls)]
		if d.blind = len(recent) == 0; d.blind {
			d.controls = []string{d.held[0].ID}
		}
	}
	return d.controls[0], nil
}

// acceptControl settles the held refusals by the answer to a control. The record of a control that came is of no interest
// here: its id is on the list, or it is not to be asked for today.
func (d *detailPhase) acceptControl(ctx context.Context, c *detailBatch, res patra.PageResult) (*detailBatch, error) {
	id, given := c.items[0].ID, len(res.Records) > 0
	if d.blind {
		d.controls, d.blind = nil, false
		if given { // the second time: what else is held is as little credible
			d.held = slices.DeleteFunc(d.held, func(r patra.Refusal) bool { return r.ID == id })
			res.Items = map[patra.Status][]string{patra.ItemDone: {id}}
		}
		d.settleHeld(&res)
		return d.commitBatch(ctx, c, res)
	}
	res.Records, res.Quarantined, res.Raw, res.Outside, res.TimeMin, res.TimeMax = nil, nil, patra.RawPage{}, 0, nil, nil
	if given {
		d.recordGiven(&res, id)
		return d.commitBatch(ctx, c, res)
	}
	if d.controls = d.controls[1:]; len(d.controls) > 0 {
		return d.commitBatch(ctx, c, res)
	}
	if _, err := d.commitOnly(ctx, c, res, nil); err != nil {
		return nil, err
	}
	return nil, &patra.Fault{Level: patra.LevelRetry, Code: patra.CodeImplausible, Path: "detail",
		Text: fmt.Sprintf("the provider refuses the last %d ids, and records that it gave before, such as %s; none of these refusals counts", len(d.held), id)}
}

// noSuchRecord reports whether an answer to a single id says that there is no such record, although it is a fault for the
// source: by its status, where no rule of the endpoint says what that status means.
func (d *detailPhase) noSuchRecord(c *detailBatch, fault *patra.Fault) bool {
	if !d.counts() || len(c.items) != 1 || fault.Code != patra.CodeHTTP || fault.Status != http.StatusNotFound && fault.Status != http.StatusGone {
		return false
	}
	for _, rule := range d.second.Spec.Response.Errors {
		if slices.Contains(rule.Status, fault.Status) {
			return false
		}
	}
	return true
}
