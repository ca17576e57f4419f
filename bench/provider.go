package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
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
	fresh bool          // it writes every page when it is asked, and keeps none
	rate  float64       // requests a second that it answers, all clients together; 0 is any number
	burst int           // and how many at once
	pace  time.Duration // time between two answers to the same client
}

// provider answers every question from memory once it has been asked: what it costs to write a page is nobody's business here.
type provider struct {
	url      string
	requests atomic.Int64
	refused  atomic.Int64
	written  atomic.Int64 // pages that were not in memory
	stop     func()

	manners manners
	behind  http.Handler
	mu      sync.RWMutex
	pages   map[string]page

	clock       sync.Mutex
	first, last time.Time            // when it was asked
	next        map[string]time.Time // when each client is answered next
}

type page struct {
	kind   string
	status int
	body   []byte
}

// startProvider serves a world on this machine.
func startProvider(ctx context.Context, w world, m manners) (*provider, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	truth := sim.New(sim.Config{Seed: 1, From: firstDay, To: w.until(), PerDay: w.PerDay, Exact: true, TokenTTL: 24 * time.Hour, Rate: m.rate, Burst: m.burst})
	p := &provider{url: "http://" + l.Addr().String(), manners: m, behind: truth.Handler(), pages: map[string]page{}, next: map[string]time.Time{}}
	server := &http.Server{Handler: p, ReadHeaderTimeout: 10 * time.Second}
	go server.Serve(l) //nolint:errcheck // it ends when it is closed
	p.stop = func() { server.Close() }
	return p, nil
}

// ServeHTTP implements http.Handler.
func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.requests.Add(1)
	p.arrived(r.UserAgent())
	got, err := p.page(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	if got.status == http.StatusTooManyRequests {
		p.refused.Add(1)
	}
	h := w.Header()
	h.Set("Content-Type", got.kind)
	h.Set("Content-Length", fmt.Sprint(len(got.body)))
	w.WriteHeader(got.status)
	w.Write(got.body) //nolint:errcheck // whoever does not listen has missed it
}

// arrived notes a request, and holds it back until its client may have another answer.
func (p *provider) arrived(client string) {
	p.clock.Lock()
	now := time.Now()
	if p.first.IsZero() {
		p.first = now
	}
	p.last = now
	due := p.next[client]
	if due.Before(now) {
		due = now
	}
	p.next[client] = due.Add(p.manners.pace)
	p.clock.Unlock()
	if p.manners.pace > 0 {
		<-time.After(due.Add(p.manners.pace).Sub(now))
	}
}

// begin forgets who asked before, and when.
func (p *provider) begin() {
	p.clock.Lock()
	defer p.clock.Unlock()
	p.first, p.next = time.Time{}, map[string]time.Time{}
	p.requests.Store(0)
	p.refused.Store(0)
}

// began is when it was first asked.
func (p *provider) began() time.Time {
	p.clock.Lock()
	defer p.clock.Unlock()
	return p.first
}

// permitted is how many requests the rate allowed from the first to the last.
func (p *provider) permitted() float64 {
	p.clock.Lock()
	defer p.clock.Unlock()
	return float64(p.manners.burst) + p.manners.rate*p.last.Sub(p.first).Seconds()
}

// clients is how many there were.
func (p *provider) clients() int {
	p.clock.Lock()
	defer p.clock.Unlock()
	return len(p.next)
}

// whoAsks are parameters that say who asks, which makes no difference to the answer.
var whoAsks = []string{"mailto", "tool", "email"}

// page is what a question is answered with.
func (p *provider) page(r *http.Request) (page, error) {
	if err := r.ParseForm(); err != nil {
		return page{}, err
	}
	q := r.Form
	for _, name := range whoAsks {
		q.Del(name)
	}
	if p.manners.fresh || p.manners.rate > 0 {
		return p.write(r.Method, r.URL.Path, q), nil
	}
	key := r.URL.Path + "?" + q.Encode()
	p.mu.RLock()
	got, ok := p.pages[key]
	p.mu.RUnlock()
	if ok {
		return got, nil
	}
	got = p.write(r.Method, r.URL.Path, q)
	p.written.Add(1)
	p.mu.Lock()
	p.pages[key] = got
	p.mu.Unlock()
	return got, nil
}

func (p *provider) write(method, path string, q url.Values) page {
	req := httptest.NewRequest(method, path+"?"+q.Encode(), nil)
	if method == http.MethodPost {
		req = httptest.NewRequest(method, path, strings.NewReader(q.Encode()))
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	rec := httptest.NewRecorder()
	p.behind.ServeHTTP(rec, req)
	return page{kind: rec.Header().Get("Content-Type"), status: rec.Code, body: rec.Body.Bytes()}
}
