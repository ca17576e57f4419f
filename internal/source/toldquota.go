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

// ToldQuota reads what the provider says is left of its quota; nil if it says nothing, or nothing that can be. The same
// header means different things at different providers, so the source says what the reset is.
func (s *Spec) ToldQuota(h http.Header, now time.Time) *patra.ToldQuota {
	names := cmp.Or(s.Rate.Quota.Headers, s.Auth.Rate.Quota.Headers)
	if names.Remaining == "" {
		return nil
	}
	left, ok := headerNumber(h.Get(names.Remaining))
	if !ok || left < 0 || left > math.MaxInt32*1000 {
		return nil
	}
	told := &patra.ToldQuota{Left: int64(left)}
	if names.Reset == "" {
		return told
	}
	reset, ok := headerNumber(h.Get(names.Reset))
	if names.ResetIs == resetEpoch {
		reset -= float64(now.UnixMilli()) / 1000
	}
	if !ok || reset <= 0 || reset > mostReset.Seconds() {
		return nil
	}
	told.ResetIn = time.Duration(reset * float64(time.Second))
	return told
}

func headerNumber(text string) (float64, bool) {
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	return n, err == nil && !math.IsNaN(n) && !math.IsInf(n, 0)
}
