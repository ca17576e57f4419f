package source_test

import (
	"strings"
	"testing"

	"patra"
	"patra/internal/source"
)

func rateSpec(t *testing.T, defaults, own string) (*source.Spec, error) {
	t.Helper()
	f, err := source.Load("locked.yaml", []byte(strings.Replace(authText(defaults, own, ""), "\n  rate: {perSecond: 2, burst: 2}\n", "\n", 1)))
	if err != nil {
		return nil, err
	}
	return source.Compile(f, source.Options{Operation: patra.Harvest})
}

// Whoever is limited together is counted under one key.
func TestWhoCountsTogether(t *testing.T) {
	const key = "auth: {type: BEARER, secret: a, rate: {perSecond: 9}}\n  "
	for _, c := range []struct {
		defaults string
		keyed    bool
		want     string
	}{
		{"rate: {perSecond: 2}", false, "locked"},
		{"rate: {perSecond: 2, share: SOURCE}", false, "locked"},
		{"rate: {perSecond: 2, share: ENDPOINT}", false, "locked/works"},
		{"rate: {perSecond: 2, share: HOST}", false, "host:repository.example.org:8080"},
		{key + "rate: {perSecond: 2, share: HOST}", true, "host:repository.example.org:8080#a"},
		{key + "rate: {perSecond: 2, share: ENDPOINT}", true, "locked/works#a"},
		{key + "rate: {perSecond: 2, share: ENDPOINT}", false, "locked/works"},
	} {
		s, err := rateSpec(t, c.defaults, "")
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Limit(c.keyed, "https://repository.example.org:8080/oai").Key; got != c.want {
			t.Errorf("%s: the key is %s, want %s", c.defaults, got, c.want)
		}
	}
}

func TestALimitIsReadWhole(t *testing.T) {
	s, err := rateSpec(t, "rate: {perSecond: 2, burst: 12, cost: 3, concurrency: 4, warmup: 30s, quota: {daily: 1000, monthly: 20000, zone: America/New_York, skew: 1m, reserve: 20%}}", "")
	if err != nil {
		t.Fatal(err)
	}
	want := patra.RateLimit{Key: "locked", PerSecond: 2, Burst: 12, Heaviest: 3, Concurrency: 4, Warmup: 30e9, Quota: patra.QuotaLimit{Daily: 1000, Monthly: 20000, Reserve: 20, Zone: "America/New_York", Skew: 60e9}}
	if got := s.Limit(false, ""); got != want || s.Cost() != 3 {
		t.Errorf("%+v with a cost of %d", got, s.Cost())
	}
}

func TestMistakesInARate(t *testing.T) {
	for text, want := range map[string]string{
		"rate: {perSecond: 2, burst: 2, cost: 3}":                                  "one request costs 3, and only 2 may be used at once (CONFLICT at defaults.rate.cost). Make the burst at least as large",
		"rate: {perSecond: 2, concurrency: 0}":                                     "concurrency is more than 0",
		"rate: {perSecond: 2, concurrency: -1}":                                    "concurrency is at least 1",
		"rate: {perSecond: 2, cost: -1}":                                           "cost is at least 1",
		"rate: {perSecond: 2, warmup: -3s}":                                        `"-3s" is not a length of time`,
		"rate: {perSecond: 2, share: HOSTS}":                                       `share "HOSTS" is not known (BAD_VALUE at defaults.rate.share). Did you mean "HOST"?`,
		"rate: {perSecond: 2, headers: {reset: X-Reset}}":                          "resetIs is required",
		"rate: {perSecond: 2, headers: {reset: X-Reset, resetIs: MINUTES}}":        `resetIs "MINUTES" is not known`,
		"rate: {perSecond: 2, headers: {interval: X-Interval}}":                    "an interval says nothing without a limit",
		"rate: {perSecond: 2, headers: {limit: L, interval: I, per: 1m}}":          "the interval is in a header already",
		"rate: {perSecond: 2, quota: {daily: 5, zone: Mars/Olympus}}":              `"Mars/Olympus" is not a time zone`,
		"rate: {perSecond: 2, quota: {daily: 5, skew: 2h}}":                        "skew is between 0s and 30m",
		"rate: {perSecond: 2, quota: {monthly: -5}}":                               "monthly is the number of requests a month",
		"rate: {perSecond: 2, quota: {daily: 5, headers: {reset: R}}}":             "resetIs is required",
		"rate: {perSecond: 0.0001}":                                                "perSecond is at least 0.001 (BAD_VALUE at defaults.rate.perSecond). For so few requests write a quota",
		"rate: {perSecond: 1e7}":                                                   "perSecond is at most 1000000",
		"rate: {perSecond: 2, burst: 1000001}":                                     "burst is at most 1000000",
		"rate: {perSecond: 2, warmup: 61m}":                                        "warmup is at most an hour",
		"rate: {perSecond: 2, headers: {remaining: X-Left}}":                       "that nothing is left says nothing without a reset",
		"rate: {perSecond: 2, headers: {reset: R, resetIs: EPOCH}}":                "a reset says nothing without what is left",
		"rate: {perSecond: 2, headers: {resetIs: EPOCH}}":                          "resetIs says nothing without a reset",
		"rate: {perSecond: 2, headers: {limit: X Limit}}":                          `"X Limit" is not the name of a header`,
		"rate: {perSecond: 2, quota: {daily: 5, zone: Local}}":                     `"Local" is not a time zone`,
		"rate: {perSecond: 2, quota: {zone: UTC}}":                                 "zone says nothing without a quota (CONFLICT at defaults.rate.quota.zone). Write hourly, daily or monthly beside it",
		"rate: {perSecond: 2, quota: {skew: 1m}}":                                  "skew says nothing without a quota",
		"auth: {type: BEARER, secret: a, rate: {perSecond: 2, quota: {daily: 1}}}": "one request costs 1, and of 1 only 0 may be used",
		"auth: {type: BEARER, secret: a, rate: {perSecond: 1e7}}":                  "perSecond is at most 1000000",
	} {
		if _, err := rateSpec(t, text, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s gave %v, want %s", text, err, want)
		}
	}
}

// What endpoints inherit is told once, where it stands.
func TestAMistakeInDefaultsIsToldOnce(t *testing.T) {
	_, err := rateSpec(t, "rate: {perSecond: 2, burst: 2, cost: 3}", "")
	if err == nil || strings.Count(err.Error(), "one request costs 3") != 1 {
		t.Errorf("%v", err)
	}
	for text, want := range map[string]string{
		"rate: {perSecond: 2}\n  auth: {type: BEARER}":          "at defaults.auth.secret",
		"rate: {perSecond: 2}\n  retry: {maxAttempts: 101}":     "at defaults.retry.maxAttempts",
		"rate: {perSecond: 2}\n  breaker: {failures: 1001}":     "at defaults.breaker",
		"rate: {perSecond: 2}\n  retry: {backoff: {jitter: 2}}": "at defaults.retry.backoff",
	} {
		if _, err := rateSpec(t, text, ""); err == nil || strings.Count(err.Error(), "\n") > 0 || !strings.Contains(err.Error(), want) {
			t.Errorf("%s gave %v", text, err)
		}
	}
	_, err = rateSpec(t, "rate: {perSecond: 2, burst: 2}", "rate: {cost: 3}")
	if err == nil || !strings.Contains(err.Error(), "CONFLICT at endpoints.works.rate.cost") {
		t.Errorf("an endpoint of its own: %v", err)
	}
}
