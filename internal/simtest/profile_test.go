package simtest

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"patra"
	"patra/internal/sim"
	"patra/internal/source"
	"patra/sources"
)

// profile is a source as a world harvests it.
type profile struct {
	name     string
	code     string // of the shipped file
	endpoint string
	path     string // of the provider, after its address
	params   map[string]string
	truth    func(*sim.Server) *sim.Provider
	every    time.Duration // between two sessions
	perDay   int
	stateful bool
	poison   float64  // share of the records whose date is none; not every provider's records show it
	change   []string // of the shipped file, in pairs
}

// profiles are one of each kind of paging and of each kind of date.
var profiles = []profile{
	{name: "crossref", code: "crossref", truth: (*sim.Server).Crossref, every: day, perDay: 14, stateful: true, poison: 0.02},
	{name: "europepmc", code: "europepmc", truth: func(s *sim.Server) *sim.Provider { return s.EuropePMC().By("UPDATE_DATE") }, every: day, perDay: 14, poison: 0.02},
	{name: "pubmed", code: "pubmed", endpoint: "modified", truth: func(s *sim.Server) *sim.Provider { return s.PubMed().By("mdat") }, every: day, perDay: 12, poison: 0.02},
	{name: "datacite", code: "datacite", truth: (*sim.Server).DataCite, every: 12 * time.Hour, perDay: 24},
	{name: "openalex", code: "openalex", endpoint: "changed", path: "/openalex", truth: func(s *sim.Server) *sim.Provider { return s.OpenAlex().By("updated_date") }, every: 12 * time.Hour, perDay: 24,
		change: []string{`secret: openalex, rate: {perSecond: 5, quota: {daily: 10000}}}`, `secret: openalex, optional: true}`, `{sort: "updated_date:asc"}`, `{sort: "updated_date:asc", api_key: paid}`}},
	{name: "oai", code: "oai", path: "/oai", params: map[string]string{"baseUrl": "https://archive.example/oai"}, truth: (*sim.Server).OAI, every: day, perDay: 120, poison: 0.02},
	{name: "arxiv", code: "arxiv-oai", truth: (*sim.Server).ArXiv, every: day, perDay: 14},
}

const day = 24 * time.Hour

var (
	pageSize = regexp.MustCompile(`\bpageSize: \d+`)
	batch    = regexp.MustCompile(`batch: \d{2,}`)
)

// file is the shipped file with small pages.
func (p profile) file(t testing.TB, change ...string) *source.File {
	t.Helper()
	data, err := sources.Files.ReadFile(p.code + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	text = pageSize.ReplaceAllString(text, "pageSize: 5")
	text = batch.ReplaceAllString(text, "batch: 7")
	pairs := append(append([]string{}, p.change...), change...)
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			t.Fatalf("%s has no %q", p.code, pairs[i])
		}
		text = strings.ReplaceAll(text, pairs[i], pairs[i+1])
	}
	f, err := source.Load(p.code+".yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// spec compiles a file for the one endpoint that is harvested.
func (p profile) spec(t testing.TB, f *source.File) *source.Spec {
	t.Helper()
	s, err := source.Compile(f, source.Options{Endpoint: p.endpoint, Operation: patra.Harvest, Contact: "w@example.org", Parameters: p.params})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func profileNamed(name string) (profile, error) {
	var names []string
	for _, p := range profiles {
		if p.name == name {
			return p, nil
		}
		names = append(names, p.name)
	}
	return profile{}, fmt.Errorf("no profile %q; there are %s", name, strings.Join(names, ", "))
}

// idOf is how we name a record of a provider.
func idOf(r sim.Record) string {
	if r.Source != "" {
		return r.Source + "/" + r.ID
	}
	return r.ID
}
