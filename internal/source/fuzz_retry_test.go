package source_test

import (
	"math/big"
	"net/http"
	"strings"
	"testing"
	"time"

	"patra/internal/source"
)

// FuzzRetryAfter: whatever a provider sends, the wait is one that somebody can sit out; a number of seconds is kept to, up to
// the longest wait, however large it is; and an answer that refuses nobody asks for nothing.
func FuzzRetryAfter(f *testing.F) {
	for _, value := range []string{"", "0", "120", "-5", "+7", "1.5", "99999999999999999999", "00000000000000000000000000060", "Thu, 08 Jan 2026 14:25:43 GMT", "Thursday, 08-Jan-26 14:25:43 GMT", "Thu Jan  8 14:25:43 2026",
		"Fri, 31 Dec 9999 23:59:59 GMT", "Mon, 01 Jan 0001 00:00:00 GMT", "soon", "120, 5"} {
		f.Add(value, "Thu, 08 Jan 2026 14:25:40 GMT", 429)
		f.Add(value, "", 503)
	}
	f.Add("120", "", 200)
	now := time.Date(2026, 1, 8, 14, 25, 40, 0, time.UTC)
	f.Fuzz(func(t *testing.T, value, date string, status int) {
		wait := source.RetryAfter(status, http.Header{"Retry-After": {value}, "Date": {date}}, now)
		if wait < 0 || wait > time.Hour {
			t.Errorf("%q at %q: %s", value, date, wait)
		}
		if status != 429 && status != 503 {
			if wait != 0 {
				t.Errorf("status %d: %s", status, wait)
			}
			return
		}
		if value == "" || strings.Trim(value, "0123456789") != "" {
			return
		}
		want := time.Hour
		if n, _ := new(big.Int).SetString(value, 10); n.Cmp(big.NewInt(3600)) < 0 {
			want = time.Duration(n.Int64()) * time.Second
		}
		if wait != want {
			t.Errorf("%q is a wait of %s and not of %s", value, wait, want)
		}
	})
}
