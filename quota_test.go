package patra

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

func at(t *testing.T, text string) Instant {
	t.Helper()
	v, err := ParseInstant(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestQuotaWindows(t *testing.T) {
	for _, c := range []struct{ zone, code, moment, from, to string }{
		{"", QuotaHour, "2026-11-15T13:59:59Z", "2026-11-15T13:00:00Z", "2026-11-15T14:00:00Z"},
		{"", QuotaDay, "2026-11-15T00:00:00Z", "2026-11-15", "2026-11-16"},
		{"", QuotaMonth, "2026-12-31T23:59:59Z", "2026-12-01", "2027-01-01"},
		{"America/New_York", QuotaDay, "2026-11-15T04:59:00Z", "2026-11-14T05:00:00Z", "2026-11-15T05:00:00Z"},
		{"America/New_York", QuotaDay, "2026-03-08T12:00:00Z", "2026-03-08T05:00:00Z", "2026-03-09T04:00:00Z"}, // 23 hours
		{"America/New_York", QuotaDay, "2026-11-01T12:00:00Z", "2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z"}, // 25 hours
		{"America/New_York", QuotaHour, "2026-11-01T05:30:00Z", "2026-11-01T05:00:00Z", "2026-11-01T06:00:00Z"},
		{"America/New_York", QuotaHour, "2026-11-01T06:30:00Z", "2026-11-01T06:00:00Z", "2026-11-01T07:00:00Z"}, // the same name once more
		{"America/New_York", QuotaMonth, "2026-11-01T03:59:00Z", "2026-10-01T04:00:00Z", "2026-11-01T04:00:00Z"},
		{"Asia/Kolkata", QuotaHour, "2026-11-15T13:29:59Z", "2026-11-15T12:30:00Z", "2026-11-15T13:30:00Z"},
		{"Asia/Kolkata", QuotaDay, "2026-11-15T18:30:00Z", "2026-11-15T18:30:00Z", "2026-11-16T18:30:00Z"},
		{"Asia/Kathmandu", QuotaHour, "2026-11-15T13:14:59Z", "2026-11-15T12:15:00Z", "2026-11-15T13:15:00Z"},
		{"Asia/Beirut", QuotaDay, "2026-03-29T12:00:00Z", "2026-03-28T22:00:00Z", "2026-03-29T21:00:00Z"},          // it has no midnight
		{"America/Havana", QuotaDay, "2026-11-01T12:00:00Z", "2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z"},       // it has two
		{"Australia/Lord_Howe", QuotaHour, "2026-04-04T15:10:00Z", "2026-04-04T14:00:00Z", "2026-04-04T15:30:00Z"}, // set back by half an hour
		{"Pacific/Apia", QuotaMonth, "2026-11-30T11:00:00Z", "2026-11-30T11:00:00Z", "2026-12-31T11:00:00Z"},
	} {
		q := QuotaLimit{Hourly: 1, Daily: 1, Monthly: 1, Zone: c.zone}
		for _, w := range q.At(at(t, c.moment)) {
			if w.Code == c.code && (w.From != at(t, c.from) || w.To != at(t, c.to)) {
				t.Errorf("%s %s at %s is %s to %s", c.zone, c.code, c.moment, w.From, w.To)
			}
		}
	}
}

var quotaZones = []string{"", "America/New_York", "Asia/Kolkata", "Asia/Kathmandu", "Asia/Beirut", "America/Havana", "Australia/Lord_Howe", "America/St_Johns", "Pacific/Apia", "Europe/London"}

// Windows follow one another without a gap, and every moment of one gives the same one.
func TestQuotaWindowsTile(t *testing.T) {
	dice := rand.New(rand.NewPCG(1, 2))
	for _, zone := range quotaZones {
		q := QuotaLimit{Hourly: 1, Daily: 1, Monthly: 1, Zone: zone}
		for range 300 {
			moment := Date(2010, 1, 1) + Instant(dice.Int64N(int64(30*365*Day)))
			for n, w := range q.At(moment) {
				if !w.Contains(moment) {
					t.Fatalf("%s %s: %s is not in %s", zone, w.Code, moment, w.Window)
				}
				inside := w.From + Instant(dice.Int64N(int64(w.To-w.From)))
				if same := q.At(inside)[n]; same != w {
					t.Fatalf("%s %s: %s is in %s, and %s in %s", zone, w.Code, moment, w.Window, inside, same.Window)
				}
				if next := q.At(w.To)[n]; next.From != w.To {
					t.Fatalf("%s %s: after %s comes %s", zone, w.Code, w.Window, next.Window)
				}
			}
		}
	}
}

// book is the ledger in memory: what is charged, all or nothing.
type book map[string]int64

func (b book) charge(q QuotaLimit, cost int64, now Instant) bool {
	windows := q.Charged(now)
	name := func(w QuotaWindow) string { return w.Code + w.Window.String() }
	for _, w := range windows {
		if b[name(w)]+cost > q.Usable(w.Limit) {
			return false
		}
	}
	for _, w := range windows {
		b[name(w)] += cost
	}
	return true
}

// Whatever is charged, and however the provider's clock is off within the skew, and however long a request takes within
// the grace: what the provider counts in its own windows is within the limit.
func TestQuotaHoldsByTheProvidersClock(t *testing.T) {
	dice := rand.New(rand.NewPCG(3, 4))
	for round := range 100 {
		q := QuotaLimit{Hourly: 1 + dice.Int64N(20), Daily: 1 + dice.Int64N(60), Monthly: 1 + dice.Int64N(200), Reserve: int(dice.Int64N(30)),
			Zone: quotaZones[dice.IntN(len(quotaZones))], Skew: time.Duration(dice.Int64N(int64(30 * time.Minute)))}
		gap := 5 * Minute
		if round%2 == 0 { // hours that are just about full, and clocks that agree: then only the way there makes a difference
			q.Daily, q.Monthly, q.Skew, q.Reserve = 0, 0, time.Duration(round%4)*time.Second, 0
			gap = Hour / Instant(q.Hourly)
		}
		off := time.Duration(dice.Int64N(2*int64(q.Skew)+1)) - q.Skew
		ledger, provider := book{}, book{}
		now := Date(2026, 3, 1) + Instant(dice.Int64N(int64(300*Day)))
		for range 2000 {
			now += Instant(dice.ExpFloat64() * float64(gap))
			cost := 1 + dice.Int64N(min(3, q.Hourly))
			if !ledger.charge(q, cost, now) {
				continue
			}
			arrives := now + Instant(dice.Int64N(int64(QuotaGrace/time.Microsecond)))
			for _, w := range q.At(arrives.Add(off)) {
				name := fmt.Sprint(w.Code, w.Window)
				if provider[name] += cost; provider[name] > w.Limit {
					t.Fatalf("round %d: the provider counts %d of %d in %s %s (%+v, off by %s)", round, provider[name], w.Limit, w.Code, w.Window, q, off)
				}
			}
		}
		if len(provider) == 0 && q.Usable(q.Hourly) > 2 && (q.Daily == 0 || q.Usable(q.Daily) > 2 && q.Usable(q.Monthly) > 2) {
			t.Fatalf("round %d: nothing was ever sent under %+v", round, q)
		}
	}
}

func TestQuotaShare(t *testing.T) {
	for _, c := range []struct {
		op       Operation
		backfill float64
		want     float64
	}{{Harvest, 0.5, 1}, {Update, 0.5, 0.75}, {Backfill, 0.5, 0.5}, {Backfill, 0, 1}, {Update, 7, 1}} {
		if got := QuotaShare(c.op, c.backfill); got != c.want {
			t.Errorf("%s of %g: %g", c.op, c.backfill, got)
		}
	}
	if ShareOf(900, 0.5) != 450 || ShareOf(1, 0.5) != 1 || ShareOf(0, 1) != 0 || ShareOf(900, 1) != 900 {
		t.Error("shares are wrong")
	}
	if q := (QuotaLimit{Reserve: 10}); q.Usable(1001) != 900 || q.Usable(0) != 0 {
		t.Errorf("of 1001, %d are usable", q.Usable(1001))
	}
}

func TestForecast(t *testing.T) {
	now := Date(2026, 11, 15) + 12*Hour
	reset := Date(2026, 11, 16)
	for _, c := range []struct {
		used, usable int64
		now          Instant
		rate         float64
		until        Instant
		lasts        bool
	}{
		{0, 900, now, 0, reset, true},
		{0, 3600, now, 1, now + Hour, false},
		{0, 12 * 3600, now, 1, reset, true},
		{0, 12*3600 - 1, now, 1, reset - Second, false},
		{900, 900, now, 1, now, false},
		{901, 900, now, 0, now, false},
		{5, 900, reset + Hour, 1, reset, true},
	} {
		if until, lasts := Forecast(c.used, c.usable, reset, c.now, c.rate); until != c.until || lasts != c.lasts {
			t.Errorf("%+v: %s %v", c, until, lasts)
		}
	}
	u := QuotaUse{From: Date(2026, 11, 15), To: reset, Usable: 900, Used: 432}
	if u.Rate(now) != 0.01 || u.Rate(u.From+Second) != 0 || u.Left() != 468 {
		t.Errorf("%g a second, %d left", u.Rate(now), u.Left())
	}
}

func TestQuotaError(t *testing.T) {
	q := QuotaLimit{Daily: 1000, Reserve: 10, Skew: 5 * time.Minute}
	now := Date(2026, 11, 15) + 20*Hour
	w := q.At(now)[0]
	hard := q.Refusal("crossref", w, 900, QuotaCharge{Cost: 1, Operation: Backfill, Share: 0.5}, now)
	if !hard.Hard || hard.Error() != "the quota of crossref for today is used up (900 of 1,000, 100 kept in reserve); it begins anew at 2026-11-16T00:00:00Z" {
		t.Error(hard)
	}
	soft := q.Refusal("crossref", w, 450, QuotaCharge{Cost: 1, Operation: Backfill, Share: 0.5}, now)
	if soft.Hard || soft.Error() != "backfill's share of the quota of crossref for today is used up (450 of 1,000, 100 kept in reserve); it begins anew at 2026-11-16T00:00:00Z" {
		t.Error(soft)
	}
	if hard.Wait() != 4*time.Hour+5*time.Minute || hard.Defer(0) != hard.Wait() || hard.Defer(1) != hard.Wait()+2*time.Minute {
		t.Errorf("waits %s, defers %s to %s", hard.Wait(), hard.Defer(0), hard.Defer(1))
	}
	late := q.Refusal("crossref", w, 900, QuotaCharge{Cost: 1}, w.To+Minute)
	if late.Wait() != 4*time.Minute || late.Defer(0.5) != 4*time.Minute+12*time.Second || late.Error() != "the quota of crossref for today is used up (900 of 1,000, 100 kept in reserve); it begins anew at 2026-11-16T00:05:00Z" {
		t.Error(late, late.Wait(), late.Defer(0.5))
	}
	for _, c := range []struct {
		key    string
		hard   bool
		target Target
	}{
		{"crossref", true, Target{ScopeSource, "crossref"}}, {"crossref#key", true, Target{ScopeSource, "crossref"}}, {"host:api.example.org", true, Target{ScopeSource, "crossref"}},
		{"crossref/works", true, Target{ScopeEndpoint, "crossref/works"}}, {"crossref/works", false, Target{ScopeOperation, "crossref/works/BACKFILL"}},
		{"crossref", false, Target{ScopeOperation, "crossref/*/BACKFILL"}},
	} {
		e := QuotaError{Key: c.key, Hard: c.hard}
		if got := e.Target(WorkScope{Source: "crossref", Endpoint: "works", Operation: Backfill}); got != c.target {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

func TestToldQuota(t *testing.T) {
	day := Date(2026, 11, 15)
	both := QuotaLimit{Hourly: 100, Daily: 1000, Skew: 5 * time.Minute}
	daily, monthly := QuotaLimit{Daily: 1000, Skew: 5 * time.Minute}, QuotaLimit{Monthly: 1000, Skew: 5 * time.Minute}
	for _, c := range []struct {
		name string
		q    QuotaLimit
		now  Instant
		told AdvertisedQuota
		code string // empty: not believed
		from Instant
		used int64
	}{
		{"the day's reset", both, day + 13*Hour, AdvertisedQuota{400, 11 * time.Hour}, QuotaDay, day, 600},
		{"the hour's reset", both, day + 13*Hour + 20*Minute, AdvertisedQuota{40, 40 * time.Minute}, QuotaHour, day + 13*Hour, 60},
		{"a reset that nobody has", both, day + 13*Hour, AdvertisedQuota{40, 5 * time.Hour}, "", 0, 0},
		{"none is the day", both, day + 13*Hour, AdvertisedQuota{Left: 400}, QuotaDay, day, 600},
		{"or the only one", monthly, day + 13*Hour, AdvertisedQuota{Left: 0}, QuotaMonth, Date(2026, 11, 1), 1000},
		{"which may be the last one still", daily, day + 2*Minute, AdvertisedQuota{Left: 0}, "", 0, 0},
		{"an answer from before midnight", daily, day + Second, AdvertisedQuota{0, time.Second}, QuotaDay, day - Day, 1000},
		{"a clock that is ahead", daily, day - 3*Minute, AdvertisedQuota{1000, 24*time.Hour - 2*time.Minute}, QuotaDay, day, 0},
		{"more than there is", daily, day + 13*Hour, AdvertisedQuota{1001, 11 * time.Hour}, "", 0, 0},
		{"less than nothing", daily, day + 13*Hour, AdvertisedQuota{-1, 11 * time.Hour}, "", 0, 0},
		{"in the past", daily, day + 13*Hour, AdvertisedQuota{1, -time.Hour}, "", 0, 0},
		{"far away", daily, day + 13*Hour, AdvertisedQuota{1, 33 * 24 * time.Hour}, "", 0, 0},
		{"nothing is counted", QuotaLimit{}, day + 13*Hour, AdvertisedQuota{Left: 1}, "", 0, 0},
	} {
		w, used, ok := c.q.Told(c.now, c.told)
		if ok != (c.code != "") || ok && (w.Code != c.code || w.From != c.from || used != c.used) {
			t.Errorf("%s: %s from %s, %d used, %v", c.name, w.Code, w.From, used, ok)
		}
	}
}
