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

func (w world) simulator() *sim.Server {
	return sim.New(sim.Config{Seed: 1, From: firstDay, To: w.until(), PerDay: w.PerDay, Exact: true, TokenTTL: 24 * time.Hour})
}

// provider answers every question from memory once it has been asked: what it costs to write a page is nobody's business here.
type provider struct {
	url      string
	requests atomic.Int64
	bytes    atomic.Int64
	stop     func()

	behind http.Handler
	mu     sync.RWMutex
	pages  map[string]page
}

type page struct {
	kind   string
	status int
	body   []byte
}

// startProvider serves a world on this machine.
func startProvider(ctx context.Context, w world) (*provider, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &provider{url: "http://" + l.Addr().String(), behind: w.simulator().Handler(), pages: map[string]page{}}
	server := &http.Server{Handler: p, ReadHeaderTimeout: 10 * time.Second}
	go server.Serve(l) //nolint:errcheck // it ends when it is closed
	p.stop = func() { server.Close() }
	return p, nil
}

// ServeHTTP implements http.Handler.
func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.requests.Add(1)
	got, err := p.page(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", got.kind)
	h.Set("Content-Length", fmt.Sprint(len(got.body)))
	w.WriteHeader(got.status)
	n, _ := w.Write(got.body)
	p.bytes.Add(int64(n))
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
	key := r.URL.Path + "?" + q.Encode()
	p.mu.RLock()
	got, ok := p.pages[key]
	p.mu.RUnlock()
	if ok {
		return got, nil
	}
	got = p.write(r.Method, r.URL.Path, q)
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
