package cli

import (
	"context"
	"slices"
	"time"

	"patra"
	"patra/internal/config"
	"patra/internal/gate"
	"patra/internal/store"
)

// gateView is one key of the gate as it stands now, by our clock.
type gateView struct {
	*GateKey
	Used      bool                   `json:"used"` // somebody has asked under it, or a person has set it
	Permitted permitted              `json:"permitted"`
	PerSecond float64                `json:"per_second"` // what is given out now
	Slower    []patra.ThrottleReason `json:"slower,omitempty"`

	CooldownUntil patra.Instant     `json:"cooldown_until,omitzero"`
	CooldownLeft  float64           `json:"cooldown_left_seconds,omitempty"`
	CooldownBy    *patra.GateChange `json:"cooldown_by,omitempty"` // nil: the provider asked for it
	cooldown      patra.Instant     // by the database's clock

	OnTheWay    int     `json:"on_the_way"`
	Concurrency int     `json:"concurrency,omitempty"` // 0: any number
	Ahead       float64 `json:"ahead_seconds"`         // how long whoever comes now waits

	LastMinute requestCounts `json:"last_minute"`
	LastHour   requestCounts `json:"last_hour"`
	Tasks      gateTasks     `json:"tasks"`
	Keeper     string        `json:"keeper"`
	LentUntil  patra.Instant `json:"lent_until,omitzero"`
	Quotas     []quotaView   `json:"quotas,omitempty"`

	Changes []patra.GateChange `json:"changes,omitempty"` // what people did, newest first
}

// permitted is what the source permits.
type permitted struct {
	PerSecond   float64 `json:"per_second"`
	Burst       int     `json:"burst"`
	Concurrency int     `json:"concurrency,omitempty"`
	Warmup      string  `json:"warmup,omitempty"`
	Cost        int     `json:"cost,omitempty"` // what the heaviest request counts, if more than 1
}

// requestCounts is how often we asked, and were refused with 429 or 503.
type requestCounts struct {
	Requests int64 `json:"requests"`
	Refused  int64 `json:"refused"`
}

// gateTasks are the tasks of those who share a key.
type gateTasks struct {
	Waiting int64 `json:"waiting"`
	Running int64 `json:"running"`
}

// Who keeps the state of a key.
const (
	keptByStore = "STORE"
	keptByOther = "LENT"  // to a faster keeper, for some seconds
	keptByNone  = "LOCAL" // each process counts for itself, and nobody else sees it
)

// quotaView is a quota with what will become of it.
type quotaView struct {
	patra.QuotaUse
	LastsUntil patra.Instant `json:"lasts_until"` // at the pace of this window so far
	Lasts      bool          `json:"lasts"`       // until it begins anew
	Again      patra.Instant `json:"again"`       // when it has begun anew by any clock that the provider may have
}

// usedUp reports whether nothing may leave for a quota.
func (q quotaView) usedUp() bool { return q.Used >= q.Usable }

// stopped is until when nothing leaves, because of a quota; 0 is not at all.
func (v gateView) stopped() (until patra.Instant) {
	for _, q := range v.Quotas {
		if q.usedUp() {
			until = max(until, q.Again)
		}
	}
	return until
}

// gateReader reads keys of the gate, once or again and again.
type gateReader struct {
	store *store.Store
	cfg   config.Config
	ring  gateKeyIndex
	only  string // a key or a source; empty is all

	hours   map[string]requestCounts // counting an hour is dear: it is not done at every look
	countAt patra.Instant
}

// recount is how old the count of an hour may be.
const recount = 15 * time.Second

func (a *app) gateBoard(ctx context.Context, s *store.Store, only string) (*gateReader, error) {
	cfg, err := a.load()
	if err != nil {
		return nil, err
	}
	ring, err := a.gateKeys(ctx)
	if err != nil {
		return nil, err
	}
	return &gateReader{store: s, cfg: cfg, ring: ring, only: only}, nil
}

// look reads the board.
func (b *gateReader) look(ctx context.Context) ([]gateView, error) {
	states, clock, err := b.store.AllGates(ctx)
	if err != nil {
		return nil, err
	}
	used := map[string]patra.RateState{}
	for _, k := range states {
		used[k.Key] = k.RateState
		b.ring.of(k.Key)
	}
	names := b.ring.names()
	if b.only != "" {
		if names, err = b.ring.find(b.only); err != nil {
			return nil, err
		}
	}
	queues, err := b.store.Queues(ctx)
	if err != nil {
		return nil, err
	}
	quotas, err := b.store.Quotas(ctx)
	if err != nil {
		return nil, err
	}
	fresh := b.hours == nil || now().Sub(b.countAt) > recount
	if fresh {
		b.hours, b.countAt = map[string]requestCounts{}, now()
	}
	views := []gateView{}
	for _, name := range names {
		is, ok := used[name]
		v := viewOf(b.ring[name], is, ok, clock, now())
		if b.cfg.Gate.Backend == config.GateLocal {
			v.Keeper = keptByNone
		}
		v.count(queues, quotas, now())
		if err := b.history(ctx, &v); err != nil {
			return nil, err
		}
		views = append(views, v)
	}
	return views, nil
}

// history reads what was asked, and what people did.
func (b *gateReader) history(ctx context.Context, v *gateView) (err error) {
	at := now()
	if v.LastMinute.Requests, v.LastMinute.Refused, err = b.store.SentCount(ctx, v.Key, at.Add(-time.Minute)); err != nil {
		return err
	}
	hour, ok := b.hours[v.Key]
	if !ok {
		if hour.Requests, hour.Refused, err = b.store.SentCount(ctx, v.Key, at.Add(-time.Hour)); err != nil {
			return err
		}
		b.hours[v.Key] = hour
	}
	v.LastHour = requestCounts{max(hour.Requests, v.LastMinute.Requests), max(hour.Refused, v.LastMinute.Refused)} // it may have been counted earlier
	if !v.Used {
		return nil
	}
	if v.Changes, err = b.store.GateChanges(ctx, v.Key, 5); err == nil {
		v.CooldownBy = cooldownBy(v.Changes, v.cooldown)
	}
	return err
}

// viewOf is a key as it stands. The state goes by the database's clock, and what people see by ours.
func viewOf(k *GateKey, is patra.RateState, used bool, clock, now patra.Instant) gateView {
	ours := func(at patra.Instant) patra.Instant {
		if at == 0 {
			return 0
		}
		return now + at - clock
	}
	v := gateView{GateKey: k, Used: used, Keeper: keptByStore}
	l := k.limit
	if l.PerSecond == 0 { // nobody is installed who would say
		l.PerSecond, l.Burst = float64(is.Limit)/1000, is.Burst
	}
	v.Permitted = permitted{PerSecond: l.PerSecond, Burst: l.Burst, Concurrency: l.Concurrency, Cost: l.Heaviest}
	if l.Warmup > 0 {
		v.Permitted.Warmup = l.Warmup.String()
	}
	if is.Limit == 0 { // nobody has asked yet
		is.Limit = int64(l.PerSecond * 1000)
	}
	v.PerSecond = is.Rate()
	for _, s := range is.ThrottleReasons(l.Warmup, clock) {
		if s.Code == patra.SlowWarmup {
			v.PerSecond = gate.WarmRate(clock, is.WarmSince, l.Warmup, v.PerSecond)
		}
		s.Since = ours(s.Since)
		v.Slower = append(v.Slower, s)
	}
	if is.Cooldown > clock {
		v.cooldown = is.Cooldown
		v.CooldownUntil, v.CooldownLeft = ours(is.Cooldown), is.Cooldown.Sub(clock).Seconds()
	}
	v.OnTheWay, v.Concurrency = is.InFlight(clock), is.MaxInFlight(l.Concurrency)
	v.Ahead = gate.Wait(l, is, clock).Seconds()
	if is.Loan.Leased(clock) {
		v.Keeper, v.LentUntil = keptByOther, ours(is.Loan.Until)
	}
	return v
}

// count adds the tasks and the quotas of a key.
func (v *gateView) count(queues map[string]store.EndpointQueue, quotas []patra.QuotaUse, now patra.Instant) {
	for _, at := range v.SharedBy {
		v.Tasks.Waiting += queues[at].Waiting
		v.Tasks.Running += queues[at].Running
	}
	told := v.limit.Quota
	add := func(q patra.QuotaUse) {
		until, lasts := patra.Forecast(q.Used, q.Usable, q.To, now, q.Rate(now))
		v.Quotas = append(v.Quotas, quotaView{QuotaUse: q, LastsUntil: until, Lasts: lasts, Again: q.To.Add(told.Skew)})
	}
	for _, q := range quotas {
		if q.Key == v.Key && q.From <= now && q.To > now { // near its end, the next one has a row already
			add(q)
		}
	}
	for _, w := range told.At(now) { // of what nobody has used there is no row
		if !slices.ContainsFunc(v.Quotas, func(q quotaView) bool { return q.Window == w.Code }) {
			add(patra.QuotaUse{Key: v.Key, Window: w.Code, From: w.From, To: w.To, Limit: w.Limit, Usable: told.Usable(w.Limit)})
		}
	}
	if v.stopped() != 0 {
		v.PerSecond = 0
	}
}

// cooldownBy is the person's doing behind a cooldown, by the database's clock; nil where the provider asked for it.
func cooldownBy(changes []patra.GateChange, until patra.Instant) *patra.GateChange {
	for i, c := range changes {
		wait, err := time.ParseDuration(c.Value)
		if c.Action == patra.GateCooldown && err == nil && c.At.Add(wait) == until {
			return &changes[i]
		}
	}
	return nil
}
