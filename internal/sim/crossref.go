package sim

import (
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"strings"
)

// crossref answers as api.crossref.org does. It decides what to say and moves the scrolls; rate limit, faults, log
// and transport are the server's, the same for every provider.
type crossref struct {
	scrolls *scrolls
	rate    float64
	limit   *gate
}

func (c *crossref) gate(*call) *gate { return c.limit }

// answer serves one request. An expiry forgets the cursor that the request would go on with.
func (c *crossref) answer(k *call) answer {
	a := c.route(k)
	c.addHeaders(a.header, k.Request)
	return a
}

func (c *crossref) route(k *call) answer {
	doi, single := strings.CutPrefix(k.URL.Path, "/works/")
	switch {
	case k.Method != http.MethodGet:
		return onlyGet()
	case k.URL.Path == "/works" || single && doi == "":
		return c.works(k)
	case single:
		return c.work(k, doi)
	}
	return notFound()
}

// work serves one work by its id.
func (c *crossref) work(k *call, doi string) answer {
	p, ok := k.world.find(doi)
	if !ok {
		return notFound()
	}
	j := jsonText{b: make([]byte, 0, 4096)}
	j.raw(`{"status":"ok","message-type":"work","message-version":"1.0.0","message":`)
	writeWork(&j, &p)
	j.close('}')
	a := newAnswer(http.StatusOK, "application/json", j.b)
	a.items = 1
	return a
}

// works serves a page of a list: a step of a scroll if there is a cursor, else whatever offset and rows ask for.
func (c *crossref) works(from *call) answer {
	p, bad := parseParams(from.URL.Query())
	switch {
	case len(bad) > 0:
		return failed(http.StatusBadRequest, "validation-failure", bad...)
	case !p.scroll:
		k := p.walk(from.world)
		l := list{terms: p.terms, offset: p.offset, rows: p.rows, total: k.total()}
		k.skip(min(p.offset, l.total))
		return l.answer(&k, from)
	case p.cursor == "*":
		return c.open(p, from)
	}
	return c.scroll(p, from)
}

// open begins a scroll and serves its first page. A mere count (rows=0) opens nothing and gives the star back.
func (c *crossref) open(p params, from *call) answer {
	k := p.walk(from.world)
	if p.rows == 0 {
		l := list{terms: p.terms, total: k.total(), cursor: "*"}
		return l.answer(&k, from)
	}
	return c.scrolls.start(p, k, from.now).page(p.rows, from)
}

func (c *crossref) scroll(p params, from *call) answer {
	if from.fate == faultExpire && c.scrolls.drop(p.cursor) {
		a := cursorInvalid(p.cursor)
		a.fault = faultExpire
		return a
	}
	s, ok := c.scrolls.find(p.cursor, from.now)
	if !ok {
		return cursorInvalid(p.cursor)
	}
	return s.page(p.rows, from)
}

// page serves the next page and consumes it, unless only the count is wanted.
func (s *scroll) page(rows int, from *call) answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := list{terms: s.terms, rows: s.rows, total: s.total, cursor: s.token}
	if rows == 0 {
		l.rows = 0
	}
	return l.answer(&s.walk, from)
}

// addHeaders tells the client who it is and what it may do. Limits are advice to a polite client; only the rate is
// enforced, and an unlimited server says a number that no client reaches.
func (c *crossref) addHeaders(h http.Header, r *http.Request) {
	pool, concurrency := "public", "1"
	if r.URL.Query().Has("mailto") || strings.Contains(r.UserAgent(), "mailto:") {
		pool, concurrency = "polite", "3"
	}
	limit, interval := 100_000, 1
	switch {
	case c.rate >= 1:
		limit = int(c.rate)
	case c.rate > 0:
		limit, interval = 1, int(math.Ceil(1/c.rate))
	default:
		concurrency = "1000"
	}
	h.Set("X-Rate-Limit-Limit", strconv.Itoa(limit))
	h.Set("X-Rate-Limit-Interval", strconv.Itoa(interval)+"s")
	h.Set("X-Concurrency-Limit", concurrency)
	h.Set("X-Api-Pool", pool)
}

func notFound() answer {
	return newAnswer(http.StatusNotFound, "text/plain", []byte("Resource not found."))
}

func cursorInvalid(cursor string) answer {
	return failed(http.StatusNotFound, "resource-failure",
		failure{"cursor-invalid", cursor, "Cursor is unknown or has expired. Start again with cursor=*"})
}

func failed(status int, kind string, list ...failure) answer {
	body, err := json.Marshal(map[string]any{"status": "failed", "message-type": kind, "message": list})
	if err != nil {
		panic("sim: marshal failure: " + err.Error()) // strings only: cannot happen
	}
	return newAnswer(status, "application/json", body)
}

// The edge in front of the real provider sends these itself: HTML, none of the provider's headers, no Retry-After.
func (c *crossref) refuse(*call) answer {
	a := edge(http.StatusTooManyRequests, "429 Too Many Requests")
	a.header.Set("Connection", "close")
	return a
}

func (c *crossref) fail(*call) answer {
	return edge(http.StatusServiceUnavailable, "503 Service Unavailable")
}

// edge is what a proxy in front of a provider says in its own name.
func edge(status int, title string) answer {
	return newAnswer(status, "text/html", []byte("<html><head><title>"+title+"</title></head>\n<body><h1>"+title+"</h1></body></html>\n"))
}
