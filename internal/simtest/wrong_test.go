package simtest

import (
	"net/http"

	"patra"
	"patra/internal/executor"
	"patra/internal/relay"
	"patra/internal/sim"
	"patra/internal/store"
)

// wrong is a rule that is known to be wrong, made at the seams of the program: the program itself knows nothing of it. What
// is not set is right.
type wrong struct {
	name     string
	days     int    // of the world; 0 is as many as usual
	says     string // what the rule says
	profile  string
	change   []string // of the source's file, in pairs
	promises int      // sessions between two looks at the tables; 0 is as usual
	perDay   int      // records that it takes to meet it; 0 is as many as the profile has

	weather *sim.Faults // that it takes; nil is whatever is drawn
	pause   float64     // share of the processes that are stopped for long; 0 is as usual

	claiming    func(*world)
	writing     func(*world, *patra.Claim)
	onFinish    func(*world, *patra.Claim, patra.RunResult)
	commits     func(*patra.Claim, patra.PageResult) patra.PageResult
	onCommit    func(*world, *patra.Claim, patra.OpenPage, patra.PageResult)
	needs       func(w *world, cursorID int64, covered, live patra.Coverage) (patra.Coverage, patra.Coverage)
	disputes    func(patra.Coverage) patra.Coverage
	cuts        func([]patra.Slice) []patra.Slice
	onSplit     func(*world, patra.Slice)
	gate        func(*world, *store.Store) executor.Gate
	sends       func(*world, *http.Request, http.RoundTripper) (*http.Response, error)
	serves      func(*world, http.Handler) http.Handler
	takesEvents func([]patra.Event) []patra.Event
	publishes   func(relay.Publisher) relay.Publisher
}

func (r *wrong) beforeClaim(w *world) {
	if r.claiming != nil {
		r.claiming(w)
	}
}

func (r *wrong) beforeWrite(w *world, c *patra.Claim) {
	if r.writing != nil {
		r.writing(w, c)
	}
}

func (r *wrong) finished(w *world, c *patra.Claim, end patra.RunResult) {
	if r.onFinish != nil {
		r.onFinish(w, c, end)
	}
}

func (r *wrong) page(c *patra.Claim, res patra.PageResult) patra.PageResult {
	if r.commits != nil {
		return r.commits(c, res)
	}
	return res
}

func (r *wrong) committed(w *world, c *patra.Claim, page patra.OpenPage, res patra.PageResult) {
	if r.onCommit != nil {
		r.onCommit(w, c, page, res)
	}
}

func (r *wrong) need(w *world, cursorID int64, covered, live patra.Coverage) (patra.Coverage, patra.Coverage) {
	if r.needs != nil {
		return r.needs(w, cursorID, covered, live)
	}
	return covered, live
}

func (r *wrong) disputed(c patra.Coverage) patra.Coverage {
	if r.disputes != nil {
		return r.disputes(c)
	}
	return c
}

func (r *wrong) slices(s []patra.Slice) []patra.Slice {
	if r.cuts != nil {
		return r.cuts(s)
	}
	return s
}

func (r *wrong) split(w *world, parent patra.Slice) {
	if r.onSplit != nil {
		r.onSplit(w, parent)
	}
}

func (r *wrong) send(w *world, req *http.Request, next http.RoundTripper) (*http.Response, error) {
	if r.sends != nil {
		return r.sends(w, req, next)
	}
	return next.RoundTrip(req)
}

func (r *wrong) serve(w *world, h http.Handler) http.Handler {
	if r.serves != nil {
		return r.serves(w, h)
	}
	return h
}

func (r *wrong) events(all []patra.Event) []patra.Event {
	if r.takesEvents != nil {
		return r.takesEvents(all)
	}
	return all
}

func (r *wrong) publisher(p relay.Publisher) relay.Publisher {
	if r.publishes != nil {
		return r.publishes(p)
	}
	return p
}
