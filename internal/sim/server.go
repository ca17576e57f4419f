package sim

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// Server is a simulated provider. Safe for concurrent use; it starts no goroutine and needs no closing.
type Server struct {
	cfg      Config
	world    *World
	gate     *gate
	tally    tally
	log      accessLog
	crossref *crossref
}

// New makes a server of a world.
func New(c Config) *Server {
	c = c.withDefaults()
	w := newWorld(c)
	return &Server{
		cfg: c, world: w, gate: newGate(c.Rate, c.Burst), log: accessLog{w: c.Log},
		crossref: &crossref{world: w, scrolls: newScrolls(c.Seed, c.TokenTTL), rate: c.Rate},
	}
}

// Handler serves the Crossref profile at the root: the base URL is the server's address.
func (s *Server) Handler() http.Handler { return http.HandlerFunc(s.serve) }

// Stats tell what has happened so far.
func (s *Server) Stats() Stats {
	stats := s.tally.stats()
	stats.OpenScrolls = int64(s.crossref.scrolls.len())
	return stats
}

// serve keeps away from http.ServeMux, which would clean paths: an id may contain what looks like a path to clean.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/":
		s.serveIndex(w, r)
	case "/_sim/stats":
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(s.Stats())
	default:
		s.serveProvider(w, r)
	}
}

func (s *Server) serveIndex(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	day := s.world.first.time().Format(time.DateOnly)
	fmt.Fprintf(w, "A simulated provider of scholarly works that speaks the Crossref REST protocol.\n"+
		"All works are invented. It has them for %s up to, not including, %s.\n\n"+
		"Try http://%s/works?filter=from-index-date:%s,until-index-date:%s&sort=indexed&order=asc&rows=5&cursor=*\n"+
		"Counters are at /_sim/stats.\n", day, s.world.end.time().Format(time.DateOnly), r.Host, day, day)
}

// serveProvider passes a request through limit, faults, provider and log. Counting and logging come before sending:
// a client that has its answer finds both done.
func (s *Server) serveProvider(w http.ResponseWriter, r *http.Request) {
	now := s.cfg.Now()
	a := s.decide(r, now, s.cfg.Faults.fate(s.cfg.Seed, s.tally.begin()))
	a.header.Set("Date", now.UTC().Format(http.TimeFormat))
	a.compress(r)
	s.tally.end(a)
	s.log.add(r, now, a)
	a.send(w)
}

// decide gives the answer and marks it with the fault that has befallen it. Refusals come before the provider is
// asked, so they move no scroll; a cut or reset answer has been given, so it has.
func (s *Server) decide(r *http.Request, now time.Time, fate fault) answer {
	if !s.gate.admit(now) {
		return tooMany()
	}
	s.wait(r)
	switch fate {
	case faultThrottle:
		a := tooMany()
		a.fault = fate
		return a
	case faultError:
		a := unavailable()
		a.fault = fate
		return a
	}
	a := s.crossref.answer(r, now, fate == faultExpire)
	if fate == faultCut || fate == faultReset {
		a.fault = fate
	}
	return a
}

// wait holds the request for the configured time. A client that gives up meanwhile is served all the same: the real
// provider does not notice either, and the page is gone.
func (s *Server) wait(r *http.Request) {
	if s.cfg.Faults.Latency <= 0 {
		return
	}
	t := time.NewTimer(s.cfg.Faults.Latency)
	defer t.Stop()
	select {
	case <-t.C:
	case <-r.Context().Done():
	}
}
