package source

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"patra"
)

// classify says what an HTTP status means for a request that asked for position; nil means that the body may be read.
func (s *Spec) classify(status int, position string) *patra.Fault {
	f := &patra.Fault{Code: patra.CodeHTTP, Status: status, Text: http.StatusText(status)}
	tokens := s.Pagination.Type == pageToken || s.Pagination.Type == pageURL
	switch {
	case status == http.StatusOK:
		return nil
	case status == http.StatusTooManyRequests:
		f.Level, f.Code, f.Text = patra.LevelRetry, patra.CodeRateLimited, "the provider asks us to slow down"
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		f.Level, f.Code, f.Text = patra.LevelFatal, patra.CodeAuth, s.Auth.Refused()
	case status >= 500, status == http.StatusRequestTimeout:
		f.Level = patra.LevelRetry
	case tokens && position != s.First() && (status == http.StatusNotFound || status == http.StatusBadRequest || status == http.StatusGone):
		f.Level, f.Code, f.Text = patra.LevelRetry, patra.CodeTokenExpired, "the provider no longer knows the paging token"
	case status >= 300 && status < 400:
		f.Level, f.Text = patra.LevelRetry, "the provider sends us elsewhere, and redirects are not followed"
	case status >= 200 && status < 300:
		f.Level, f.Code, f.Text = patra.LevelRetry, patra.CodeBadBody, fmt.Sprintf("status %d is not a whole answer", status)
	default:
		f.Level = patra.LevelRequest
	}
	return f
}

// maxRetryAfter is the longest wait that a provider can ask of us; anything longer is taken for nonsense.
const maxRetryAfter = time.Hour

// RetryAfter reads how long the provider wants to be left alone, as seconds or as a date. It is measured against
// the answer's own Date where there is one, so that our clock does not matter. Some providers send it with every
// answer, so it counts only where the status says that we were refused, or where a source says that this one does.
func RetryAfter(status int, h http.Header, now time.Time, also ...int) time.Duration {
	if status != http.StatusTooManyRequests && status != http.StatusServiceUnavailable && !slices.Contains(also, status) {
		return 0
	}
	value := h.Get("Retry-After")
	// Of a number that is too large for us Atoi gives the largest that we have: it is a long wait, and not none.
	if n, err := strconv.Atoi(value); err == nil || errors.Is(err, strconv.ErrRange) {
		return time.Duration(min(max(n, 0), int(maxRetryAfter/time.Second))) * time.Second
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date
	}
	return min(max(at.Sub(now), 0), maxRetryAfter)
}
