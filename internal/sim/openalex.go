package sim

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// openAlexPath is where this provider has the server to itself; its real path, which is shared, is Crossref's as well.
const (
	openAlexPath = "/openalex/works"
	sharedPath   = "/works"
)

// openAlex answers as the OpenAlex API does. It remembers nothing: a cursor says where to go on, and the same cursor
// gives the same page. Any key buys a plan; there is no budget to run out of.
type openAlex struct {
	limit *gate
}

// forOpenAlex tells whether a request to a path that two providers have can only be meant for this one: it pages and
// filters by a name that Crossref, which has hyphens in its names, refuses, and says nothing that is Crossref's.
func forOpenAlex(form url.Values) bool {
	for _, name := range []string{"rows", "offset", "order"} {
		if form.Has(name) {
			return false
		}
	}
	if !form.Has("per_page") && !form.Has("per-page") && !form.Has("cursor") {
		return false
	}
	for pair := range strings.SplitSeq(form.Get("filter"), ",") {
		name, _, _ := strings.Cut(pair, ":")
		if slices.Contains(alexFilters, name) {
			return true
		}
	}
	return false
}

func (o *openAlex) gate(*call) *gate { return o.limit }

func (o *openAlex) refuse(c *call) answer {
	a := alexFailed(http.StatusTooManyRequests, "Rate limit exceeded", "Too many requests. Please slow down and try again.")
	addAlexHeaders(a.header, c)
	a.header.Set("Retry-After", "1")
	a.header.Set("X-Ratelimit-Credits-Required", "1")
	return a
}

func (o *openAlex) fail(*call) answer {
	a := alexFailed(http.StatusServiceUnavailable, "Search temporarily unavailable", "Please try again in a moment.")
	a.header.Set("Retry-After", "1")
	return a
}

func (o *openAlex) answer(c *call) answer {
	a := o.route(c)
	addAlexHeaders(a.header, c)
	return a
}

func (o *openAlex) route(c *call) answer {
	id, single := strings.CutPrefix(c.URL.Path, openAlexPath+"/")
	switch {
	case c.Method != http.MethodGet:
		return onlyGet()
	case single && id != "":
		return o.work(c, id)
	}
	q, bad := parseAlex(c)
	if bad != nil {
		return *bad
	}
	return q.page(c.world)
}

func (o *openAlex) work(c *call, id string) answer {
	number, err := strconv.ParseInt(strings.TrimPrefix(id, "W"), 10, 64)
	sk, ok := c.world.entered(number - alexIDs)
	if err != nil || !ok {
		return alexFailed(http.StatusNotFound, "Not found", "No work "+id+".")
	}
	j := newAlexText()
	writeAlex(j, &subject{world: c.world, sketch: sk})
	a := newAnswer(http.StatusOK, "application/json", j.b)
	a.items = 1
	return a
}

// addAlexHeaders tells of a daily budget that no client reaches. Reset is the time to midnight in seconds.
func addAlexHeaders(h http.Header, c *call) {
	now := c.now.UTC()
	midnight := now.Truncate(24 * time.Hour).Add(24 * time.Hour)
	for name, value := range map[string]string{
		"Limit": "10000000", "Remaining": "9999999", "Credits-Used": "1", "Reset": itoa(int(midnight.Sub(now).Seconds())),
		"Limit-Usd": "1000", "Remaining-Usd": "999.9999", "Cost-Usd": "0.0001", "Prepaid-Remaining-Usd": "0", "Onetime-Remaining": "0",
	} {
		h.Set("X-Ratelimit-"+name, value)
	}
}

func alexFailed(status int, kind, message string) answer {
	j := newAlexText()
	j.open('{')
	j.pair("error", kind)
	j.pair("message", message)
	j.close('}')
	return newAnswer(status, "application/json", j.b)
}

func alexInvalid(message string) *answer {
	a := alexFailed(http.StatusBadRequest, "Invalid query parameters error.", message)
	return &a
}

// alexPlan is a refusal in the dress of a rate limit: no waiting helps, and nothing says when to come back.
func alexPlan(name string) *answer {
	a := alexFailed(http.StatusTooManyRequests, "Plan upgrade required",
		"The filter "+name+" is only available to users with a paid plan. Send the api_key of one.")
	a.refused = true
	return &a
}
