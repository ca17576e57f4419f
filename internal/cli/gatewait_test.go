package cli

import (
	"strings"
	"testing"
	"time"

	"patra"
	"patra/internal/store"
)

// viewed is a key under which two endpoints ask, with a state by a clock that is an hour behind ours.
func viewed(change func(now patra.Instant, is *patra.RateState)) gateView {
	clock := patra.Date(2026, time.June, 1)
	k := &GateKey{Key: "pubmed#ncbi", SharedBy: []string{"pubmed/search", "pubmed/fetch"}, limit: patra.RateLimit{Key: "pubmed#ncbi", PerSecond: 3, Burst: 3, Concurrency: 3}}
	is := patra.RateState{Limit: 3000, Burst: 3}
	change(clock, &is)
	v := viewOf(k, is, true, clock, clock+patra.Hour)
	v.count(map[string]store.EndpointQueue{"pubmed/search": {Waiting: 7, Running: 4}, "pubmed/fetch": {Waiting: 1}, "pubmed/created": {Waiting: 100}}, []patra.QuotaUse{
		{Key: "pubmed", Window: patra.QuotaDay, From: clock, To: clock + patra.Day, Limit: 10, Usable: 9, Used: 9},
	}, clock+patra.Hour)
	return v
}

func TestTheGateSaysWhyItHoldsBack(t *testing.T) {
	ours := patra.Date(2026, time.June, 1) + patra.Hour
	slots := func(n int, until patra.Instant) (all []patra.Slot) {
		for range n {
			all = append(all, patra.Slot{Until: until})
		}
		return all
	}
	for _, c := range []struct {
		name, code, text string
		until            patra.Instant
		change           func(now patra.Instant, is *patra.RateState)
	}{
		{"nothing", "", "", 0, func(patra.Instant, *patra.RateState) {}},
		{"a short queue", "", "", 0, func(now patra.Instant, is *patra.RateState) { is.Arrival = now.Add(time.Second) }},
		{"a long queue", patra.WaitGate, "All that pubmed#ncbi permits is given out (1.5 a second); about 12 tasks wait under this key, and the next turn comes in about 4s", ours.Add(4 * time.Second),
			func(now patra.Instant, is *patra.RateState) { is.Arrival, is.Tempo.Rate = now.Add(4*time.Second), 1500 }},
		{"a cooldown", patra.WaitCooldown, "pubmed#ncbi asked to be left alone until 2026-06-01 01:00:50.", ours.Add(50 * time.Second),
			func(now patra.Instant, is *patra.RateState) {
				is.Cooldown, is.Arrival = now.Add(50*time.Second), now.Add(60*time.Second)
			}},
		{"a cooldown that is over", "", "", 0, func(now patra.Instant, is *patra.RateState) { is.Cooldown = now }},
		{"all slots", patra.WaitConcurrency, "3 of 3 requests are on their way to pubmed#ncbi", 0, func(now patra.Instant, is *patra.RateState) { is.Slots = slots(3, now+1) }},
		{"slots that were forgotten", "", "", 0, func(now patra.Instant, is *patra.RateState) { is.Slots = slots(3, now) }},
		{"fewer slots than the source permits", patra.WaitConcurrency, "1 of 1 requests are", 0, func(now patra.Instant, is *patra.RateState) { is.Slots, is.ToldConcurrency = slots(1, now+1), 1 }},
	} {
		w, held := viewed(c.change).blockReason(ours)
		if held != (c.code != "") || w.Code != c.code || w.Until != c.until || !strings.HasPrefix(w.Text, c.text) {
			t.Errorf("%s: %t, %s until %s: %s", c.name, held, w.Code, w.Until, w.Text)
		}
	}
	v := viewed(func(now patra.Instant, is *patra.RateState) { is.Cooldown = now.Add(time.Minute) })
	v.CooldownBy = &patra.GateChange{Actor: "eve", Reason: "lunch"}
	if w, _ := v.blockReason(ours); w.Text != "Nobody sends to pubmed#ncbi until 2026-06-01 01:01:00: eve said so (lunch)." {
		t.Error(w.Text)
	}
	v.Quotas = []quotaView{{QuotaUse: patra.QuotaUse{Window: patra.QuotaDay, To: ours + patra.Day, Limit: 1000, Usable: 900, Used: 900}, Again: ours + patra.Day}}
	if w, _ := v.blockReason(ours); w.Code != patra.WaitQuota || w.Until != ours+patra.Day || w.Text !=
		"pubmed#ncbi: 900 of 900 usable requests today are used (the provider permits 1,000, 100 are kept in reserve); nothing leaves until it begins anew at 2026-06-02 01:00:00." {
		t.Errorf("%+v", w)
	}
}
