package sim

import (
	"net/http"
	"strings"
)

// What providers say with status 200 when something is wrong, beyond what a request can cause.

func (c *crossref) wrong(*call) answer {
	return newAnswer(http.StatusOK, "application/json", []byte(`{"status":"error","message-type":"exception","message-version":"1.0.0","message":{"name":"class java.lang.NullPointerException"}}`))
}

func (c *crossref) hiccup(*call) (answer, bool) { return answer{}, false }

func (e *europePMC) wrong(c *call) answer {
	return europeError(c, "Internal error: the query could not be processed")
}

func (e *europePMC) hiccup(c *call) (answer, bool) {
	return europeError(c, "Search service is unavailable, please try again later"), true
}

func europeError(c *call, message string) answer {
	q := europeQuery{json: c.form.Get("format") == "json"}
	a := q.failed(sentence(message))
	a.refused = false
	return a
}

// wrong at efetch is a document that is neither a set nor an error: an id must not be blamed for it.
func (p *pubmed) wrong(c *call) answer {
	if p.searches(c) {
		return newAnswer(http.StatusOK, "application/json", []byte(`{"error":"Internal server error"}`))
	}
	return newAnswer(http.StatusOK, "text/xml; charset=UTF-8", []byte(`<?xml version="1.0" ?><Result><Status>failure</Status></Result>`))
}

func (p *pubmed) hiccup(c *call) (answer, bool) {
	if !p.searches(c) {
		return answer{}, false
	}
	e := &esearch{json: c.form.Get("retmode") == "json"}
	a := e.failed(sentence("Search Backend failed: temporarily unable to process the request"))
	a.refused = false
	return a, true
}

func (p *pubmed) searches(c *call) bool { return strings.HasPrefix(c.URL.Path, pubmedPath+"esearch") }

func (o *oai) wrong(c *call) answer {
	q := &oaiRequest{archive: archives[0], world: c.world, call: c, ttl: o.ttl}
	a := q.failed(&oaiError{"badArgument", "Internal error"}, false)
	a.refused = false
	return a
}

func (o *oai) hiccup(*call) (answer, bool) { return answer{}, false }

func (d *datacite) wrong(*call) answer {
	return newAnswer(http.StatusOK, "application/json", []byte(`{"errors":[{"status":"500","title":"Something went wrong"}]}`))
}

func (d *datacite) hiccup(*call) (answer, bool) { return answer{}, false }

func (o *openAlex) wrong(*call) answer {
	return newAnswer(http.StatusOK, "application/json", []byte(`{"error":"Internal error","message":"Something went wrong"}`))
}

func (o *openAlex) hiccup(*call) (answer, bool) { return answer{}, false }
