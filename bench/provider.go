package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"time"

	"patra/internal/sim"
)

// firstDay is where all worlds begin.
var firstDay = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// world is what there is to read: so many papers on each of so many days.
type world struct{ Days, PerDay int }

func (w world) records() int { return w.Days * w.PerDay }

func (w world) until() time.Time { return firstDay.AddDate(0, 0, w.Days) }

// manners are how a provider treats those who ask.
type manners struct {
	Fresh bool          // it writes every page when it is asked, and keeps none
	Rate  float64       // requests a second that it answers, all clients together; 0 is any number
	Burst int           // and how many at once
	Pace  time.Duration // time between two answers to the same client
}

// clientHeader is how a client says who it is, where that matters.
const clientHeader = "X-Bench-Client"

// tally is what a provider has seen.
type tally struct {
	Requests, Refused int64
	Written           int64     // pages that were not in memory
	First, Last       time.Time // when it was asked
	Clients           int
	Seconds           []int64 // how often it was asked in each second since the first, where it limits that
}

// pages answers every question from memory once it has been asked: what it costs to write a page is nobody's business here.
type pages struct {
	manners manners
	behind  http.Handler
	mu      sync.RWMutex
	kept    map[string]page

	count sync.Mutex
	seen  tally
	next  map[string]time.Time // when each client is answered next
}

type page struct {
	kind   string
	status int
	body   []byte
}

func newPages(w world, m manners) *pages {
	truth := sim.New(sim.Config{Seed: 1, From: firstDay, To: w.until(), PerDay: w.PerDay, Exact: true, TokenTTL: 24 * time.Hour, Rate: m.Rate, Burst: m.Burst})
	return &pages{manners: m, behind: truth.Handler(), kept: map[string]page{}, next: map[string]time.Time{}}
}

// ServeHTTP implements http.Handler.
func (p *pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == tallyPath {
		p.tell(w, r.Method == http.MethodDelete)
		return
	}
	p.arrived(r.Header.Get(clientHeader))
	got, err := p.page(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	if got.status == http.StatusTooManyRequests {
		p.note(func(t *tally) { t.Refused++ })
	}
	h := w.Header()
	h.Set("Content-Type", got.kind)
	h.Set("Content-Length", fmt.Sprint(len(got.body)))
	w.WriteHeader(got.status)
	w.Write(got.body) //nolint:errcheck // whoever does not listen has missed it
}

// tallyPath is where a provider tells what it has seen.
const tallyPath = "/bench/tally"

// tell tells it, and forgets it if need be.
func (p *pages) tell(w http.ResponseWriter, forget bool) {
	p.count.Lock()
	defer p.count.Unlock()
	p.seen.Clients = len(p.next)
	json.NewEncoder(w).Encode(p.seen) //nolint:errcheck // whoever asks sees that it is not whole
	if forget {
		p.seen, p.next = tally{}, map[string]time.Time{}
	}
}

func (p *pages) note(what func(*tally)) {
	p.count.Lock()
	defer p.count.Unlock()
	what(&p.seen)
}

// arrived notes a request, and holds it back until its client may have another answer.
func (p *pages) arrived(client string) {
	now := time.Now()
	var due time.Time
	p.note(func(t *tally) {
		t.Requests++
		t.Last = now
		if t.First.IsZero() {
			t.First = now
		}
		if p.manners.Rate > 0 {
			for second := int(now.Sub(t.First).Seconds()); len(t.Seconds) <= second; {
				t.Seconds = append(t.Seconds, 0)
			}
			t.Seconds[len(t.Seconds)-1]++
		}
		if due = p.next[client]; due.Before(now) {
			due = now
		}
		due = due.Add(p.manners.Pace)
		p.next[client] = due
	})
	if p.manners.Pace > 0 {
		<-time.After(due.Sub(now))
	}
}

// whoAsks are parameters that say who asks, which makes no difference to the answer.
var whoAsks = []string{"mailto", "tool", "email"}

// page is what a question is answered with.
func (p *pages) page(r *http.Request) (page, error) {
	if err := r.ParseForm(); err != nil {
		return page{}, err
	}
	q := r.Form
	for _, name := range whoAsks {
		q.Del(name)
	}
	if p.manners.Fresh || p.manners.Rate > 0 {
		return p.write(r.Method, r.URL.Path, q), nil
	}
	key := r.URL.Path + "?" + q.Encode()
	p.mu.RLock()
	got, ok := p.kept[key]
	p.mu.RUnlock()
	if ok {
		return got, nil
	}
	got = p.write(r.Method, r.URL.Path, q)
	p.note(func(t *tally) { t.Written++ })
	p.mu.Lock()
	p.kept[key] = got
	p.mu.Unlock()
	return got, nil
}

func (p *pages) write(method, path string, q url.Values) page {
	req := httptest.NewRequest(method, path+"?"+q.Encode(), nil)
	if method == http.MethodPost {
		req = httptest.NewRequest(method, path, strings.NewReader(q.Encode()))
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	rec := httptest.NewRecorder()
	p.behind.ServeHTTP(rec, req)
	return page{kind: rec.Header().Get("Content-Type"), status: rec.Code, body: rec.Body.Bytes()}
}
