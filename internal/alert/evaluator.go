package alert

import (
	"context"
	"slices"
	"time"

	"patra"
	"patra/internal/store"
)

// Evaluator is how somebody looks for alerts.
type Evaluator struct {
	Store *store.Store
	Rules patra.AlertRules
	// Fires is when a schedule should have fired last before a moment; nil where nobody knows schedules. Then nobody knows how far a
	// watermark should have come.
	Fires func(schedule string, before patra.Instant) (patra.Instant, bool)
	// Told are the names of those who are told of alerts; nil where nobody knows them.
	Told []string
}

// cursorsAtOnce is how many watermarks are read in one go. Tests set it.
var cursorsAtOnce = 1000

// The times that are looked back.
const (
	pagesFor = 5 * time.Minute // to see how many fail
	asideFor = 24 * time.Hour  // to see how much is no record
	plansFor = 7 * 24 * time.Hour
)

// Evaluate finds what needs a person now, by the rules.
func (s Evaluator) Evaluate(ctx context.Context) ([]patra.Alert, patra.AlertFacts, error) {
	f, err := s.Facts(ctx)
	if err != nil {
		return nil, f, err
	}
	return s.Rules.Alerts(f), f, nil
}

// Facts gathers what the rules want to know. It asks for ends of indexes and bounded parts only: a store with ten million records
// costs as much as one with ten.
func (s Evaluator) Facts(ctx context.Context) (f patra.AlertFacts, err error) {
	st := s.Store
	if f.Now, err = st.Now(ctx); err != nil {
		return f, err
	}
	var codes []string
	for _, read := range []func() error{
		func() (err error) { f.Controls, err = st.Controls(ctx); return err },
		func() (err error) { f.LastClaim, err = st.LastClaim(ctx); return err },
		func() (err error) { f.Queue, err = st.QueueStates(ctx); return err },
		func() (err error) { f.Sinks, err = st.SinkTroubles(ctx); return err },
		func() (err error) { f.Receivers, err = s.ReceiverStates(ctx); return err },
		func() (err error) { f.Crowds, err = st.QueueAverages(ctx, f.Now); return err },
		func() (err error) { f.Quotas, err = st.Quotas(ctx); return err },
		func() (err error) { codes, err = Sources(ctx, st); return err },
		func() (err error) { f.Pages, err = st.PageShares(ctx, codes, f.Now.Add(-pagesFor)); return err },
		func() (err error) {
			f.Plans, err = st.UnstartedPlans(ctx, patra.Window{From: f.Now.Add(-plansFor), To: f.Now.Add(-s.Rules.PlanFor)})
			return err
		},
		func() (err error) { f.Broken, err = st.FailedPlans(ctx); return err },
		func() (err error) { f.Schedules, err = s.schedules(ctx, f.Now); return err },
		func() error { return s.bySource(ctx, &f, codes) },
		func() error { return s.byCursor(ctx, &f) },
	} {
		if err := read(); err != nil {
			return f, err
		}
	}
	return f, nil
}

// schedules tells what came of the schedules that still fire.
func (s Evaluator) schedules(ctx context.Context, now patra.Instant) ([]patra.ScheduleState, error) {
	all, err := s.Store.ScheduleStates(ctx)
	if s.Fires == nil {
		return all, err
	}
	return slices.DeleteFunc(all, func(st patra.ScheduleState) bool {
		_, fires := s.Fires(st.Name, now)
		return !fires
	}), err
}

// ReceiverStates tell how those stand who are told of alerts, and those who were told something once.
func (s Evaluator) ReceiverStates(ctx context.Context) ([]patra.ReceiverState, error) {
	all, err := s.Store.ReceiverStates(ctx)
	for i := range all {
		all[i].Gone = s.Told != nil && !slices.Contains(s.Told, all[i].Name)
	}
	for _, name := range s.Told {
		if !slices.ContainsFunc(all, func(st patra.ReceiverState) bool { return st.Name == name }) {
			all = append(all, patra.ReceiverState{Name: name})
		}
	}
	if all == nil {
		all = []patra.ReceiverState{} // a list, also for programs
	}
	return all, err
}

// Sources are the codes of all sources that are known here.
func Sources(ctx context.Context, st *store.Store) ([]string, error) {
	applied, err := st.Provenances(ctx)
	if err != nil {
		return nil, err
	}
	codes, err := st.Sources(ctx)
	for _, p := range applied {
		codes = append(codes, p.Code)
	}
	slices.Sort(codes)
	return slices.Compact(codes), err
}

func (s Evaluator) bySource(ctx context.Context, f *patra.AlertFacts, codes []string) error {
	for _, code := range codes {
		w, err := s.Store.FailedBeside(ctx, code)
		if err != nil {
			return err
		}
		q, err := s.Store.RecentQuarantineShare(ctx, code, f.Now.Add(-asideFor))
		if err != nil {
			return err
		}
		f.Failed, f.Quarantined = append(f.Failed, w), append(f.Quarantined, q)
	}
	return nil
}

// byCursor looks at every watermark, a part of them after the other.
func (s Evaluator) byCursor(ctx context.Context, f *patra.AlertFacts) error {
	for before := int64(0); ; {
		cursors, err := s.Store.Cursors(ctx, store.Filter{Before: before, Limit: cursorsAtOnce})
		if err != nil {
			return err
		}
		for _, c := range cursors {
			if err := s.cursor(ctx, f, c); err != nil {
				return err
			}
			before = c.ID
		}
		if len(cursors) < cursorsAtOnce {
			return nil
		}
	}
}

func (s Evaluator) cursor(ctx context.Context, f *patra.AlertFacts, c patra.Cursor) error {
	facts, err := s.Store.CursorFacts(ctx, c)
	if err != nil {
		return err
	}
	if c.Operation == patra.Harvest {
		if err := s.Expect(ctx, f.Now, &facts); err != nil {
			return err
		}
		v, ok, err := s.Store.DayVolumes(ctx, c)
		if err != nil {
			return err
		}
		if ok {
			f.Volumes = append(f.Volumes, v)
		}
	}
	f.Cursors = append(f.Cursors, facts)
	return nil
}

// Expect adds where the schedule of a harvest should have brought its watermark.
func (s Evaluator) Expect(ctx context.Context, now patra.Instant, c *patra.CursorFacts) error {
	if s.Fires == nil {
		return nil
	}
	name, decided, err := s.Store.LastScheduleFor(ctx, c.Cursor.ID)
	if err != nil || name == "" {
		return err
	}
	at, ok := s.Fires(name, now.Add(-s.Rules.For(c.Cursor.Source).Lag))
	if ok {
		c.Schedule, c.Fired, c.Due = name, &at, decided.EndAt(at)
	}
	return nil
}
