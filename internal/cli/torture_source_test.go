package cli

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"patra/internal/sim"
	"patra/sources"
)

// tortured is a source under torture: what to ask it, and what is really there.
type tortured struct {
	code     string
	endpoint string // where the source has several
	path     string // of the provider, after the simulator's address
	args     []string
	perDay   int
	stateful bool // a token of it is used up by asking
	truth    func(*sim.Server) *sim.Provider
}

// torturedSources are one of each kind: a token that is used up, ids first and records after, a token that can be asked
// for again, and a protocol whose pages have their own size.
var torturedSources = []tortured{
	{code: "crossref", perDay: 70, stateful: true, truth: (*sim.Server).Crossref},
	{code: "pubmed", perDay: 70, truth: (*sim.Server).PubMed},
	{code: "europepmc", perDay: 70, truth: func(s *sim.Server) *sim.Provider { return s.EuropePMC().By("UPDATE_DATE") }},
	{code: "oai", path: "/oai", args: []string{"--param", "baseUrl=https://archive.example/oai"}, perDay: 240, truth: (*sim.Server).OAI},
}

// The pace that the source files keep to, and the one that the provider allows. Between a grant and the arrival of its
// request there may be a pause, so that requests that were spread bunch up: the provider forgives as many as fit into one.
const (
	tortureRate  = 40
	tortureBurst = 4
	forgiven     = 16
)

var (
	pageSize = regexp.MustCompile(`pageSize: \d+`)
	batch    = regexp.MustCompile(`batch: \d+`)
	depth    = regexp.MustCompile(`cap: \d+`)
)

// text is the shipped file with small pages, no long waits, a secret, and a pace that can be checked. Without a count to compare
// with, a page that was lost unnoticed stays lost; with one, the counting itself is put to the test.
// One that is cut lists less of a question than a day has: a slice is left early, and cut by ids.
func (s tortured) text(t testing.TB, counted, cut bool) string {
	data, err := sources.Files.ReadFile(s.code + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(batch.ReplaceAllString(pageSize.ReplaceAllString(string(data), "pageSize: 20"), "batch: 10"), "\n")
	for i, line := range lines {
		switch {
		case strings.HasPrefix(line, "  rate:"):
			lines[i] = fmt.Sprintf("  rate: {perSecond: %d, burst: %d}\n  retry: {maxAttempts: 20, backoff: {initial: 5ms, max: 100ms}}\n  breaker: {failures: 5, cooldown: 1s..2s}", tortureRate, tortureBurst)
			lines[i] += "\n  auth: {type: API_KEY, in: " + s.secretIn() + ", name: api_key, secret: canary}"
		case strings.HasPrefix(line, "    timeout:"):
			lines[i] = "    timeout: {connect: 2s, read: 1500ms, total: 3s}"
		case strings.HasPrefix(line, "  retry:"), strings.HasPrefix(line, "  auth:"):
			lines[i] = ""
		}
	}
	text := strings.Join(lines, "\n")
	if !counted {
		text = strings.ReplaceAll(text, "trust: EXACT", "trust: NONE")
	}
	if cut {
		text = depth.ReplaceAllString(text, "cap: 60")
	}
	return text
}

// secretIn is where the provider expects a secret.
func (s tortured) secretIn() string {
	if s.code == "pubmed" {
		return "BODY"
	}
	return "HEADER"
}
