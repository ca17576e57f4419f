package sim

import (
	"net/http"
	"strings"
)

// profile is one provider's protocol. It decides what to say; rate limit, faults, log and transport are the server's,
// the same for every provider. Safe for concurrent use.
type profile interface {
	// gate is the limit that a call counts against.
	gate(c *call) *gate
	// answer serves a call that was admitted. A fate that the profile acts on itself (an expiry, a time-out) is marked
	// on the answer; the others are the server's.
	answer(c *call) answer
	// refuse is what a client hears that asks too often; nothing is consumed.
	refuse(c *call) answer
	// fail is what a client hears while the provider cannot serve; nothing is consumed.
	fail(c *call) answer
	// wrong is an error of the provider's own that comes with status 200 and is not said to pass.
	wrong(c *call) answer
	// hiccup is one that is said to pass; false where the provider has none.
	hiccup(c *call) (answer, bool)
}

// profile finds the provider whose real path a request has. Everything else is Crossref's.
func (s *Server) profile(c *call) profile {
	path := c.URL.Path
	switch {
	case path == openAlexPath, strings.HasPrefix(path, openAlexPath+"/"), path == sharedPath && c.Method == http.MethodGet && forOpenAlex(c.form):
		return s.openAlex
	case strings.HasPrefix(path, europePath):
		return s.europe
	case strings.HasPrefix(path, pubmedPath):
		return s.pubmed
	case path == oaiPath, strings.HasPrefix(path, oaiPath+"/"):
		return s.oai
	case path == datacitePath, strings.HasPrefix(path, datacitePath+"/"):
		return s.datacite
	}
	return s.crossref
}

func newAnswer(status int, contentType string, body []byte) answer {
	return answer{status: status, header: http.Header{"Content-Type": {contentType}}, body: body}
}

// onlyGet tells a client that has used another method.
func onlyGet() answer {
	a := newAnswer(http.StatusMethodNotAllowed, "text/plain", []byte("Method not allowed."))
	a.header.Set("Allow", http.MethodGet)
	return a
}

// sentence is an error in a provider's own words, which begin with a capital letter.
type sentence string

func (s sentence) Error() string { return string(s) }
