package relay

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"patra"
)

// leaderTerm is the time for which this process has the role of a sink.
type leaderTerm struct {
	*Relay
	cfg  Config
	sink Sink
	role patra.LeaderLease
	out  Publisher

	renewed  atomic.Pointer[time.Time] // when the lease was renewed last, by our own clock
	failures int64                     // attempts in a row with which nothing arrived
	last     int64                     // the highest number of an event
}

// run sends until ctx ends, the role is lost or, with Once, nothing is left.
func (t *leaderTerm) run(ctx context.Context) error {
	// What is on its way when ctx ends is waited for, for a while.
	work, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	defer context.AfterFunc(ctx, func() {
		timer := time.AfterFunc(t.cfg.Grace, func() { stop(context.Canceled) })
		context.AfterFunc(work, func() { timer.Stop() })
	})()
	t.stamp(time.Now())
	go t.renew(work, stop, t.role) // a copy: the position of ours moves with what is sent

	err := t.loop(ctx, work)
	if t.out != nil {
		if closeErr := t.out.Close(); closeErr != nil {
			t.Log.Warn("the way to a sink did not close well", "sink", t.sink.Name, "reason", closeErr.Error())
		}
	}
	if lost := context.Cause(work); errors.Is(lost, patra.ErrLeaseLost) {
		err = lost
	}
	stop(nil)
	if errors.Is(err, patra.ErrLeaseLost) {
		return err
	}
	leave, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	return errors.Join(err, t.Store.ReleaseLease(leave, t.role))
}

func (t *leaderTerm) stamp(at time.Time) { t.renewed.Store(&at) }

// renew renews the lease. When that has failed for most of the lease, nothing more is sent: it spares the sink events that
// somebody else sends as well.
func (t *leaderTerm) renew(ctx context.Context, stop context.CancelCauseFunc, role patra.LeaderLease) {
	tick := time.NewTicker(t.cfg.Lease / 3)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		asked := time.Now()
		switch err := t.Store.RenewLease(ctx, role); {
		case err == nil:
			t.stamp(asked)
		case errors.Is(err, patra.ErrLeaseLost), time.Since(*t.renewed.Load()) > t.cfg.Lease*7/10:
			stop(patra.ErrLeaseLost)
			return
		}
	}
}

// sure reports a lost role without asking: after a long sleep the lease has surely run out.
func (t *leaderTerm) sure() error {
	if time.Since(*t.renewed.Load()) > t.cfg.Lease {
		return patra.ErrLeaseLost
	}
	return nil
}

func (t *leaderTerm) loop(ctx, work context.Context) error {
	for ctx.Err() == nil && work.Err() == nil {
		busy, err := t.step(work)
		switch {
		case err != nil && work.Err() != nil && errors.Is(err, context.Canceled):
			return nil // our time is up, or the role is lost: whoever calls knows which
		case err != nil:
			return err
		case t.failures > 0:
			if t.cfg.Once && t.failures >= patience {
				return ErrDown
			}
			t.wait(ctx, work, pause(t.failures, rand.Float64()))
		case !busy:
			left, _, err := t.Store.PendingDeliveries(work, t.sink.Name, nil)
			if err != nil {
				return err
			}
			if t.cfg.Once && left == 0 {
				return nil
			}
			t.wait(ctx, work, t.cfg.Poll)
		}
	}
	return nil
}

// wait waits until either ends.
func (t *leaderTerm) wait(ctx, work context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-work.Done():
	case <-time.After(d):
	}
}

// step sends what is due again, and then what is new. busy says that there may be more.
func (t *leaderTerm) step(ctx context.Context) (busy bool, err error) {
	numbered, last, err := t.Store.AssignSequence(ctx)
	if err != nil {
		return false, err
	}
	t.last = last
	again, err := t.retry(ctx)
	if err != nil {
		return false, err
	}
	fresh, err := t.advance(ctx)
	return numbered > 0 || again > 0 || fresh > 0, err
}

// retry sends events again that the sink did not take.
func (t *leaderTerm) retry(ctx context.Context) (int, error) {
	due, err := t.Store.DueDeliveries(ctx, t.sink.Name, t.cfg.Batch)
	if err != nil || len(due) == 0 {
		return 0, err
	}
	seqs := make([]int64, len(due))
	for i, d := range due {
		seqs[i] = d.Seq
	}
	events, err := t.Store.EventsOf(ctx, seqs)
	if err != nil {
		return 0, err
	}
	if len(events) != len(due) {
		return 0, fmt.Errorf("%d of %d events that wait are not there", len(due)-len(events), len(due))
	}
	errs, err := t.deliver(ctx, events, t.failures > 0)
	if err != nil {
		return 0, err
	}
	proof := alive(errs)
	if last := func(d patra.Delivery) bool { return d.Attempts+1 >= t.cfg.Attempts }; !proof && slices.ContainsFunc(due, last) {
		if proof, err = t.witnessed(ctx); err != nil {
			return 0, err
		}
	}
	sent := patra.DeliveryResult{Position: t.role.Position}
	for i, d := range due {
		switch {
		case errs[i] == nil:
			sent.Done = append(sent.Done, d.Seq)
		case ctx.Err() != nil && !IsRefused(errs[i]): // broken off by us: that was no attempt
		case !errors.Is(errs[i], errNotTried):
			sent.Failed = append(sent.Failed, t.failed(d, errs[i], proof))
		}
	}
	return len(sent.Done), t.mark(ctx, sent, errs)
}

// witnessed finds out whether the sink is there when all that is sent to it fails: an event that it has taken before is
// sent once more. That is a duplicate like any other.
func (t *leaderTerm) witnessed(ctx context.Context) (bool, error) {
	var seqs []int64
	for n := t.role.Position; n > max(t.role.Position-witnesses, 0); n-- {
		seqs = append(seqs, n)
	}
	events, err := t.Store.EventsOf(ctx, seqs)
	if err != nil {
		return false, err
	}
	keys := make([]string, len(events))
	for i, e := range events {
		keys[i] = e.Key
	}
	_, held, err := t.Store.PendingDeliveries(ctx, t.sink.Name, keys)
	if err != nil {
		return false, err
	}
	for _, e := range slices.Backward(events) {
		if t.sink.Filter.Wants(e.Type, e.Origin) && !held[e.Key] {
			errs, err := t.deliver(ctx, []patra.Event{e}, false)
			return alive(errs), err
		}
	}
	return false, nil
}

// witnesses is how many events are looked at to find one that was taken.
const witnesses = 50

// failed is another attempt that came to nothing. An event is set aside only when the sink is known to be there: it refused
// this very event, or took another at that time. A sink that is away for a day sets nothing aside.
func (t *leaderTerm) failed(d patra.Delivery, err error, proof bool) patra.Delivery {
	if errors.Is(err, errBehind) { // it was not sent, and will be when the older one is gone
		return d
	}
	d.Attempts, d.Error = d.Attempts+1, err.Error()
	switch {
	case d.Attempts < t.cfg.Attempts:
	case proof:
		d.State = patra.DeliveryAside
	default:
		d.Attempts = t.cfg.Attempts - 1
	}
	d.RetryIn = pause(d.Attempts, rand.Float64())
	return d
}

// advance sends new events. If nothing of them arrives, the place of the sink stays where it is; after some such failures
// events are sent one by one, to find out whether it is the sink or an event.
func (t *leaderTerm) advance(ctx context.Context) (int, error) {
	events, err := t.Store.EventsAfter(ctx, t.role.Position, t.cfg.Batch, t.cfg.Size)
	if err != nil || len(events) == 0 {
		return 0, err
	}
	wanted := slices.DeleteFunc(slices.Clone(events), func(e patra.Event) bool { return !t.sink.Filter.Wants(e.Type, e.Origin) })
	keys := make([]string, len(wanted))
	for i, e := range wanted {
		keys[i] = e.Key
	}
	waiting, held, err := t.Store.PendingDeliveries(ctx, t.sink.Name, keys)
	if err != nil {
		return 0, err
	}
	if waiting >= t.cfg.Waiting {
		return 0, nil // so much is wrong that a person must look; what waits is tried all the same
	}
	sent := patra.DeliveryResult{Position: events[len(events)-1].Seq}
	var now []patra.Event
	for _, e := range wanted {
		if held[e.Key] {
			sent.Failed = append(sent.Failed, patra.Delivery{Seq: e.Seq, Key: e.Key, State: patra.DeliveryWaiting})
		} else {
			now = append(now, e)
		}
	}
	errs, err := t.deliver(ctx, now, t.failures >= soloAfter)
	if err != nil {
		return 0, err
	}
	if len(now) > 0 && !alive(errs) {
		return 0, t.logFailure(ctx, errs)
	}
	for i, e := range now {
		d := patra.Delivery{Seq: e.Seq, Key: e.Key, State: patra.DeliveryWaiting}
		switch {
		case errs[i] == nil:
		case errors.Is(errs[i], errNotTried), ctx.Err() != nil && !IsRefused(errs[i]): // it waits, and that was no attempt
			sent.Failed = append(sent.Failed, d)
		default:
			sent.Failed = append(sent.Failed, t.failed(d, errs[i], true))
		}
	}
	t.failures = 0
	return len(events), t.mark(ctx, sent, errs)
}

// soloAfter is after how many failures in a row events are sent one by one.
const soloAfter = 3

// deliver sends events and gives an error for each of them, and one if nothing was sent because the role is lost.
func (t *leaderTerm) deliver(ctx context.Context, events []patra.Event, oneByOne bool) ([]error, error) {
	if len(events) == 0 {
		return nil, nil
	}
	if t.out == nil {
		out, err := t.sink.Open(ctx)
		if err != nil {
			return same(len(events), err), nil
		}
		t.out = out
	}
	publish := func(wave []patra.Event) []error {
		if err := t.sure(); err != nil {
			return same(len(wave), err)
		}
		return t.out.Publish(ctx, wave)
	}
	if oneByOne {
		publish = sendOneByOne(publish, int(min(t.failures, int64(t.cfg.Batch))))
	}
	ctx, span := t.span(ctx, len(events))
	errs := send(events, publish)
	sentSpan(span, errs)
	if slices.ContainsFunc(errs, func(err error) bool { return errors.Is(err, patra.ErrLeaseLost) }) {
		return errs, patra.ErrLeaseLost
	}
	return errs, nil
}

// logFailure notes that nothing arrived.
func (t *leaderTerm) logFailure(ctx context.Context, errs []error) error {
	t.failures++
	err := FirstError(errs)
	t.report(Progress{Failed: 1, Err: err})
	if ctx.Err() != nil { // we were told to stop, and that says nothing about the sink
		return nil
	}
	if t.failures == 1 {
		t.Log.Warn("a sink takes no events", "sink", t.sink.Name, "reason", err.Error())
	}
	at := patra.InstantOf(time.Now())
	return t.Store.MarkSent(ctx, &t.role, t.sink.Name, patra.DeliveryResult{Position: t.role.Position, Notes: patra.SinkHealth{Failures: t.failures, LastError: err.Error(), FailedAt: &at}})
}

// mark writes down what became of events that were sent.
func (t *leaderTerm) mark(ctx context.Context, sent patra.DeliveryResult, errs []error) error {
	p := Progress{}
	for _, err := range errs {
		if err == nil {
			p.Published++
		}
	}
	for _, d := range sent.Failed {
		if d.Error != "" {
			p.Failed++
		}
		if d.State == patra.DeliveryAside {
			p.Aside++
			t.Log.Error("an event was set aside", "sink", t.sink.Name, "event", d.Seq, "attempts", d.Attempts, "reason", d.Error)
		}
	}
	if p.Published > 0 {
		at := patra.InstantOf(time.Now())
		sent.Notes.SentAt = &at
	}
	// What has arrived is written down even if we are told to stop at this moment.
	write, cancel := context.WithTimeout(context.WithoutCancel(ctx), t.cfg.Lease)
	defer cancel()
	if err := t.Store.MarkSent(write, &t.role, t.sink.Name, sent); err != nil {
		return err
	}
	t.report(p)
	return nil
}

func (t *leaderTerm) report(p Progress) {
	if t.Observe != nil {
		p.Sink, p.Lag = t.sink.Name, t.last-t.role.Position
		t.Observe(p)
	}
}
