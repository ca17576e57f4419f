package sim

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Server is one machine that speaks as several providers, each under its real path. Safe for concurrent use; it starts no goroutine and needs no closing.
type Server struct {
	cfg      Config
	world    *World
	faults   atomic.Pointer[Faults]
	refusals atomic.Uint64 // that said when to come back, in one way or another
	lies     *lies
	deck     *deck
	storm    atomic.Int64 // requests that the storm still has to come
	guests   sync.Map     // connections that had an answer already
	tally    tally
	log      accessLog
	quota    *quota
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
	s := &Server{
		cfg: c, world: newWorld(c), lies: newLies(), log: accessLog{w: c.Log}, quota: newQuota(c.Quota),
		crossref: &crossref{scrolls: newScrolls(c.Seed, c.ttl(defaultTTL)), rate: c.Rate, limit: newGate(c.Rate, c.Burst)},
		europe:   &europePMC{limit: newGate(c.Rate, c.Burst)},
		oai:      &oai{limit: newGate(c.Rate, c.Burst), ttl: c.ttl(oaiTTL), arxivLimit: newGate(c.Rate, c.Burst), arxivPage: arxivPage},
		pubmed:   newPubMed(c),
		datacite: &datacite{limit: newGate(c.Rate, c.Burst)},
		openAlex: &openAlex{limit: newGate(c.Rate, c.Burst)},
	}
	s.faults.Store(&c.Faults)
	s.deck = newDeck(c.Faults)
	return s
}

// Calm ends all faults and movements; the rate limit stays, and so do the works and what is wrong with them.
func (s *Server) Calm() {
	s.faults.Store(&Faults{})
	s.storm.Store(0)
	s.world.moves.stop()
}

// Weather puts other faults in the place of those that there are. What belongs to the world stays as it is.
func (s *Server) Weather(f Faults) { s.faults.Store(&f) }

// Handler serves every provider under its real path; Crossref's is the root. The base URL of each is the server's
// address, followed by whatever path the real one has.
func (s *Server) Handler() http.Handler { return http.HandlerFunc(s.serve) }

// Stats tell what has happened so far.
func (s *Server) Stats() Stats {
	stats := s.tally.stats()
	stats.OpenScrolls = int64(s.crossref.scrolls.len())
	stats.Histories = int64(s.pubmed.histories.len())
	stats.Moves = int64(s.world.moves.epoch())
	stats.QuotaUsed, stats.OverQuota = s.quota.stats()
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
	now, number, faults := s.cfg.Now(), s.tally.begin(), s.faults.Load()
	c := newCall(r, now)
	c.number, c.fate, c.lies = number, s.fate(faults, number), s.lies
	c.world = s.world.asOf(s.world.moves.pass(number, now))
	counted := s.quota.count(now)
	a := s.decide(c, faults, counted.over)
	counted.tell(a.header)
	answered := s.cfg.Now()
	a.header.Set("Date", answered.UTC().Format(http.TimeFormat))
	if a.refusal() && (faults.RetryAfter || a.fault != faultThrottle && !a.over) {
		s.speak(&a, number, answered)
	}
	a.compress(r)
	_, a.reused = s.guests.LoadOrStore(r.RemoteAddr, true)
	if r.Close || a.fault == faultReset { // the connection ends with this answer: the next one from its port is another
		s.guests.Delete(r.RemoteAddr)
	}
	if a.fault != faultReset || a.reused { // the one that a client would repeat by itself
		s.deck.done(a.fault)
	}
	s.tally.end(a)
	s.log.add(c, a, answered)
	a.send(w, r)
}

// decide gives the answer and marks it with the fault that has befallen it. Refusals come before the provider is
// asked, so they move no scroll; what is wrong with an answer comes after, so it has.
func (s *Server) decide(c *call, f *Faults, over bool) answer {
	p := s.profile(c)
	if over || !p.gate(c).admit(c.now) {
		a := p.refuse(c)
		a.over = true
		return a
	}
	wait(c.Request, f.Latency)
	a, happened := spoil(p, c)
	if happened {
		a.fault = c.fate
	} else if c.did != faultNone {
		a.fault = c.did
	}
	return a
}

// spoil does to an answer what the fate of the call is. False if nothing came of it, or if it is the provider's own
// business.
func spoil(p profile, c *call) (a answer, happened bool) {
	switch c.fate {
	case faultThrottle, faultAbsurd:
		return p.refuse(c), true
	case faultError, faultStorm:
		return p.fail(c), true
	case faultAuth:
		return edge(http.StatusUnauthorized, "401 Unauthorized"), true
	case faultUnavailable:
		return edge(http.StatusServiceUnavailable, "503 Service Unavailable"), true
	case faultTransient:
		if a, has := p.hiccup(c); has {
			return a, true
		}
	}
	a = p.answer(c)
	switch c.fate {
	case faultCut, faultReset, faultCutChunked, faultCutPlain, faultHalfGzip, faultSlow, faultShortLength, faultLongLength, faultBomb, faultTrickle, faultHang:
		return a, true
	}
	if a.status != http.StatusOK || a.refused { // nothing to lie about
		return a, false
	}
	switch c.fate {
	case faultHTML:
		return edge(http.StatusOK, "Please sign in"), true
	case faultErrorBody:
		return p.wrong(c), true
	case faultEmptyBody:
		return newAnswer(http.StatusOK, a.header.Get("Content-Type"), nil), true
	case faultNoContent:
		return newAnswer(http.StatusNoContent, a.header.Get("Content-Type"), nil), true
	case faultElsewhere:
		elsewhere := newAnswer(http.StatusFound, a.header.Get("Content-Type"), nil)
		elsewhere.header.Set("Location", "/elsewhere")
		return elsewhere, true
	case faultNotModified:
		return newAnswer(http.StatusNotModified, a.header.Get("Content-Type"), nil), true
	case faultPartial:
		half := slices.Clone(a.body[:len(a.body)/2])
		part := newAnswer(http.StatusPartialContent, a.header.Get("Content-Type"), half)
		part.header.Set("Content-Range", fmt.Sprintf("bytes 0-%d/%d", len(half)-1, len(a.body)))
		return part, true
	case faultDamaged:
		a.body = damage(a.body, c.number)
		return a, true
	case faultBroken:
		return newAnswer(http.StatusOK, a.header.Get("Content-Type"), ruin(a.body)), true
	}
	return a, false
}

// wait holds a request for some time. A client that gives up meanwhile is served all the same: the real
// provider does not notice either, and the page is gone.
func wait(r *http.Request, latency time.Duration) {
	if latency <= 0 {
		return
	}
	t := time.NewTimer(latency)
	defer t.Stop()
	select {
	case <-t.C:
	case <-r.Context().Done():
	}
}
