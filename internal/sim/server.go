package sim

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// Server is one machine that speaks as several providers, each under its real path. Safe for concurrent use; it starts no goroutine and needs no closing.
type Server struct {
	cfg      Config
	world    *World
	tally    tally
	log      accessLog
	crossref *crossref
	europe   *europePMC
	oai      *oai
	pubmed   *pubmed
	datacite *datacite
	openAlex *openAlex
}

// New makes a server of a world.
func New(c Config) *Server {
	c = c.withDefaults()
	w := newWorld(c)
	return &Server{
		cfg: c, world: w, log: accessLog{w: c.Log},
		crossref: &crossref{world: w, scrolls: newScrolls(c.Seed, c.ttl(defaultTTL)), rate: c.Rate, limit: newGate(c.Rate, c.Burst)},
		europe:   &europePMC{world: w, limit: newGate(c.Rate, c.Burst)},
		oai:      &oai{world: w, limit: newGate(c.Rate, c.Burst), ttl: c.ttl(oaiTTL), arxivLimit: newGate(c.Rate, c.Burst), arxivPage: arxivPage},
		pubmed:   newPubMed(c, w),
		datacite: &datacite{world: w, limit: newGate(c.Rate, c.Burst)},
		openAlex: &openAlex{world: w, limit: newGate(c.Rate, c.Burst)},
	}
}

// Handler serves every provider under its real path; Crossref's is the root. The base URL of each is the server's
// address, followed by whatever path the real one has.
func (s *Server) Handler() http.Handler { return http.HandlerFunc(s.serve) }

// Stats tell what has happened so far.
func (s *Server) Stats() Stats {
	stats := s.tally.stats()
	stats.OpenScrolls = int64(s.crossref.scrolls.len())
	stats.Histories = int64(s.pubmed.histories.len())
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
		"Counters are at /_sim/stats.\n\n"+
		"The same works, as other providers have them: "+europePath+"search (Europe PMC), "+pubmedPath+"esearch.fcgi,\n"+
		"efetch.fcgi and esummary.fcgi (PubMed), "+datacitePath+" (DataCite), "+openAlexPath+"\n(OpenAlex), and OAI-PMH at "+oaiPath+", "+oaiPath+"/day and "+oaiPath+"/422;\n"+oaiPath+" with metadataPrefix=arXiv is arXiv.\n", day, s.world.end.time().Format(time.DateOnly), r.Host, day, day)
}

// serveProvider passes a request through limit, faults, provider and log. Counting and logging come before sending:
// a client that has its answer finds both done.
func (s *Server) serveProvider(w http.ResponseWriter, r *http.Request) {
	now := s.cfg.Now()
	c := newCall(r, now, s.cfg.Faults.fate(s.cfg.Seed, s.tally.begin()))
	a := s.decide(c)
	a.header.Set("Date", now.UTC().Format(http.TimeFormat))
	a.compress(r)
	s.tally.end(a)
	s.log.add(c, a)
	a.send(w)
}

// decide gives the answer and marks it with the fault that has befallen it. Refusals come before the provider is
// asked, so they move no scroll; a cut or reset answer has been given, so it has.
func (s *Server) decide(c *call) answer {
	p := s.profile(c)
	if !p.gate(c).admit(c.now) {
		return p.refuse(c)
	}
	s.wait(c.Request)
	var a answer
	switch c.fate {
	case faultThrottle:
		a = p.refuse(c)
	case faultError:
		a = p.fail(c)
	case faultCut, faultReset:
		a = p.answer(c)
	default:
		return p.answer(c)
	}
	a.fault = c.fate
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
