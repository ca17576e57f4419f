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
}

var tasks = []task{
	{name: "json", title: "JSON pages of 1,000", source: "crossref"},
	{name: "pubmed", title: "XML in two phases: ids, then 200 articles a request", source: "pubmed"},
	{name: "oai", title: "OAI-PMH, XML lists", source: "oai", path: "/oai"},
}

var (
	rateLine = regexp.MustCompile(`rate: \{perSecond: [0-9.]+, burst: [0-9]+[^}]*\}?[^\n]*`)
	scroll   = regexp.MustCompile(`(?s)    pagination:\n      type: TOKEN\n      pageSize: 200\n.*?      end: \[EMPTY_PAGE\]\n`)
)

// file is the source as it is shipped, but without the provider's limits, and where it has a cursor that only the provider
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
	text = strings.ReplaceAll(text, ", rate: {perSecond: 10, burst: 10}", "")
	text = rateLine.ReplaceAllString(text, "rate: {perSecond: 1000000, burst: 100000}")
	if t.name == "json" {
		if !scroll.MatchString(text) {
			return "", fmt.Errorf("the source %s does not walk as it did", t.source)
		}
		text = scroll.ReplaceAllString(text, "    pagination: {type: OFFSET, pageSize: 1000, maxPageSize: 1000, sizeParam: rows, positionParam: offset, cap: 10000, end: [EMPTY_PAGE]}\n")
	}
	return text, nil
}
