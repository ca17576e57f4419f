package sim

import (
	"math"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// pubmedPath is where the real provider has its utilities.
const pubmedPath = "/entrez/eutils/"

// pubmed answers as NCBI's E-utilities do for the database pubmed. Searches may be kept on the history server, which
// is the only thing it remembers.
type pubmed struct {
	histories *histories
	anonymous *gate
	keyed     *gate // for a client with an api_key
}

// newPubMed lets a client with a key ask ten times where one without may ask three times.
func newPubMed(c Config) *pubmed {
	return &pubmed{
		histories: newHistories(c.Seed, c.ttl(historyTTL)), anonymous: newGate(c.Rate, c.Burst),
		keyed: newGate(c.Rate*10/3, int(math.Ceil(float64(c.Burst)*10/3))),
	}
}

func (p *pubmed) gate(c *call) *gate {
	if c.form.Get("api_key") != "" {
		return p.keyed
	}
	return p.anonymous
}

func (p *pubmed) refuse(c *call) answer {
	limit, _ := p.gate(c).state(c.now)
	who := c.form.Get("api_key")
	if who == "" {
		who, _, _ = net.SplitHostPort(c.RemoteAddr)
	}
	j := &jsonText{b: []byte("{"), escape: plainEscapes}
	j.pair("error", "API rate limit exceeded")
	j.pair("api-key", who)
	j.pair("count", itoa(limit+1))
	j.pair("limit", itoa(limit))
	j.close('}')
	a := newAnswer(http.StatusTooManyRequests, "application/json", j.b)
	a.header.Set("X-RateLimit-Limit", strconv.Itoa(limit))
	a.header.Set("X-RateLimit-Remaining", "0")
	return a
}

// fail is the page that the utilities show in place of an answer; it is a 500.
func (p *pubmed) fail(*call) answer {
	return edge(http.StatusInternalServerError, "NCBI/eutils202 - WWW Error 500 Diagnostic")
}

// A request line of more than this is too long for the real server.
const maxRequestLine = 8190

func (p *pubmed) answer(c *call) answer {
	a := p.route(c)
	limit, left := p.gate(c).state(c.now)
	a.header.Set("X-RateLimit-Limit", strconv.Itoa(limit))
	a.header.Set("X-RateLimit-Remaining", strconv.Itoa(left))
	return a
}

func (p *pubmed) route(c *call) answer {
	if len(c.URL.RequestURI()) > maxRequestLine {
		return edge(http.StatusRequestURITooLong, "414 Request-URI Too Long")
	}
	if c.Method != http.MethodGet && c.Method != http.MethodPost {
		return onlyGet()
	}
	switch strings.TrimSuffix(strings.TrimPrefix(c.URL.Path, pubmedPath), "/") {
	case "esearch.fcgi":
		return p.esearch(c)
	case "efetch.fcgi":
		return p.efetch(c)
	case "esummary.fcgi":
		return p.esummary(c)
	}
	return edge(http.StatusNotFound, "404 Not Found")
}

// checkNames finds a parameter that is not served. The real utilities ignore what they do not know; that would hide
// the very mistakes a simulator is for.
func (p *pubmed) checkNames(c *call, served ...string) error {
	for name, values := range c.form {
		switch {
		case slices.Contains([]string{"db", "tool", "email", "api_key", "retmode", "rettype"}, name):
		case !slices.Contains(served, name):
			return sentence("Parameter " + name + " is not supported")
		}
		if len(values) > 1 {
			return sentence("Parameter " + name + " is given twice")
		}
	}
	if db := c.form.Get("db"); db != "pubmed" {
		return sentence("Invalid db name specified: " + db)
	}
	return nil
}

// readCount reads a number that must not be negative.
func readCount(c *call, name string, otherwise int) (int, error) {
	if !c.form.Has(name) {
		return otherwise, nil
	}
	n, err := strconv.ParseUint(c.form.Get(name), 10, 31)
	if err != nil {
		return 0, sentence("Invalid value of " + name + ": " + c.form.Get(name))
	}
	return int(n), nil
}

// state tells what a client that was just admitted may still do: the requests a second, and those left at once. A gate
// without a limit says numbers that no client reaches.
func (g *gate) state(now time.Time) (limit, left int) {
	if g.gap == 0 {
		return 100_000, 99_999
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	ahead := max(g.next.Sub(now), 0)
	limit = max(1, int(math.Round(float64(time.Second)/float64(g.gap))))
	return limit, min(limit, max(0, int((g.slack-ahead+g.gap)/g.gap)))
}
