package engine

import (
	"context"
	"slices"

	"patra"
	"patra/internal/alert"
	"patra/internal/store"
	"patra/internal/view"
)

// Standing reads how everything stands, for one verdict that every way of asking shows.
type Standing struct {
	Store *store.Store
	Rules patra.AlertRules // only how late a watermark may be
	// Schedules are those of the settings; nil where they are not known. Then every schedule that ever fired counts.
	Schedules []Schedule
}

// Schedule is a schedule of the settings.
type Schedule struct {
	Name      string
	Source    string
	Endpoint  string
	Operation patra.Operation
	Paused    bool
	Last      func(before patra.Instant) (patra.Instant, bool) // when it should have fired last before a moment
}

// lateFire is how long after its time a schedule may fire before it is behind.
const lateFire = 10 * patra.Minute

// mostCursors is how many watermarks are read in one go. Tests set it.
var mostCursors = 1000

// Installation reads everything that the verdict on an installation is made of, source by source in the order of their codes.
func (s Standing) Installation(ctx context.Context) (view.Facts, error) {
	f, err := s.base(ctx)
	if err != nil {
		return f, err
	}
	codes, err := s.sources(ctx, f)
	if err != nil {
		return f, err
	}
	queue, err := s.Store.QueueStates(ctx)
	if err != nil {
		return f, err
	}
	for _, code := range codes {
		one, err := s.source(ctx, code, f.Now)
		if err != nil {
			return f, err
		}
		for _, q := range queue {
			if q.Source == code {
				one.Partitions = append(one.Partitions, q)
			}
		}
		f.Sources = append(f.Sources, one)
	}
	return f, nil
}

// base is what is true of all sources.
func (s Standing) base(ctx context.Context) (f view.Facts, err error) {
	if f.Now, err = s.Store.Now(ctx); err != nil {
		return f, err
	}
	if f.Controls, err = s.Store.Controls(ctx); err != nil {
		return f, err
	}
	if f.LastClaim, err = s.Store.LastClaim(ctx); err != nil {
		return f, err
	}
	f.Schedules, err = s.schedules(ctx, f.Now)
	return f, err
}

// sources are the codes of all sources that are known here: applied, planned for, or scheduled.
func (s Standing) sources(ctx context.Context, f view.Facts) ([]string, error) {
	codes, err := alert.Sources(ctx, s.Store)
	for _, sch := range f.Schedules {
		codes = append(codes, sch.Source)
	}
	slices.Sort(codes)
	return slices.Compact(codes), err
}

// schedules tells of each schedule what came of it, and when it should have fired.
func (s Standing) schedules(ctx context.Context, now patra.Instant) ([]patra.ScheduleState, error) {
	known, err := s.Store.ScheduleStates(ctx)
	if err != nil || s.Schedules == nil {
		return known, err
	}
	all := []patra.ScheduleState{}
	for _, sch := range s.Schedules {
		if sch.Paused {
			continue
		}
		st := patra.ScheduleState{}
		if i := slices.IndexFunc(known, func(k patra.ScheduleState) bool { return k.Name == sch.Name }); i >= 0 {
			st = known[i]
		}
		st.Name, st.Source, st.Operation = sch.Name, sch.Source, sch.Operation
		if due, ok := sch.Last(now - lateFire); ok {
			st.Due = &due
		}
		all = append(all, st)
	}
	return all, nil
}

// last is alert.Evaluator.Fires for the schedules that are known here.
func (s Standing) last(name string, before patra.Instant) (patra.Instant, bool) {
	for _, sch := range s.Schedules {
		if sch.Name == name && !sch.Paused {
			return sch.Last(before)
		}
	}
	return 0, false
}

// source is what is known of one source.
func (s Standing) source(ctx context.Context, code string, now patra.Instant) (f view.SourceFacts, err error) {
	f.Source = code
	failed, err := s.Store.FailedOf(ctx, code)
	if err != nil {
		return f, err
	}
	f.Failed, f.FailedCapped, f.FailedAt = failed.Count, failed.Capped, failed.At
	if f.LastPage, err = s.Store.LastPageOf(ctx, code); err != nil {
		return f, err
	}
	if f.Plans, err = s.Store.FailedPlansByID(ctx, code); err != nil {
		return f, err
	}
	for before := int64(0); ; {
		cursors, err := s.Store.Cursors(ctx, store.Filter{Source: code, Before: before, Limit: mostCursors})
		if err != nil {
			return f, err
		}
		for _, c := range cursors {
			one, err := s.cursor(ctx, c, now)
			if err != nil {
				return f, err
			}
			f.Cursors, before = append(f.Cursors, one), c.ID
			if c.Operation == patra.Harvest && (f.Complete == nil || c.SealedThrough < *f.Complete) {
				f.Complete = &c.SealedThrough
			}
		}
		if len(cursors) < mostCursors {
			break
		}
	}
	for i := range f.Cursors {
		f.Cursors[i].Named = len(f.Cursors) > 1
	}
	return f, nil
}

// cursor is what is known of one cursor, from the first moment on at which anything can be wrong.
func (s Standing) cursor(ctx context.Context, c patra.Cursor, now patra.Instant) (f view.CursorFacts, err error) {
	if f.CursorCoverage, err = s.Store.OpenCoverage(ctx, c, now); err != nil {
		return f, err
	}
	f.Lag = s.Rules.For(c.Source).Lag
	f.Expected.Cursor = c
	if c.Operation != patra.Harvest || len(s.Schedules) == 0 {
		return f, nil
	}
	e := alert.Evaluator{Store: s.Store, Rules: s.Rules, Fires: s.last}
	return f, e.Expect(ctx, now, &f.Expected)
}
