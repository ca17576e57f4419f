package source_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"patra"
	"patra/internal/query"
	"patra/internal/source"
	"patra/sources"
)

// recordings is where answers of real providers are, beside the project and never in it.
var recordings = filepath.Join("..", "..", "..", "shared", "fixtures")

// recording is one answer and what is known to be inside it.
type recording struct {
	File    string
	Source  string
	URL     string
	Status  int
	Kind    string
	Items   *int
	First   any
	Last    any
	Next    any
	Deleted int
	Error   any
}

func (r recording) kind() string { return r.Source + "/" + r.Kind }

// recordedWalk is several answers to one question, in order.
type recordedWalk struct {
	ID     string
	Source string
	Items  int
	Unique *int
	Per    []int
	Next   any `json:"last_next"`
	Files  []string
}

// recordedReader says which shipped endpoint reads answers of a kind, and the least number of them that must be there.
type recordedReader struct {
	code, endpoint string
	least          int
	record         func(id string) string // our id as it was noted when the answer was recorded
	noted          func(id string) string // what was noted as our id
}

// readers is what the shipped sources read. Ids were noted as they stand in the answers; ours differ where a source
// puts two parts together, or leaves the version of a paper out.
var readers = map[string]recordedReader{
	"crossref/work-list":         {code: "crossref", endpoint: "works", least: 58},
	"europepmc/epmc search json": {code: "europepmc", endpoint: "search", least: 10, record: lastPart},
	"openalex/openalex list":     {code: "openalex", endpoint: "published", least: 22},
	"oai/OAI ListRecords":        {code: "oai", endpoint: "records", least: 26},
	"oai/OAI ListIdentifiers":    {code: "oai", endpoint: "records", least: 12},
	"zenodo/OAI ListRecords":     {code: "oai", endpoint: "records", least: 8},
	"zenodo/OAI ListIdentifiers": {code: "oai", endpoint: "records", least: 7},
	"arxiv/OAI ListRecords":      {code: "arxiv-oai", endpoint: "records", least: 4},
	"arxiv/atom feed":            {code: "arxiv", endpoint: "search", least: 10, noted: paper},
	"pubmed/esearch json":        {code: "pubmed", endpoint: "search", least: 4},
	"pubmed/PubmedArticleSet":    {code: "pubmed", endpoint: "fetch", least: 84},
	"datacite/json:api list":     {code: "datacite", endpoint: "dois", least: 37},
	"ctgov/ctgov list":           {code: "clinicaltrials", endpoint: "studies", least: 4},
	"biorxiv/biorxiv":            {code: "biorxiv", endpoint: "details", least: 4, record: withoutLastPart},
	"zenodo/zenodo search":       {code: "zenodo", endpoint: "records", least: 3},
	"plos/solr":                  {code: "plos", endpoint: "search", least: 55},
	"doaj/results list":          {code: "doaj", endpoint: "articles", least: 6},
	"semanticscholar/s2 list":    {code: "semanticscholar", endpoint: "papers", least: 29},
	"unpaywall/results list":     {code: "unpaywall", endpoint: "search", least: 3},
	"unpaywall/unpaywall record": {code: "unpaywall", endpoint: "work", least: 6},
}

// strangers is who is shown the other answers of a provider: errors, and answers of endpoints that no source asks. None
// of them may be taken for an empty list.
var strangers = map[string][2]string{
	"crossref": {"crossref", "works"}, "ctgov": {"clinicaltrials", "studies"}, "datacite": {"datacite", "dois"},
	"doaj": {"doaj", "articles"}, "europepmc": {"europepmc", "search"}, "openalex": {"openalex", "published"},
	"semanticscholar": {"semanticscholar", "papers"}, "unpaywall": {"unpaywall", "search"}, "oai": {"oai", "records"},
	"arxiv": {"arxiv-oai", "records"}, "zenodo": {"zenodo", "records"}, "zenodo.xml": {"oai", "records"},
	"plos": {"plos", "search"}, "pubmed": {"pubmed", "search"}, "pubmed.xml": {"pubmed", "fetch"}, "pubmed.html": {"pubmed", "fetch"},
}

const leastStrangers = 443

// emptyLists are lists of another kind in the envelope of a list of works, with nothing in them: no error, and no work
// either.
var emptyLists = []string{"datacite+lupo/query--not_found--000.json", "rcrossref/cr_licenses_fails_well--000.json", "rcrossref/cr_members_fails_well--000.json"}

// otherEndpoint are answers in the shape of a list that a source reads, but to another question. Their items are read,
// and the way on is not compared.
var otherEndpoint = []struct{ part, reason string }{
	{"/test_get_author_papers--", "the papers of an author are paged by offset, the bulk search by token"},
	{"/pmid20516115-citations.json", "citations are paged by offset"},
}

// quarantined is why items of recorded answers do not become records. Everything else does.
var quarantined = []struct {
	fits         func(r recording) bool
	code, reason string
	items        int // 0: all of the page
}{
	{in("plos", `[?&]fl=(DOES_NOT_EXIST|abstract|author|title|title%2Cauthor|title%2Cjournal|figure_table_caption|publication_date)(&|$)`), patra.CodeMissingID, "the question left the id out; ours asks for it", 0},
	{in("openalex", `[?&]select=ids&`), patra.CodeMissingID, "the question left the id out; ours asks for everything", 0},
	{named("/pmid20516115-citations.json"), patra.CodeMissingID, "another endpoint: a citation holds a paper inside", 0},
	{named("/pmid20516115-references.json"), patra.CodeMissingID, "another endpoint: a reference holds a paper inside", 0},
	{named("/pubs_biorxiv_2026-06-01_05_cursor0.json"), patra.CodeMissingID, "another endpoint: a publication of a preprint, not a preprint", 0},
	{named("sickle/ListRecords4.xml"), patra.CodeMissingID, "a deleted record whose header has no identifier", 1},
}

// filled are fields that the recorded answers of a source are known to have: a path that finds nothing is a mistake.
var filled = map[string]string{
	"crossref":        "abstract authors doi journal published publisher title type",
	"europepmc":       "doi pmcid pmid title",
	"openalex":        "authors doi journal keywords language pmid published publisher title type url",
	"oai":             "abstract authors doi keywords language published publisher sets title type url",
	"arxiv-oai":       "abstract arxiv authors doi journal keywords license published title",
	"arxiv":           "abstract arxiv authors journal keywords published title type url",
	"pubmed":          "abstract authors doi journal keywords language pmcid pmid published title type",
	"datacite":        "abstract authors doi keywords language published publisher title type url year",
	"clinicaltrials":  "abstract keywords nct publisher status title type url",
	"biorxiv":         "abstract authorsText doi keywords license published publisher title type version",
	"zenodo":          "abstract authors doi keywords license published title type url",
	"plos":            "abstract authors doi journal published title type",
	"doaj":            "abstract authors doi journal keywords language published publisher title url",
	"semanticscholar": "arxiv authors doi journal pmcid pmid published title type url",
	"unpaywall":       "authors doi journal openAccess published publisher title type url",
}

func lastPart(id string) string        { return id[strings.LastIndex(id, "/")+1:] }
func withoutLastPart(id string) string { return id[:strings.LastIndex(id, "/")] }

var paperVersion = regexp.MustCompile(`v[0-9]+$`)

func paper(id string) string {
	_, paper, _ := strings.Cut(id, "/abs/")
	return paperVersion.ReplaceAllString(paper, "")
}

func in(provider, question string) func(recording) bool {
	match := regexp.MustCompile(question)
	return func(r recording) bool { return r.Source == provider && match.MatchString(r.URL) }
}

func named(end string) func(recording) bool {
	return func(r recording) bool { return strings.HasSuffix(r.File, end) }
}

// TestShippedFilesLoad: every file that is shipped is in order, and every endpoint of it can be compiled.
func TestShippedFilesLoad(t *testing.T) {
	names, err := fs.Glob(sources.Files, "*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if len(names) < 17 {
		t.Errorf("only %d sources are shipped", len(names))
	}
	for _, name := range names {
		code := strings.TrimSuffix(name, ".yaml")
		for endpoint := range shippedFile(t, code).Endpoints {
			shippedProgram(t, code, endpoint)
		}
	}
}

func shippedFile(t testing.TB, code string) *source.File {
	t.Helper()
	f, err := source.Find(code, sources.Files)
	if err != nil {
		t.Fatalf("%s: %v", code, err)
	}
	return f
}

func shippedProgram(t testing.TB, code, endpoint string) *source.Program {
	t.Helper()
	options := source.Options{Endpoint: endpoint, Operation: patra.Harvest, Contact: "me@example.org"}
	if code == "oai" {
		options.Parameters = map[string]string{"baseUrl": "https://example.org/oai"}
	}
	spec, err := source.Compile(shippedFile(t, code), options)
	if err != nil {
		t.Fatalf("%s: %v", code, err)
	}
	p, err := spec.Compile()
	if err != nil {
		t.Fatalf("%s: %v", code, err)
	}
	return p
}

func recordedAnswers(t *testing.T) []recording {
	t.Helper()
	var all []recording
	recordedJSON(t, "INDEX.json", &all)
	for i := range all {
		if all[i].Status == 0 {
			all[i].Status = 200 // answers that were kept without their status were good ones
		}
	}
	return all
}

func recordedJSON(t *testing.T, name string, into any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(recordings, name))
	if err != nil {
		t.Skip("the folder of recorded answers is not beside the project")
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}

func recordedBody(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(recordings, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// notedText is a noted value as text. What was not there was noted as null or, in a few places, as "None".
func notedText(v any) string {
	if v == nil || v == "None" {
		return ""
	}
	return fmt.Sprint(v)
}

// refused reports whether an answer is an error of the provider.
func (r recording) refused() bool { return r.Status >= 400 || r.Error != nil }

// TestRecordedAnswers: every list that was recorded is read without loss, and says how to go on.
func TestRecordedAnswers(t *testing.T) {
	programs := map[recordedKey]*source.Program{}
	covered, items, fields := map[string]int{}, map[string]int{}, map[string]map[string]bool{}
	for _, r := range recordedAnswers(t) {
		with, ok := readers[r.kind()]
		if !ok {
			continue
		}
		covered[r.kind()]++
		p := cached(t, programs, with.code, with.endpoint)
		position, asked := askedPosition(p, r)
		page, err := p.Read(r.Status, recordedBody(t, r.File), position)
		if r.refused() { // documents beside an error are no answer to what was asked
			if err == nil || len(page.Items) > 0 {
				t.Errorf("%s: an error was read as %d items", r.File, len(page.Items))
			}
			continue
		}
		checkOnward(t, r, p, page, err, position, asked)
		items[r.kind()] += checkItems(t, r, p, page, with, fields)
	}
	for _, kind := range slices.Sorted(maps.Keys(readers)) {
		t.Logf("%-28s %3d answers, %5d items", kind, covered[kind], items[kind])
		if covered[kind] < readers[kind].least {
			t.Errorf("%s: %d answers were read; at least %d are known", kind, covered[kind], readers[kind].least)
		}
	}
	for code, names := range filled {
		for name := range strings.FieldsSeq(names) {
			if !fields[code][name] {
				t.Errorf("%s: no recorded item has the field %s", code, name)
			}
		}
	}
}

type recordedKey struct{ code, endpoint string }

func cached(t *testing.T, programs map[recordedKey]*source.Program, code, endpoint string) *source.Program {
	t.Helper()
	key := recordedKey{code, endpoint}
	if programs[key] == nil {
		programs[key] = shippedProgram(t, code, endpoint)
	}
	return programs[key]
}

// askedPosition is the position that a recorded request asked for, and whether it named one.
func askedPosition(p *source.Program, r recording) (string, bool) {
	u, err := url.Parse(r.URL)
	param := p.Spec.Pagination.PositionParam
	if err != nil || param == "" || !u.Query().Has(param) {
		return p.Spec.First(), false
	}
	return u.Query().Get(param), true
}

func checkOnward(t *testing.T, r recording, p *source.Program, page source.Page, err error, position string, asked bool) {
	t.Helper()
	for _, other := range otherEndpoint {
		if strings.Contains(r.File, other.part) {
			return
		}
	}
	next := notedText(r.Next)
	if p.Spec.Pagination.Type == "" {
		if err != nil || page.HasNext || page.End != patra.EndItemsDone {
			t.Errorf("%s: what was asked for by id goes on: %+v, %v", r.File, page, err)
		}
		return
	}
	switch p.Spec.Pagination.Type {
	case "OFFSET", "PAGE": // the provider says nothing; we count what arrived
		more := len(page.Items) > 0
		if p.Spec.Pagination.Next != "" { // whether there is more, the provider says
			more, next = next != "", ""
		}
		if next != "" || err != nil || page.HasNext != more {
			t.Errorf("%s: next %q, has next %v, %v", r.File, page.Next, page.HasNext, err)
		}
		if want := counted(p, position, len(page.Items)); page.HasNext && page.Next != want {
			t.Errorf("%s: goes on at %q, not %q", r.File, page.Next, want)
		}
		return
	}
	if p.Spec.Pagination.Initial == "*" && !asked && r.URL != "" && len(page.Items) > 0 && r.Source != "europepmc" {
		// Asked for without a cursor, as ours never is: there is no way on, and that is said and not taken for the end.
		if f := patra.AsFault(err); err == nil || f.Code != patra.CodeSchema || next != "" {
			t.Errorf("%s: %v", r.File, err)
		}
		return
	}
	// Long positions were noted without their end.
	if err != nil || page.HasNext != (next != "") || page.Next != next && !(len(next) >= 400 && strings.HasPrefix(page.Next, next)) {
		t.Errorf("%s: next %q, noted %q, %v", r.File, page.Next, next, err)
	}
	if !page.HasNext && page.End == "" {
		t.Errorf("%s: the walk stops and does not say how", r.File)
	}
}

func counted(p *source.Program, position string, items int) string {
	var at int
	if _, err := fmt.Sscan(position, &at); err != nil {
		return ""
	}
	if p.Spec.Pagination.Type == "PAGE" {
		return fmt.Sprint(at + 1)
	}
	return fmt.Sprint(at + items)
}

// checkItems reads all items of a page. Ids, deletions and quarantined items must be as noted.
func checkItems(t *testing.T, r recording, p *source.Program, page source.Page, with recordedReader, fields map[string]map[string]bool) int {
	t.Helper()
	if r.Items == nil || *r.Items != len(page.Items) {
		t.Errorf("%s: %d items, noted are %v", r.File, len(page.Items), r.Items)
	}
	ids := make([]string, len(page.Items))
	faults := map[string]int{}
	deleted := 0
	for i, raw := range page.Items {
		o, err := p.Item(raw, 0)
		if err != nil {
			faults[patra.AsFault(err).Code]++
			continue
		}
		if o.ID == "" || o.Hash == "" || !json.Valid(o.Fields) || !bytes.Equal(o.Raw, raw) {
			t.Errorf("%s: item %d is half a record: %.200s", r.File, i, o.Fields)
		}
		if o.Deleted {
			deleted++
		}
		ids[i] = o.ID
		note(t, fields, with.code, o.Fields)
	}
	checkQuarantine(t, r, faults, len(page.Items))
	if want := r.Deleted; deleted != want-min(want, faults[patra.CodeMissingID]) {
		t.Errorf("%s: %d deleted items, noted are %d", r.File, deleted, want)
	}
	if len(faults) == 0 && len(ids) > 0 {
		edges := map[string]any{ids[0]: r.First}
		if len(ids) > 1 || r.Last != nil { // of an answer that is one record the last was not noted
			edges[ids[len(ids)-1]] = r.Last
		}
		for id, v := range edges {
			want := notedText(v)
			if with.record != nil {
				id = with.record(id)
			}
			if with.noted != nil {
				want = with.noted(want)
			}
			if id != want {
				t.Errorf("%s: id %q, noted is %q", r.File, id, want)
			}
		}
	}
	return len(page.Items)
}

func note(t *testing.T, fields map[string]map[string]bool, code string, item json.RawMessage) {
	t.Helper()
	var values map[string]any
	if err := json.Unmarshal(item, &values); err != nil {
		t.Fatal(err)
	}
	if fields[code] == nil {
		fields[code] = map[string]bool{}
	}
	for name, v := range values {
		fields[code][name] = fields[code][name] || v != "" && v != nil
	}
}

func checkQuarantine(t *testing.T, r recording, faults map[string]int, items int) {
	t.Helper()
	want := map[string]int{}
	for _, q := range quarantined {
		if q.fits(r) && items > 0 {
			want[q.code] = items
			if q.items > 0 {
				want[q.code] = q.items
			}
		}
	}
	if !maps.Equal(faults, want) {
		t.Errorf("%s: quarantined %v, expected %v", r.File, faults, want)
	}
}

// TestRecordedErrors: whatever else a provider was seen to answer is not taken for an empty list. Only "nothing
// matches", where a source says so, is one.
func TestRecordedErrors(t *testing.T) {
	programs := map[recordedKey]*source.Program{}
	covered, empty := map[string]int{}, 0
	for _, r := range recordedAnswers(t) {
		if _, isList := readers[r.kind()]; isList && !r.refused() {
			continue
		}
		with, ok := strangers[r.Source+filepath.Ext(r.File)]
		if !ok {
			if with, ok = strangers[r.Source]; !ok {
				t.Errorf("%s: nobody reads it", r.File)
				continue
			}
		}
		if list, ok := readers[r.kind()]; ok {
			with = [2]string{list.code, list.endpoint}
		}
		covered[r.kind()]++
		page, err := cached(t, programs, with[0], with[1]).Read(r.Status, recordedBody(t, r.File), "a token")
		words := notedText(r.Error)
		f := &patra.Fault{}
		if err != nil {
			f = patra.AsFault(err)
		}
		switch {
		case strings.HasPrefix(words, "noRecordsMatch"):
			if empty++; err != nil || len(page.Items) > 0 || page.End != patra.EndEmptyCode || page.HasNext {
				t.Errorf("%s: nothing in a window: %+v, %v", r.File, page, err)
			}
		case err == nil && slices.ContainsFunc(emptyLists, func(end string) bool { return strings.HasSuffix(r.File, end) }):
			if len(page.Items) > 0 || page.HasNext {
				t.Errorf("%s: %+v", r.File, page)
			}
		case err == nil:
			t.Errorf("%s: status %d was read as %d items, end %q", r.File, r.Status, len(page.Items), page.End)
		case strings.HasPrefix(words, "badResumptionToken") && f.Code != patra.CodeTokenExpired:
			t.Errorf("%s: %v", r.File, err)
		case r.Status >= 500 && f.Level != patra.LevelRetry:
			t.Errorf("%s: a failure of theirs is not tried again: %v", r.File, err)
		case f.Level == patra.LevelData:
			t.Errorf("%s: the answer is not understood, and one item is blamed: %v", r.File, err)
		}
	}
	total := 0
	for _, kind := range slices.Sorted(maps.Keys(covered)) {
		t.Logf("%-28s %3d answers refused", kind, covered[kind])
		total += covered[kind]
	}
	t.Logf("%d answers, %d of them with nothing in a window", total, empty)
	if total < leastStrangers || empty < 8 {
		t.Errorf("%d answers that are no lists, %d with nothing in them: fewer than known", total, empty)
	}
}

// otherWalks are recorded walks that no shipped source makes.
var otherWalks = map[string]string{
	"S17": "sets, not records", "S55": "sets, not records",
	"S21": "papers of one author, by offset", "S32": "citations of one article, by page in the path",
}

// brokenEnd are walks whose last answer is not whole: it is refused, to be asked for again, and nothing ends there.
var brokenEnd = map[string]string{"S53": "an element of the last answer is not closed"}

// TestRecordedWalks follows answers in their order: all items arrive, and the walk ends with the last page and not before.
func TestRecordedWalks(t *testing.T) {
	var walks []recordedWalk
	recordedJSON(t, "SEQUENCES.json", &walks)
	kinds := map[string]recording{}
	for _, r := range recordedAnswers(t) {
		kinds[r.File] = r
	}
	done, pages := 0, 0
	for _, w := range walks {
		if _, other := otherWalks[w.ID]; other {
			continue
		}
		with, ok := readers[kinds[w.Files[0]].kind()]
		if !ok {
			t.Errorf("%s: no source reads %s", w.ID, w.Files[0])
			continue
		}
		done++
		pages += follow(t, w, kinds, shippedProgram(t, with.code, with.endpoint))
	}
	t.Logf("%d walks, %d pages", done, pages)
	if done < 22 || pages < 54 {
		t.Errorf("%d walks with %d pages: fewer than known", done, pages)
	}
}

func follow(t *testing.T, w recordedWalk, kinds map[string]recording, p *source.Program) (pages int) {
	t.Helper()
	position, items, ids := p.Spec.First(), 0, map[string]bool{}
	for i, name := range w.Files {
		page, err := p.Read(kinds[name].Status, recordedBody(t, name), position)
		last := i == len(w.Files)-1
		if _, broken := brokenEnd[w.ID]; broken && last {
			if f := patra.AsFault(err); err == nil || f.Level != patra.LevelRetry {
				t.Errorf("%s: %s: %v", w.ID, name, err)
			}
			break
		}
		if err != nil {
			t.Errorf("%s: %s: %v", w.ID, name, err)
			break
		}
		if want := !last || notedText(w.Next) != ""; page.HasNext != want || page.HasNext == (page.End != "") {
			t.Errorf("%s: page %d: has next %v, end %q", w.ID, i+1, page.HasNext, page.End)
		}
		if len(page.Items) != w.Per[i] {
			t.Errorf("%s: page %d has %d items, recorded are %d", w.ID, i+1, len(page.Items), w.Per[i])
		}
		for _, raw := range page.Items {
			o, err := p.Item(raw, 0)
			if err != nil {
				t.Errorf("%s: %s: %v", w.ID, name, err)
			}
			ids[o.ID] = true
		}
		items, position, pages = items+len(page.Items), page.Next, pages+1
	}
	if items != w.Items || w.Unique != nil && len(ids) != *w.Unique {
		t.Errorf("%s: %d items with %d ids, recorded are %d", w.ID, items, len(ids), w.Items)
	}
	return pages
}

// TestShippedErrorRules: what providers are known to do and the recordings do not show. The bodies are our own.
func TestShippedErrorRules(t *testing.T) {
	const feed = `<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><title>arXiv Query</title><entry><id>http://arxiv.org/api/errors#x</id><title>Error</title></entry></feed>`
	for _, c := range []struct {
		code, endpoint string
		status         int
		body           string
		level          patra.Level // empty: no fault, and nothing there
	}{
		{"europepmc", "search", 200, `{"errCode":404,"errMsg":"Invalid page size provided"}`, patra.LevelRequest},
		{"openalex", "published", 429, `{"error":"Plan upgrade required","message":"from_updated_date"}`, patra.LevelRequest},
		{"openalex", "changed", 429, `{"error":"Plan upgrade required","message":"from_updated_date"}`, patra.LevelRequest},
		{"openalex", "published", 429, `{"error":"Rate limit exceeded"}`, patra.LevelRetry},
		{"openalex", "published", 401, `{"error":"Invalid or missing API key"}`, patra.LevelFatal},
		{"biorxiv", "details", 200, `{"messages":[{"status":"no posts found"}],"collection":[]}`, ""},
		{"medrxiv", "details", 200, `{"messages":[{"status":"no posts found"}]}`, ""},
		{"biorxiv", "details", 200, `{"messages":[{"status":"error"}],"collection":[]}`, patra.LevelRetry},
		{"biorxiv", "details", 200, ``, patra.LevelRetry},
		{"pubmed", "search", 200, `{"esearchresult":{"ERROR":"Search Backend failed: timeout"}}`, patra.LevelRetry},
		{"pubmed", "search", 200, `{"esearchresult":{"ERROR":"Invalid db name specified"}}`, patra.LevelRequest},
		{"pubmed", "search", 200, `{"esearchresult":{"count":"9","idlist":["1"],"errorlist":{"phrasesnotfound":["xyz"],"fieldsnotfound":[]}}}`, patra.LevelRequest},
		{"pubmed", "search", 200, `{"esearchresult":{"count":"0","idlist":[],"errorlist":{"phrasesnotfound":[],"fieldsnotfound":[]}}}`, ""},
		{"pubmed", "search", 429, `{"error":"API rate limit exceeded"}`, patra.LevelRetry},
		{"pubmed", "fetch", 400, `<eFetchResult><ERROR>External viewer error: Empty Response. Status: Timeout</ERROR></eFetchResult>`, patra.LevelRetry},
		{"pubmed", "fetch", 400, `<eFetchResult><ERROR>ID list is empty</ERROR></eFetchResult>`, patra.LevelRequest},
		{"pubmed", "fetch", 200, `<PubmedArticleSet></PubmedArticleSet>`, ""},
		{"zenodo", "records", 400, `{"status":400,"message":"Maximum number of 10000 results have been reached."}`, patra.LevelRequest},
		{"doaj", "articles", 400, `{"status":"bad_request","error":"use OAI or the dump"}`, patra.LevelRequest},
		{"semanticscholar", "papers", 429, `{"message":"Too Many Requests","code":"429"}`, patra.LevelRetry},
		{"unpaywall", "search", 404, `{"HTTP_status_code":404,"error":true,"message":"no"}`, patra.LevelRequest},
		{"plos", "search", 200, `{"response":{"docs":[{"id":"1"}]},"error":{"msg":"undefined field","code":400}}`, patra.LevelRequest},
		{"datacite", "dois", 200, `{"errors":[{"status":"400","title":"bad"}]}`, patra.LevelRequest},
		{"clinicaltrials", "studies", 400, "the token is too old", patra.LevelRetry},
		{"oai", "records", 422, `<OAI-PMH><error code="noRecordsMatch"/></OAI-PMH>`, ""},
		{"oai", "records", 422, `<OAI-PMH><error code="badArgument">no</error></OAI-PMH>`, patra.LevelRequest},
		{"pmc-oai", "records", 200, `<OAI-PMH><error code="noRecordsMatch">none</error></OAI-PMH>`, ""},
		{"arxiv-oai", "records", 200, `<OAI-PMH><error code="badResumptionToken"/></OAI-PMH>`, patra.LevelRetry},
		{"arxiv-oai", "records", 200, `<OAI-PMH><request/></OAI-PMH>`, patra.LevelRetry},
		{"arxiv", "search", 429, `Rate exceeded.`, patra.LevelRetry},
		{"arxiv", "search", 200, feed, patra.LevelRequest},
	} {
		page, err := shippedProgram(t, c.code, c.endpoint).Read(c.status, []byte(c.body), "7")
		switch {
		case c.level == "" && (err != nil || len(page.Items) > 0 || page.HasNext):
			t.Errorf("%s: %.80s: %+v, %v", c.code, c.body, page, err)
		case c.level != "" && err == nil:
			t.Errorf("%s: %.80s was read as %d items", c.code, c.body, len(page.Items))
		case c.level != "" && patra.AsFault(err).Level != c.level:
			t.Errorf("%s: %.80s: %v, expected level %s", c.code, c.body, err, c.level)
		}
	}
}

// TestShippedRequests: the first request of every source that can be harvested by time, as it is sent.
func TestShippedRequests(t *testing.T) {
	window := patra.Window{From: patra.Date(2026, 5, 1), To: patra.Date(2026, 5, 2)}
	for _, c := range []struct{ code, endpoint, position, want string }{
		{"europepmc", "search", "*", "/search?cursorMark=*&email=me@example.org&format=json&pageSize=500&query=UPDATE_DATE:[2026-05-01 TO 2026-05-01]&resultType=core&synonym=false"},
		{"openalex", "published", "*", "/works?cursor=*&filter=from_publication_date:2026-05-01,to_publication_date:2026-05-01&per_page=100&sort=publication_date:asc"},
		{"openalex", "changed", "*", "/works?cursor=*&filter=from_updated_date:2026-05-01T00:00:00Z,to_updated_date:2026-05-02T00:00:00Z&per_page=100&sort=updated_date:asc"},
		{"pubmed", "search", "0", "/esearch.fcgi?datetype=edat&db=pubmed&email=me@example.org&maxdate=2026/05/01&mindate=2026/05/01&retmax=9998&retmode=json&retstart=0&term=all[sb]&tool=patra"},
		{"oai", "records", "", "?from=2026-05-01&metadataPrefix=oai_dc&until=2026-05-02&verb=ListRecords"},
		{"arxiv-oai", "records", "", "/oai?from=2026-05-01&metadataPrefix=arXiv&until=2026-05-01&verb=ListRecords"},
		{"arxiv-oai", "records", "x y", "/oai?resumptionToken=x y&verb=ListRecords"},
		{"pmc-oai", "records", "oai%3Ax", "/api/oai/v1/mh/?verb=ListRecords&resumptionToken=oai:x"},
		{"datacite", "dois", "", "/dois?affiliation=true&disable-facets=true&page[cursor]=1&page[size]=500&query=updated:[2026-05-01T00:00:00Z TO 2026-05-01T23:59:59Z]"},
		{"arxiv", "search", "0", "/api/query?max_results=500&search_query=lastUpdatedDate:[202605010000 TO 202605012359]&sortBy=lastUpdatedDate&sortOrder=ascending&start=0"},
		{"clinicaltrials", "studies", "", "/api/v2/studies?countTotal=true&filter.advanced=AREA[LastUpdatePostDate]RANGE[2026-05-01,2026-05-01]&format=json&pageSize=200&sort=LastUpdatePostDate:asc"},
		{"biorxiv", "details", "30", "/details/biorxiv/2026-05-01/2026-05-01/30/json"},
		{"medrxiv", "details", "0", "/details/medrxiv/2026-05-01/2026-05-01/0/json"},
		{"zenodo", "records", "", "/api/records?all_versions=true&q=updated:[2026-05-01T00:00:00Z TO 2026-05-02T00:00:00Z]&size=25&sort=oldest"},
		{"plos", "search", "500", "publication_date:[2026-05-01T00:00:00Z TO 2026-05-02T00:00:00Z}"},
		{"doaj", "articles", "", "/api/search/articles/last_updated:[2026-05-01T00:00:00Z TO 2026-05-01T23:59:59Z]?pageSize=100&sort=last_updated:asc"},
		{"semanticscholar", "papers", "", "publicationDateOrYear=2026-05-01:2026-05-01"},
	} {
		spec := shippedProgram(t, c.code, c.endpoint).Spec
		call, err := spec.Build(query.All(), window, c.position, "", source.Vars{Contact: "me@example.org", Version: "1"})
		if err != nil {
			t.Errorf("%s: %v", c.code, err)
			continue
		}
		sent, err := url.PathUnescape(strings.ReplaceAll(call.URL, "+", " "))
		if body, bodyErr := url.QueryUnescape(string(call.Body)); bodyErr == nil && body != "" {
			sent += "?" + body
		}
		if err != nil || !strings.Contains(sent, c.want) {
			t.Errorf("%s: %s\nexpected %s", c.code, sent, c.want)
		}
	}
}
