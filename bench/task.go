package main

import (
	"fmt"
	"regexp"
	"strings"

	"patra/sources"
)

// task is a kind of harvest that everybody is given.
type task struct {
	name   string
	title  string
	source string // the code of Patra's source
	path   string // of the provider, where the source has to be told
	share  int    // of the world's records a day this provider has one in so many: some records are larger, some readers slower
	rows   int    // records of a page, where a harvester may say so
	known  bool   // clients say who they are, with a secret
	rate   string // what the source says of its rate; empty: no limit worth mentioning
}

var tasks = []task{
	{name: "json", title: "JSON pages of 1,000", source: "crossref", share: 1, rows: 1000},
	{name: "pubmed", title: "XML in two phases: ids, then 200 articles a request", source: "pubmed", share: 5},
	{name: "oai", title: "OAI-PMH, XML lists", source: "oai", path: "/oai", share: 2},
}

// world is what this task's provider has.
func (t task) world(w world) world {
	return world{Days: w.Days, PerDay: max(w.PerDay/max(t.share, 1), 1)}
}

var (
	rateLine = regexp.MustCompile(`rate: \{perSecond: [0-9.]+, burst: [0-9]+[^}]*\}?[^\n]*`)
	scroll   = regexp.MustCompile(`(?s)    pagination:\n      type: TOKEN\n      pageSize: 200\n.*?      end: \[EMPTY_PAGE\]\n`)
)

// file is the source as it is shipped, but with the limits of this provider, and where it has a cursor that only the provider
// knows, by offsets, so that everybody can ask for the same pages.
func (t task) file() (string, error) {
	raw, err := sources.Files.ReadFile(t.source + ".yaml")
	if err != nil {
		return "", err
	}
	text := string(raw)
	if !rateLine.MatchString(text) {
		return "", fmt.Errorf("the source %s does not say its rate as it did", t.source)
	}
	rate := t.rate
	if rate == "" {
		rate = "perSecond: 1000000, burst: 100000"
	}
	if t.known {
		text = strings.Replace(text, "\ndefaults:\n", "\ndefaults:\n  auth: {type: API_KEY, in: HEADER, name: "+clientHeader+", secret: bench}\n", 1)
	}
	text = strings.ReplaceAll(text, ", rate: {perSecond: 10, burst: 10}", "")
	text = rateLine.ReplaceAllString(text, "rate: {"+rate+"}")
	if t.name == "json" {
		if !scroll.MatchString(text) {
			return "", fmt.Errorf("the source %s does not walk as it did", t.source)
		}
		text = scroll.ReplaceAllString(text, fmt.Sprintf("    pagination: {type: OFFSET, pageSize: %d, maxPageSize: 1000, sizeParam: rows, positionParam: offset, cap: 10000, end: [EMPTY_PAGE]}\n", t.rows))
	}
	return text, nil
}
