package sim

import (
	"net/http"
	"strings"
	"time"
)

// oaiPath is the base URL of the archive that knows seconds; the others lie below it.
const oaiPath = "/oai"

// oai answers as OAI-PMH archives do. It remembers nothing: a resumption token says where to go on until it expires,
// and the same token gives the same page.
type oai struct {
	limit *gate
	ttl   time.Duration

	arxivLimit *gate
	arxivPage  int // records on a page; a page of headers has eight times as many
}

// archive is one repository. They hold the same records and differ in what the protocol leaves open, or forbids.
type archive struct {
	path    string
	days    bool  // dates are known to the day, not to the second
	lies    bool  // the list size it declares is more than it has
	asError int   // the status of an answer that is an OAI error
	order   order // in which lists come
}

var archives = []archive{
	{path: oaiPath, asError: http.StatusOK, order: ascending},
	{path: oaiPath + "/day", days: true, lies: true, asError: http.StatusOK, order: descending},
	{path: oaiPath + "/422", asError: http.StatusUnprocessableEntity, order: ascending},
}

func (o *oai) gate(c *call) *gate {
	if forArXiv(c) {
		return o.arxivLimit
	}
	return o.limit
}

func (o *oai) refuse(*call) answer {
	return newAnswer(http.StatusTooManyRequests, "text/html", []byte("Rate exceeded."))
}

// fail asks for patience in the protocol's own way. Real archives ask for ten seconds and more; one is enough to see
// whether a client waits.
func (o *oai) fail(*call) answer {
	a := edge(http.StatusServiceUnavailable, "503 Service Unavailable")
	a.header.Set("Retry-After", "1")
	return a
}

func (o *oai) answer(c *call) answer {
	if forArXiv(c) {
		q := &arxivRequest{oaiRequest{archive: arxivArchive, world: c.world, call: c, ttl: o.ttl}, o.arxivPage}
		return q.answer()
	}
	for _, a := range archives {
		if strings.TrimSuffix(c.URL.Path, "/") == a.path {
			q := &oaiRequest{archive: a, world: c.world, call: c, ttl: o.ttl}
			return q.answer()
		}
	}
	return edge(http.StatusNotFound, "404 Not Found")
}

// stamp is a date as the archive writes it.
func (a *archive) stamp(ms int64) string {
	if a.days {
		return dateText(ms)
	}
	return secondText(ms)
}

func (a *archive) granularity() string {
	if a.days {
		return "YYYY-MM-DD"
	}
	return "YYYY-MM-DDThh:mm:ssZ"
}
