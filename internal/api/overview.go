package api

import (
	"context"
	"slices"
	"sync"
	"time"

	"patra"
	"patra/internal/store"
)

// Overview is how everything stands.
type Overview struct {
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
	Health          patra.Health   `json:"health" enum:"STOPPED,FAILED,WAITING,RUNNING,OK,IDLE"`
	Said            string         `json:"said"`
	CompleteThrough *patra.Instant `json:"complete_through,omitempty" doc:"the earliest of its harvests"`
	Watermark       *patra.Instant `json:"watermark,omitempty" doc:"the earliest of its harvests"`
	LagSeconds      *float64       `json:"lag_seconds,omitempty" doc:"from complete_through to now"`
	Gaps            int64          `json:"gaps" doc:"stretches after a watermark that nobody has read and nobody is at, although something behind them was read or planned"`
	Queued          int64          `json:"queued"`
	Running         int64          `json:"running"`
	Failed          int64          `json:"failed" doc:"tasks"`
	Quarantine      int64          `json:"quarantine" doc:"items that nobody has settled"`
	ChangedToday    int64          `json:"changed_24h" doc:"records that changed within a day"`
	Capped          bool           `json:"capped" doc:"one of the numbers is larger than it says"`
	Cursors         int64          `json:"cursors"`
	LastPageAt      *patra.Instant `json:"last_page_at,omitempty"`
}

// mostCursors bounds how many watermarks are looked at. Tests set it.
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

// sources are the codes of all sources that are known here, with their titles.
func sources(ctx context.Context, st *store.Store) (codes []string, titles map[string]string, err error) {
	applied, err := st.Provenances(ctx)
	if err != nil {
		return nil, nil, err
	}
	if codes, err = st.Sources(ctx); err != nil {
		return nil, nil, err
	}
	titles = map[string]string{}
	for _, p := range applied {
		titles[p.Code] = p.Name
		codes = append(codes, p.Code)
	}
	slices.Sort(codes)
	return slices.Compact(codes), titles, nil
}

func (s *Server) readOverview(ctx context.Context) (o Overview, err error) {
	o = Overview{Sources: []SourceHealth{}, Recent: []patra.Plan{}}
	if o.At, err = s.Store.Now(ctx); err != nil {
		return o, err
	}
	facts := patra.SourceFacts{Now: o.At}
	if facts.Controls, err = s.Store.Controls(ctx); err != nil {
		return o, err
	}
	if facts.LastClaim, err = s.Store.LastClaim(ctx); err != nil {
		return o, err
	}
	queue, err := s.Store.QueueStates(ctx)
	if err != nil {
		return o, err
	}
	codes, titles, err := sources(ctx, s.Store)
	if err != nil {
		return o, err
	}
	for _, code := range codes {
		facts.Source, facts.Partitions = code, nil
		for _, q := range queue {
			if q.Source == code {
				facts.Partitions = append(facts.Partitions, q)
			}
		}
		h, err := s.health(ctx, facts, titles[code])
		if err != nil {
			return o, err
		}
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

// health is how one source stands.
func (s *Server) health(ctx context.Context, f patra.SourceFacts, title string) (h SourceHealth, err error) {
	h = SourceHealth{Code: f.Source, Title: title}
	for _, q := range f.Partitions {
		h.Queued, h.Running, h.Capped = h.Queued+q.Queued(), h.Running+q.Running, h.Capped || q.Capped
	}
	failed, err := s.Store.FailedOf(ctx, f.Source)
	if err != nil {
		return h, err
	}
	f.Failed, f.FailedAt = failed.Count, failed.At
	h.Failed, h.Capped = failed.Count, h.Capped || failed.Capped
	var more bool
	if h.Quarantine, more, err = s.Store.OpenQuarantine(ctx, f.Source); err != nil {
		return h, err
	}
	h.Capped = h.Capped || more
	if h.ChangedToday, more, err = s.Store.ChangedSince(ctx, f.Source, f.Now-patra.Day); err != nil {
		return h, err
	}
	h.Capped = h.Capped || more
	if f.LastPage, err = s.Store.LastPageOf(ctx, f.Source); err != nil {
		return h, err
	}
	cursors, err := s.Store.Cursors(ctx, store.Filter{Source: f.Source, Limit: mostCursors})
	if err != nil {
		return h, err
	}
	h.Cursors = int64(len(cursors))
	for _, c := range cursors {
		gaps, err := s.Store.GapsAhead(ctx, c)
		if err != nil {
			return h, err
		}
		h.Gaps += gaps
		if c.Operation == patra.Harvest {
			h.CompleteThrough, h.Watermark = earliest(h.CompleteThrough, c.SealedThrough), earliest(h.Watermark, c.Value)
		}
	}
	if h.CompleteThrough != nil {
		lag := f.Now.Sub(*h.CompleteThrough).Seconds()
		h.LagSeconds = &lag
	}
	f.Gaps, f.Complete, h.LastPageAt = h.Gaps, h.CompleteThrough, f.LastPage
	h.Health, h.Said = f.Judge()
	return h, nil
}

func earliest(a *patra.Instant, b patra.Instant) *patra.Instant {
	if a == nil || b < *a {
		return &b
	}
	return a
}
