package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"patra"
	"patra/internal/source"
)

func TestAKeyIsSeenByOurClock(t *testing.T) {
	v := viewed(func(now patra.Instant, is *patra.RateState) {
		is.Cooldown, is.Arrival = now.Add(time.Minute), now.Add(90*time.Second)
		is.Tempo = patra.AdaptiveRate{Rate: 1500, RefusedAt: now.Add(-time.Second)}
		is.Told, is.Set = 2000, 1000
		is.Loan = patra.StateLease{Epoch: 1, Until: now.Add(time.Second)}
		is.Slots = []patra.Slot{{Until: now + 1}}
	})
	ours := patra.Date(2026, time.June, 1) + patra.Hour
	if v.CooldownUntil != ours.Add(time.Minute) || v.CooldownLeft != 60 || v.Ahead != 90 || v.OnTheWay != 1 || v.Concurrency != 3 || v.Keeper != keptByOther || v.LentUntil != ours.Add(time.Second) {
		t.Errorf("%+v", v)
	}
	if v.PerSecond != 1 || len(v.Slower) != 3 || v.Slower[0].Code != patra.SlowSet || v.Slower[1].Since != ours.Add(-time.Second) {
		t.Errorf("%v a second because of %+v", v.PerSecond, v.Slower)
	}
	if v.Tasks != (gateTasks{8, 4}) || len(v.Quotas) != 0 { // the quota is another key's
		t.Errorf("%+v, %+v", v.Tasks, v.Quotas)
	}
}

// Whatever is to be said about a key, no line is longer than a page.
func TestGatesFitAPage(t *testing.T) {
	v := viewed(func(now patra.Instant, is *patra.RateState) {
		is.Cooldown, is.Arrival = now.Add(20*time.Hour), now.Add(20*time.Hour)
		is.Tempo, is.Told, is.Set = patra.AdaptiveRate{Rate: 1234, RefusedAt: now.Add(-time.Second)}, 2222, 1111
		is.Slots, is.Loan.Until = []patra.Slot{{Until: now + 1}, {Until: now + 1}, {Until: now + 1}}, now+patra.Second
	})
	v.Key = "host:a-very-long-name-of-a-provider.example.org#secret"
	v.SharedBy = []string{"one/two", "three/four", "five/six", "seven/eight", "nine/ten", "eleven/twelve", "thirteen/fourteen"}
	v.LastHour = requestCounts{1_234_567, 12_345}
	v.LastMinute = requestCounts{12_345, 1}
	v.Tasks = gateTasks{123_456, 12}
	v.CooldownBy = &patra.GateChange{Actor: "somebody", Reason: strings.Repeat("for many reasons ", 10)}
	v.Changes = []patra.GateChange{{Action: patra.GateCooldown, Value: "20h0m0s", Actor: "somebody", Reason: strings.Repeat("for many reasons ", 10)}}
	v.Quotas = []quotaView{{QuotaUse: patra.QuotaUse{Window: patra.QuotaMonth, Limit: 1_000_000_000, Usable: 900_000_000, Used: 900_000_000}}, {QuotaUse: patra.QuotaUse{Window: patra.QuotaHour, Limit: 100, Usable: 90, Used: 3}, Lasts: true}}
	c := requestStatsView{Key: v.Key, RequestStats: patra.RequestStats{Requests: 12_345_678, TooMany: 1234, Unavailable: 1234, Errors: 12_345, Open: 5, PeakSecond: 123, PeakMinute: 1234, Cooldowns: 17, Broken: 12, OnTheWay: 12}, InSecond: 300, InMinute: 18_000, WaitedMean: 5, WaitedMost: 9.9}
	for name, print := range map[string]func(io.Writer){
		"status": func(w io.Writer) { printGates(w, []gateView{v}, false) },
		"detail": func(w io.Writer) { printGates(w, []gateView{v}, true) },
		"report": func(w io.Writer) { printConduct(w, []requestStatsView{c}, 0) },
	} {
		var b bytes.Buffer
		print(&b)
		for line := range strings.Lines(b.String()) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, " \n")); n > pageWidth && !strings.HasPrefix(line, "Next: ") {
				t.Errorf("%s: %d letters: %s", name, n, line)
			}
		}
	}
}

// The wait that is shown is the wait that the gate imposes: below one request a second there are no bursts.
func TestWhoeverComesNowWaits(t *testing.T) {
	slow := patra.RateLimit{Key: "a", PerSecond: 0.08, Burst: 5}
	now := patra.Date(2026, time.June, 1)
	v := viewOf(&GateKey{limit: slow}, patra.RateState{Limit: 80, Burst: 5, Arrival: now.Add(12 * time.Second)}, true, now, now)
	if v.Ahead != 12 {
		t.Errorf("the interval of the last request ends in 12 s, and the next is to wait %v s", v.Ahead)
	}
	v = viewOf(&GateKey{limit: slow}, patra.RateState{Limit: 80, Burst: 5, Arrival: now.Add(51 * time.Second), Tempo: patra.AdaptiveRate{Rate: 40}}, true, now, now)
	if v.Ahead != 51 {
		t.Errorf("while we are slow there are no bursts, and the next is to wait %v s", v.Ahead)
	}
	v = viewOf(&GateKey{limit: slow}, patra.RateState{Limit: 80, Burst: 5, Cooldown: now + patra.Minute}, true, now, now)
	if v.Ahead != 60 {
		t.Errorf("in a cooldown of a minute the next is to wait %v s", v.Ahead)
	}
}

// Near the end of an hour the next one has a row too. Of what nobody used there is none, and it is told all the same.
func TestQuotasOfNow(t *testing.T) {
	now := patra.Date(2026, time.June, 1) + patra.Hour - patra.Minute
	hour := func(from patra.Instant, used int64) patra.QuotaUse {
		return patra.QuotaUse{Key: "a", Window: patra.QuotaHour, From: from, To: from + patra.Hour, Limit: 10, Usable: 9, Used: used}
	}
	v := gateView{GateKey: &GateKey{Key: "a", limit: patra.RateLimit{Quota: patra.QuotaLimit{Hourly: 10, Daily: 100, Reserve: 10, Skew: 5 * time.Minute}}}, PerSecond: 3}
	v.count(nil, []patra.QuotaUse{hour(patra.Date(2026, time.June, 1), 9), hour(patra.Date(2026, time.June, 1)+patra.Hour, 1)}, now)
	if len(v.Quotas) != 2 || v.Quotas[0].Used != 9 || v.Quotas[1].Window != patra.QuotaDay || v.Quotas[1].Usable != 90 || v.Quotas[1].Used != 0 {
		t.Fatalf("%+v", v.Quotas)
	}
	if v.PerSecond != 0 || v.stopped() != now+6*patra.Minute || !strings.Contains(v.Quotas[0].text(), "it begins anew at 2026-06-01 01:00:00, and as the provider's clock may be off, nothing leaves until 2026-06-01 01:05:00.") {
		t.Errorf("%v a second until %s: %s", v.PerSecond, v.stopped(), v.Quotas[0].text())
	}
}

// During a warm-up the rate is what is given out then, and not what it will be.
func TestAWarmUpIsSeen(t *testing.T) {
	now := patra.Date(2026, time.June, 1)
	k := &GateKey{Key: "a", limit: patra.RateLimit{PerSecond: 10, Burst: 1, Warmup: time.Minute}}
	for passed, want := range map[time.Duration]float64{0: 1, 30 * time.Second: 5.5, time.Minute: 10} {
		v := viewOf(k, patra.RateState{Limit: 10_000, Burst: 1, Arrival: now, RateDetails: patra.RateDetails{WarmSince: now.Add(-passed)}}, true, now, now)
		if v.PerSecond != want {
			t.Errorf("%s after it began: %v a second, want %v", passed, v.PerSecond, want)
		}
	}
}

// Where requests count more than one, numbers of requests and of what they count differ, and a person is told.
func TestWhatARequestCountsIsTold(t *testing.T) {
	var b bytes.Buffer
	viewOf(&GateKey{Key: "a", limit: patra.RateLimit{PerSecond: 3, Burst: 6, Heaviest: 2}}, patra.RateState{}, false, 0, 0).print(&b)
	if !strings.Contains(b.String(), "A request counts up to 2, here and in quotas.") {
		t.Error(b.String())
	}
}

func TestASpanInWords(t *testing.T) {
	for d, want := range map[time.Duration]string{100 * time.Second: "1m40s", 10 * time.Minute: "10m", 20*time.Minute + 30*time.Second: "20m30s", 3 * time.Second: "3s", 90 * time.Minute: "1h30m"} {
		if got := roughDuration(d); got != want {
			t.Errorf("%v is %s, want %s", d, got, want)
		}
	}
}

func TestSinceIsATimeOrAMoment(t *testing.T) {
	at := patra.Date(2026, time.June, 10)
	for text, want := range map[string]patra.Instant{
		"24h": at - patra.Day, "90m": at.Add(-90 * time.Minute), "7d": at - 7*patra.Day, "2026-06-01": patra.Date(2026, time.June, 1), "2026-06-01T10:00:00Z": patra.Date(2026, time.June, 1) + 10*patra.Hour,
		"": 0, "soon": 0, "-5h": 0, "0h": 0, "2026-07-01": 0, "9999999d": 0,
	} {
		got, err := sinceFlag(text, at)
		if got != want || (err == nil) != (want != 0) {
			t.Errorf("%q is %s, %v", text, got, err)
		}
	}
}

func TestWatchingEndsWhenItShould(t *testing.T) {
	looks := func(ctx context.Context, lasts time.Duration, fail error) (n int, err error) {
		err = watch(ctx, time.Second, lasts, io.Discard, func(context.Context, io.Writer) error {
			n++
			return fail
		})
		return n, err
	}
	synctest.Test(t, func(t *testing.T) {
		if n, err := looks(t.Context(), 3500*time.Millisecond, nil); n != 4 || err != nil {
			t.Errorf("%d looks in three and a half seconds, %v", n, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()
		if n, err := looks(ctx, 0, nil); n != 3 || err != nil {
			t.Errorf("%d looks until Ctrl-C, %v", n, err)
		}
		if n, err := looks(ctx, 0, errors.New("cut off")); n != 1 || err != nil {
			t.Errorf("what fails because of Ctrl-C: %d, %v", n, err)
		}
		if n, err := looks(t.Context(), 0, errors.New("broken")); n != 1 || err == nil {
			t.Errorf("what fails: %d, %v", n, err)
		}
	})
}

// On a terminal each look goes back over the one before, also where a line takes more than one of the terminal's.
func TestALookTakesThePlaceOfTheOneBefore(t *testing.T) {
	var b bytes.Buffer
	s := &liveScreen{to: &b, width: 10}
	fmt.Fprint(s, "1234567890\nx\n12345678901\n\n")
	fmt.Fprint(s, "y\n")
	fmt.Fprint(s, "z\n")
	if want := "\x1b[J1234567890\nx\n12345678901\n\n\x1b[5A\x1b[Jy\n\x1b[1A\x1b[Jz\n"; b.String() != want {
		t.Errorf("%q", b.String())
	}
}

// A person's cooldown is told from the provider's by its end.
func TestWhoAskedForACooldown(t *testing.T) {
	at := patra.Date(2026, time.June, 1)
	changes := []patra.GateChange{{Action: patra.GateSetRate, Value: "1", At: at}, {Action: patra.GateCooldown, Value: "10m0s", Actor: "eve", At: at}}
	if c := cooldownBy(changes, at.Add(10*time.Minute)); c == nil || c.Actor != "eve" {
		t.Errorf("%+v", c)
	}
	if c := cooldownBy(changes, at.Add(11*time.Minute)); c != nil {
		t.Errorf("the provider made it longer: %+v", c)
	}
}

// What is told of us is never a secret, and what a key permits is the most that any who shares it may.
func TestWhoSharesAKey(t *testing.T) {
	ring := gateKeyIndex{}
	for _, perSecond := range []float64{1, 3, 2} {
		ring.add(source.RateKeyMember{Source: "a", Endpoint: fmt.Sprint(perSecond), Limit: patra.RateLimit{Key: "host:x", PerSecond: perSecond, Burst: 1}, Secret: "key"})
	}
	ring.of("b#other")
	if k := ring["host:x"]; k.limit.PerSecond != 3 || k.Credential != "key" || strings.Join(k.SharedBy, " ") != "a/1 a/3 a/2" {
		t.Errorf("%+v", k)
	}
	for word, want := range map[string]string{"a": "host:x", "host:x": "host:x", "b": "b#other", "b#other": "b#other"} {
		if got, err := ring.find(word); err != nil || strings.Join(got, " ") != want {
			t.Errorf("%q is %q, %v", word, got, err)
		}
	}
	if _, err := ring.find("hots:x"); err == nil || !strings.Contains(err.Error(), `did you mean "host:x"?`) {
		t.Error(err)
	}
	if _, err := ring.find("unheard-of"); err == nil || !strings.Contains(err.Error(), "it has b#other, host:x") {
		t.Error(err)
	}
	if got := cut("abcdefghij", 5); got != "ab…ij" || cut("abc", 5) != "abc" {
		t.Error(got)
	}
}
