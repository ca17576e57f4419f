package source_test

import (
	"encoding/json"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"patra"
	"patra/internal/source"
)

var (
	crossrefHeaders = source.RateHeaders{Limit: "X-Rate-Limit-Limit", Interval: "X-Rate-Limit-Interval", Concurrency: "X-Concurrency-Limit"}
	ncbiHeaders     = source.RateHeaders{Limit: "X-RateLimit-Limit", Remaining: "X-RateLimit-Remaining"}
	zenodoHeaders   = source.RateHeaders{Limit: "X-RateLimit-Limit", Per: source.Duration(time.Minute), Remaining: "X-RateLimit-Remaining", Reset: "X-RateLimit-Reset", ResetIs: "EPOCH"}
	openAlexHeaders = source.RateHeaders{Remaining: "RateLimit-Remaining", Reset: "RateLimit-Reset", ResetIs: "SECONDS"}
)

func TestWhatHeadersTell(t *testing.T) {
	now := time.Date(2026, 1, 8, 14, 25, 0, 0, time.UTC) // 1767882300
	for _, c := range []struct {
		name   string
		by     source.RateHeaders
		header map[string]string
		want   patra.AdvertisedLimit
		wait   time.Duration
	}{
		{"nothing is named", source.RateHeaders{}, map[string]string{"X-RateLimit-Limit": "3", "": "7"}, patra.AdvertisedLimit{}, 0},
		{"nothing is said", zenodoHeaders, nil, patra.AdvertisedLimit{}, 0},
		{"Crossref", crossrefHeaders, map[string]string{"X-Rate-Limit-Limit": "3", "X-Rate-Limit-Interval": "1s", "X-Concurrency-Limit": "3"}, patra.AdvertisedLimit{PerSecond: 3, Concurrency: 3}, 0},
		{"no unit", crossrefHeaders, map[string]string{"X-Rate-Limit-Limit": "50", "X-Rate-Limit-Interval": "1"}, patra.AdvertisedLimit{PerSecond: 50}, 0},
		{"a minute in seconds", crossrefHeaders, map[string]string{"X-Rate-Limit-Limit": "30", "X-Rate-Limit-Interval": "60"}, patra.AdvertisedLimit{PerSecond: 0.5}, 0},
		{"a minute", crossrefHeaders, map[string]string{"X-Rate-Limit-Limit": " 30 ", "X-Rate-Limit-Interval": " 1m "}, patra.AdvertisedLimit{PerSecond: 0.5}, 0},
		{"half a second", crossrefHeaders, map[string]string{"X-Rate-Limit-Limit": "5", "X-Rate-Limit-Interval": "500ms"}, patra.AdvertisedLimit{PerSecond: 10}, 0},
		{"the interval is missing", crossrefHeaders, map[string]string{"X-Rate-Limit-Limit": "50"}, patra.AdvertisedLimit{}, 0},
		{"the interval is nonsense", crossrefHeaders, map[string]string{"X-Rate-Limit-Limit": "50", "X-Rate-Limit-Interval": "soon"}, patra.AdvertisedLimit{}, 0},
		{"the interval is nothing", crossrefHeaders, map[string]string{"X-Rate-Limit-Limit": "50", "X-Rate-Limit-Interval": "0s"}, patra.AdvertisedLimit{}, 0},
		{"the interval is negative", crossrefHeaders, map[string]string{"X-Rate-Limit-Limit": "50", "X-Rate-Limit-Interval": "-1"}, patra.AdvertisedLimit{}, 0},
		{"the interval is absurd", crossrefHeaders, map[string]string{"X-Rate-Limit-Limit": "50", "X-Rate-Limit-Interval": "99999999999999999"}, patra.AdvertisedLimit{}, 0},
		{"no request is permitted", crossrefHeaders, map[string]string{"X-Rate-Limit-Limit": "0", "X-Rate-Limit-Interval": "1s", "X-Concurrency-Limit": "0"}, patra.AdvertisedLimit{}, 0},
		{"the limit is nonsense", crossrefHeaders, map[string]string{"X-Rate-Limit-Limit": "NaN", "X-Rate-Limit-Interval": "1s", "X-Concurrency-Limit": "-3"}, patra.AdvertisedLimit{}, 0},
		{"the limit is absurd", crossrefHeaders, map[string]string{"X-Rate-Limit-Limit": "99999999999", "X-Rate-Limit-Interval": "1s"}, patra.AdvertisedLimit{}, 0},
		{"NCBI", ncbiHeaders, map[string]string{"X-RateLimit-Limit": "10", "X-RateLimit-Remaining": "0"}, patra.AdvertisedLimit{PerSecond: 10}, 0},
		{"Zenodo", zenodoHeaders, map[string]string{"X-RateLimit-Limit": "30", "X-RateLimit-Remaining": "29", "X-RateLimit-Reset": "1767882353"}, patra.AdvertisedLimit{PerSecond: 0.5}, 0},
		{"nothing is left at Zenodo", zenodoHeaders, map[string]string{"X-RateLimit-Limit": "30", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1767882353"}, patra.AdvertisedLimit{PerSecond: 0.5}, 53 * time.Second},
		{"by their clock", zenodoHeaders, map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1767882353", "Date": "Thu, 08 Jan 2026 14:25:43 GMT"}, patra.AdvertisedLimit{}, 10 * time.Second},
		{"it has passed", zenodoHeaders, map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1767882299"}, patra.AdvertisedLimit{}, 0},
		{"seconds where a moment should be", zenodoHeaders, map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "39957"}, patra.AdvertisedLimit{}, 0},
		{"seconds to midnight", openAlexHeaders, map[string]string{"RateLimit-Remaining": "0", "RateLimit-Reset": "39957"}, patra.AdvertisedLimit{}, time.Hour},
		{"one second", openAlexHeaders, map[string]string{"RateLimit-Remaining": "0", "RateLimit-Reset": "1"}, patra.AdvertisedLimit{}, time.Second},
		{"a moment where seconds should be", openAlexHeaders, map[string]string{"RateLimit-Remaining": "0", "RateLimit-Reset": "1767882353"}, patra.AdvertisedLimit{}, 0},
		{"something is left", openAlexHeaders, map[string]string{"RateLimit-Remaining": "1", "RateLimit-Reset": "1"}, patra.AdvertisedLimit{}, 0},
		{"what is left is nonsense", openAlexHeaders, map[string]string{"RateLimit-Remaining": "", "RateLimit-Reset": "1"}, patra.AdvertisedLimit{}, 0},
	} {
		h := http.Header{}
		for k, v := range c.header {
			h.Set(k, v)
		}
		if told, wait := c.by.Parse(h, now); told != c.want || wait != c.wait {
			t.Errorf("%s: %+v and %s, want %+v and %s", c.name, told, wait, c.want, c.wait)
		}
	}
}

func TestRetryAfterCountsWhereASourceSaysSo(t *testing.T) {
	h := http.Header{"Retry-After": {"59"}}
	if got := source.RetryAfter(403, h, time.Now(), 403); got != 59*time.Second {
		t.Errorf("a 403 made us wait %s", got)
	}
	if got := source.RetryAfter(403, h, time.Now(), 502); got != 0 {
		t.Errorf("a 403 made us wait %s", got)
	}
}

// FuzzTold: whatever a provider sends, it never makes us faster than a rate can be, and never makes us wait for ever.
func FuzzTold(f *testing.F) {
	f.Add("3", "1s", "3", "0", "1767882353", "Thu, 08 Jan 2026 14:25:43 GMT", true)
	f.Add("50", "60", "-1", "0", "39957", "", false)
	f.Add("1e9", "9223372036854775807", "NaN", "00", "-9223372036854775808", "x", true)
	f.Fuzz(func(t *testing.T, limit, interval, concurrency, remaining, reset, date string, epoch bool) {
		by := source.RateHeaders{Limit: "A", Interval: "B", Concurrency: "C", Remaining: "D", Reset: "E", ResetIs: "SECONDS"}
		if epoch {
			by.ResetIs = "EPOCH"
		}
		h := http.Header{"A": {limit}, "B": {interval}, "C": {concurrency}, "D": {remaining}, "E": {reset}, "Date": {date}}
		told, wait := by.Parse(h, time.Unix(1767882300, 0))
		if !(told.PerSecond >= 0) || math.IsInf(told.PerSecond, 0) || told.Concurrency < 0 || wait < 0 || wait > time.Hour || told.Quota != nil {
			t.Errorf("%+v, %s", told, wait)
		}
	})
}

// What providers really sent, read with the headers that are named in the shipped files.
func TestWhatRecordedHeadersTell(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(recordings, "INDEX.json"))
	if err != nil {
		t.Skip("the recorded answers are not there")
	}
	var all []struct {
		File, Source string
		Status       int
		Headers      map[string]string
	}
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	// Limits that were seen, as rates. Zenodo's are for a minute; it permits more elsewhere than in its search.
	want := map[string]map[float64]bool{
		"crossref": {50: true}, "pubmed": {3: true, 10: true}, "zenodo": {0.5: true, 2: true, 133.0 / 60: true},
	}
	told := map[string]int{}
	for code, rates := range want {
		by := shippedFile(t, code).Defaults.Rate.Headers
		for _, r := range all {
			if r.Source != code {
				continue
			}
			h := http.Header{}
			for k, v := range r.Headers {
				h.Set(k, v)
			}
			says, wait := by.Parse(h, time.Now())
			if says.PerSecond > 0 {
				told[code]++
			}
			if says.PerSecond > 0 && !rates[says.PerSecond] || wait != 0 {
				t.Errorf("%s: %+v, wait %s", r.File, says, wait)
			}
			if r.Status == 200 && source.RetryAfter(r.Status, h, time.Now()) != 0 {
				t.Errorf("%s: a good answer made us wait", r.File)
			}
		}
	}
	if told["crossref"] < 150 || told["pubmed"] < 50 || told["zenodo"] < 40 {
		t.Errorf("limits were told %v times", told)
	}
}
