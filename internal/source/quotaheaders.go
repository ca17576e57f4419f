package source

import (
	"cmp"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"patra"
)

// mostReset is the longest time to a reset that is believed; a month has no more days.
const mostReset = 32 * 24 * time.Hour

// ParseQuotaHeaders reads what the provider says is left of its quota; nil if it says nothing, or nothing that can be.
func (s *Spec) ParseQuotaHeaders(h http.Header, now time.Time) *patra.AdvertisedQuota {
	names := cmp.Or(s.Rate.Quota.Headers, s.Auth.Rate.Quota.Headers)
	if names.Remaining == "" {
		return nil
	}
	left, ok := headerNumber(h.Get(names.Remaining))
	if !ok || left < 0 || left > math.MaxInt32*1000 {
		return nil
	}
	told := &patra.AdvertisedQuota{Left: int64(left)}
	if names.Reset == "" {
		return told
	}
	if told.ResetIn = resetIn(h, names.Reset, names.ResetIs, now, mostReset); told.ResetIn == 0 {
		return nil
	}
	return told
}

func headerNumber(text string) (float64, bool) {
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	return n, err == nil && !math.IsNaN(n) && !math.IsInf(n, 0)
}
