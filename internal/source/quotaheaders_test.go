package source

import (
	"net/http"
	"testing"
	"time"

	"patra"
)

func TestToldQuota(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	plain := QuotaHeaders{Remaining: "X-RateLimit-Remaining"}
	seconds := QuotaHeaders{Remaining: "X-RateLimit-Remaining", Reset: "X-RateLimit-Reset", ResetIs: resetSeconds}
	epoch := QuotaHeaders{Remaining: "X-RateLimit-Remaining", Reset: "X-RateLimit-Reset", ResetIs: resetEpoch}
	for _, c := range []struct {
		names       QuotaHeaders
		left, reset string
		want        *patra.AdvertisedQuota
	}{
		{plain, "8", "", &patra.AdvertisedQuota{Left: 8}},
		{plain, " 0 ", "nonsense", &patra.AdvertisedQuota{}},
		{plain, "", "", nil},
		{plain, "-1", "", nil},
		{plain, "NaN", "", nil},
		{plain, "1e300", "", nil},
		{plain, "many", "", nil},
		{QuotaHeaders{}, "8", "", nil},
		{seconds, "8", "39957", &patra.AdvertisedQuota{Left: 8, ResetIn: 39957 * time.Second}},
		{seconds, "8", "1800000060", nil}, // of a provider that tells the time
		{seconds, "8", "0", nil},
		{seconds, "8", "-5", nil},
		{seconds, "8", "NaN", nil},
		{seconds, "8", "", nil},
		{epoch, "8", "1800000060", &patra.AdvertisedQuota{Left: 8, ResetIn: time.Minute}},
		{epoch, "8", "39957", nil}, // of one that tells how long
		{epoch, "8", "1900000000", nil},
	} {
		s := &Spec{}
		s.Rate.Quota.Headers = c.names
		h := http.Header{}
		h.Set("X-RateLimit-Remaining", c.left)
		h.Set("X-RateLimit-Reset", c.reset)
		got := s.ParseQuotaHeaders(h, now)
		if (got == nil) != (c.want == nil) || got != nil && *got != *c.want {
			t.Errorf("%+v %q %q: %+v", c.names, c.left, c.reset, got)
		}
	}
}

// Whoever tells a moment is asked what time it is there: our clock may be wrong.
func TestAQuotaIsResetByTheClockOfTheProvider(t *testing.T) {
	s := &Spec{}
	s.Rate.Quota.Headers = QuotaHeaders{Remaining: "X-Left", Reset: "X-Reset", ResetIs: resetEpoch}
	h := http.Header{"X-Left": {"8"}, "X-Reset": {"1767882353"}, "Date": {"Thu, 08 Jan 2026 14:25:43 GMT"}}
	if got := s.ParseQuotaHeaders(h, time.Unix(1767870000, 0)); got == nil || got.ResetIn != 10*time.Second {
		t.Errorf("%+v", got)
	}
}
