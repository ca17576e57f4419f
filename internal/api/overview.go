package api

import (
	"context"
	"sync"
	"time"

	"patra"
	"patra/internal/engine"
	"patra/internal/store"
	"patra/internal/view"
)

// Overview is how everything stands.
type Overview struct {
	Verdict view.Verdict   `json:"verdict" doc:"of all sources together"`
	Totals  Totals         `json:"totals"`
	Sources []SourceHealth `json:"sources" nullable:"false"`
	Recent  []patra.Plan   `json:"recent" nullable:"false" doc:"the newest plans"`
	At      patra.Instant  `json:"at"`
}

// Totals are numbers of all sources.
type Totals struct {
	Records    int64 `json:"records" doc:"the number of the newest record: as many were stored, or a few less where the database skips numbers"`
	Queued     int64 `json:"queued"`
	Running    int64 `json:"running"`
	Failed     int64 `json:"failed"`
	Quarantine int64 `json:"quarantine"`
	Capped     bool  `json:"capped" doc:"one of the numbers is larger than it says: counting ends at ten thousand of a source"`
}

// SourceHealth is how one source stands.
type SourceHealth struct {
	Code            string         `json:"code"`
	Title           string         `json:"title,omitempty"`
	Health          view.Health    `json:"health" enum:"STOPPED,FAILED,INCOMPLETE,DISPUTED,UNPROVED,LATE,WAITING,RUNNING,OK,IDLE"`
	Complete        bool           `json:"complete" doc:"patra coverage gaps would exit with 0 for it: nothing is missing or in dispute that no waiver signs off"`
	Said            string         `json:"said"`
	Reasons         []view.Reason  `json:"reasons" nullable:"false" doc:"what keeps it from OK, and notes; the gravest first"`
	CompleteThrough *patra.Instant `json:"complete_through,omitempty" doc:"the earliest of its harvests"`
	Watermark       *patra.Instant `json:"watermark,omitempty" doc:"the earliest of its harvests"`
	LagSeconds      *float64       `json:"lag_seconds,omitempty" doc:"from complete_through to now"`
	Gaps            int64          `json:"gaps" doc:"stretches that are missing: those of /gaps that are neither waived, in dispute nor ahead"`
	Disputed        int64          `json:"disputed" doc:"stretches that the provider counts differently"`
	Queued          int64          `json:"queued"`
	Running         int64          `json:"running"`
	Failed          int64          `json:"failed" doc:"tasks"`
	Quarantine      int64          `json:"quarantine" doc:"items that nobody has settled"`
	ChangedToday    int64          `json:"changed_24h" doc:"records that changed within a day"`
	Capped          bool           `json:"capped" doc:"one of the numbers is larger than it says"`
	Cursors         int64          `json:"cursors"`
	LastPageAt      *patra.Instant `json:"last_page_at,omitempty"`
}

// mostCursors bounds how many watermarks a list of gaps looks at in one go. Tests set it.
var mostCursors = 1000

// recentPlans is how many plans an overview shows.
const recentPlans = 10

// cachedValue keeps an answer for a moment, so that many who ask at the same time are one.
type cachedValue[T any] struct {
	every time.Duration
	read  func(context.Context) (T, error)

	turn sync.Once
	mine chan struct{} // whoever has it reads; nobody waits for it longer than they may
	at   time.Time
	last T
}

func (o *cachedValue[T]) get(ctx context.Context) (v T, err error) {
	o.turn.Do(func() { o.mine = make(chan struct{}, 1) })
	select {
	case o.mine <- struct{}{}:
		defer func() { <-o.mine }()
	case <-ctx.Done():
		return v, ctx.Err()
	}
	if !o.at.IsZero() && time.Since(o.at) < o.every {
		return o.last, nil
	}
	if v, err = o.read(ctx); err == nil {
		o.last, o.at = v, time.Now()
	}
	return v, err
}

// forget lets the next one who asks read again.
func (o *cachedValue[T]) forget(ctx context.Context) {
	o.turn.Do(func() { o.mine = make(chan struct{}, 1) })
	select {
	case o.mine <- struct{}{}:
		o.at = time.Time{}
		<-o.mine
	case <-ctx.Done():
	}
}

// overview registers how everything stands. It is asked every second or two, by everybody who has a dashboard open.
func (s *Server) overview() {
	all := &cachedValue[Overview]{every: beatEvery, read: s.readOverview}
	Get(s, "/overview", Look, Doc{ID: "overview", Summary: "How everything stands, source by source"}, func(ctx context.Context, _ *EmptyInput) (Overview, error) {
		return all.get(ctx)
	})
	queue := &cachedValue[[]patra.QueueState]{every: beatEvery, read: s.Store.QueueStates}
	Get(s, "/queue", Look, Doc{ID: "queue", Summary: "How the queues stand, partition by partition"}, func(ctx context.Context, _ *EmptyInput) (List[patra.QueueState], error) {
		found, err := queue.get(ctx)
		return All(found), err
	})
}

// titles are the names of the sources that were applied.
func titles(ctx context.Context, st *store.Store) (map[string]string, error) {
	applied, err := st.Provenances(ctx)
	found := map[string]string{}
	for _, p := range applied {
		found[p.Code] = p.Name
	}
	return found, err
}

func (s *Server) readOverview(ctx context.Context) (o Overview, err error) {
	o = Overview{Sources: []SourceHealth{}, Recent: []patra.Plan{}}
	standing := engine.Standing{Store: s.Store, Rules: s.Alerts.Sight.Rules, Schedules: s.Schedules}
	facts, err := standing.Installation(ctx)
	if err != nil {
		return o, err
	}
	names, err := titles(ctx, s.Store)
	if err != nil {
		return o, err
	}
	var verdicts []view.Verdict
	o.At = facts.Now
	o.Verdict, verdicts = view.Installation(facts)
	for i, f := range facts.Sources {
		h, err := s.health(ctx, f, verdicts[i], facts.Now)
		if err != nil {
			return o, err
		}
		h.Title = names[f.Source]
		o.Sources = append(o.Sources, h)
		t := &o.Totals
		t.Queued, t.Running, t.Failed, t.Quarantine, t.Capped = t.Queued+h.Queued, t.Running+h.Running, t.Failed+h.Failed, t.Quarantine+h.Quarantine, t.Capped || h.Capped
	}
	if o.Totals.Records, err = s.Store.NewestRecord(ctx); err != nil {
		return o, err
	}
	o.Recent, err = s.Store.Plans(ctx, store.Filter{Limit: recentPlans})
	return o, err
}

// health is a verdict on a source with the numbers beside it.
func (s *Server) health(ctx context.Context, f view.SourceFacts, v view.Verdict, now patra.Instant) (h SourceHealth, err error) {
	h = SourceHealth{Code: f.Source, Health: v.Health, Complete: v.Complete, Said: v.Message, Reasons: v.Reasons, Gaps: v.Tally.Missing, Disputed: v.Tally.Disputed,
		Failed: f.Failed, Capped: f.FailedCapped, LastPageAt: f.LastPage, CompleteThrough: f.Complete, Cursors: int64(len(f.Cursors))}
	for _, q := range f.Partitions {
		h.Queued, h.Running, h.Capped = h.Queued+q.Queued(), h.Running+q.Running, h.Capped || q.Capped
	}
	var more bool
	if h.Quarantine, more, err = s.Store.OpenQuarantine(ctx, f.Source); err != nil {
		return h, err
	}
	h.Capped = h.Capped || more
	if h.ChangedToday, more, err = s.Store.ChangedSince(ctx, f.Source, now-patra.Day); err != nil {
		return h, err
	}
	h.Capped = h.Capped || more
	for _, c := range f.Cursors {
		if c.Cursor.Operation == patra.Harvest {
			h.Watermark = earliest(h.Watermark, c.Cursor.Value)
		}
	}
	if h.CompleteThrough != nil {
		lag := now.Sub(*h.CompleteThrough).Seconds()
		h.LagSeconds = &lag
	}
	return h, nil
}

func earliest(a *patra.Instant, b patra.Instant) *patra.Instant {
	if a == nil || b < *a {
		return &b
	}
	return a
}
