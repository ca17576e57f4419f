package sim

import (
	"strconv"
	"strings"
	"time"
)

// alexIDs is the number before that of the first work; there is room above the real ones.
const alexIDs = 9_000_000_000

// OpenAlex is the world as OpenAlex serves it. Fields: publication_date (it begins with that) and created_date, which
// are days, and updated_date, which has microseconds. The form is that of a list and of a single work.
func (s *Server) OpenAlex() *Provider {
	p := &Provider{
		world: s.world, grain: 24 * time.Hour, by: byPublished, micros: alexMicros,
		fields: map[string]*dateField{"publication_date": byPublished, "updated_date": byChanged, "created_date": byCreated},
		grains: map[string]time.Duration{"publication_date": 24 * time.Hour, "updated_date": time.Microsecond, "created_date": 24 * time.Hour},
		name:   func(s *subject, r *Record) { r.ID = alexID(s) },
		forms: map[string]func(*subject) []byte{"work": func(s *subject) []byte {
			j := newAlexText()
			writeAlex(j, s)
			return j.b
		}},
	}
	return p.As("work")
}

func newAlexText() *jsonText { return &jsonText{escape: plainEscapes, ascii: true} }

func alexID(s *subject) string {
	return "https://openalex.org/W" + strconv.FormatInt(alexIDs+s.pmid(), 10)
}

// alexMicros is what a time of change has below the millisecond. The first of a day begins it and the last ends it.
func alexMicros(s *subject) int64 {
	switch {
	case !s.sketch.edge:
		return int64(s.draw(0xa1e5) % 1000)
	case s.sketch.indexed%msPerDay == 0:
		return 0
	}
	return 999
}

// alexUpdated is when a work changed, in Unix microseconds.
func alexUpdated(s *subject) int64 { return byChanged.at(s)*1000 + alexMicros(s) }

var alexKinds = map[string]string{
	"journal-article": "article", "proceedings-article": "article", "book-chapter": "book-chapter",
	"posted-content": "preprint", "dataset": "dataset", "monograph": "book",
}

func writeAlex(j *jsonText, s *subject) {
	p, published := s.paper(), dateText(byPublished.at(s))
	j.open('{')
	j.pair("id", alexID(s))
	j.pair("doi", "https://doi.org/"+p.DOI)
	j.pair("title", p.Title)
	j.pair("display_name", p.Title)
	j.key("publication_year")
	j.raw(published[:4])
	j.pair("publication_date", published)
	writeAlexIDs(j, s)
	j.pair("language", p.Language)
	writeAlexLocation(j, s)
	j.pair("type", alexKinds[p.Kind])
	j.list("indexed_in", "crossref")
	writeAlexAuthors(j, p.Authors)
	j.raw(`"fwci":null`)
	j.count("cited_by_count", p.CitedBy)
	writeAlexBiblio(j, p)
	j.raw(`"is_retracted":false,"is_paratext":false`)
	writeAlexKeywords(j, p.journal.subjects)
	j.count("referenced_works_count", p.Refs)
	j.raw(`"referenced_works":[],"related_works":[]`)
	writeAlexAbstract(j, p.Abstract)
	j.raw(`"counts_by_year":[]`)
	j.pair("updated_date", time.UnixMicro(alexUpdated(s)).UTC().Format("2006-01-02T15:04:05.000000"))
	j.pair("created_date", dateText(byCreated.at(s))+"T00:00:00")
	j.close('}')
}

func writeAlexIDs(j *jsonText, s *subject) {
	j.key("ids")
	j.open('{')
	j.pair("openalex", alexID(s))
	j.pair("doi", "https://doi.org/"+s.paper().DOI)
	if europeSource(s) == "MED" {
		j.pair("pmid", "https://pubmed.ncbi.nlm.nih.gov/"+s.pmidText())
	}
	if id, ok := strings.CutPrefix(s.pmcid(), "PMC"); ok && europeSource(s) != "PPR" {
		j.pair("pmcid", "https://www.ncbi.nlm.nih.gov/pmc/articles/"+id)
	}
	j.close('}')
}

// writeAlexLocation leaves the source of some works unknown, as the provider does.
func writeAlexLocation(j *jsonText, s *subject) {
	p := s.paper()
	open := strconv.FormatBool(p.Licence != "")
	j.key("primary_location")
	j.open('{')
	j.pair("id", "doi:"+p.DOI)
	j.raw(`"is_oa":` + open)
	j.pair("landing_page_url", "https://doi.org/"+p.DOI)
	j.raw(`"pdf_url":null`)
	j.key("source")
	if s.percent(0x50e, 10) {
		j.raw("null")
	} else {
		j.open('{')
		j.pair("display_name", p.journal.title)
		j.pair("issn_l", p.journal.issn)
		j.list("issn", p.journal.issn, p.journal.eissn)
		j.raw(`"is_oa":` + open)
		j.pair("host_organization_name", p.journal.publisher)
		j.pair("type", "journal")
		j.close('}')
	}
	j.pair("raw_source_name", p.journal.title)
	j.close('}')
}

func writeAlexAuthors(j *jsonText, people []Author) {
	j.key("authorships")
	j.open('[')
	for i, a := range people {
		position := "middle"
		switch i {
		case 0:
			position = "first"
		case len(people) - 1:
			position = "last"
		}
		name := a.Given + " " + a.Family
		j.open('{')
		j.pair("author_position", position)
		j.key("author")
		j.open('{')
		j.pair("display_name", name)
		j.key("orcid")
		if a.ORCID == "" {
			j.raw("null")
		} else {
			j.text("https://orcid.org/" + a.ORCID)
		}
		j.close('}')
		j.raw(`"institutions":[],"countries":[],"is_corresponding":false`)
		j.pair("raw_author_name", name)
		j.list("raw_affiliation_strings", a.Affiliations...)
		j.close('}')
	}
	j.close(']')
}

func writeAlexBiblio(j *jsonText, p *Paper) {
	j.key("biblio")
	j.open('{')
	j.pair("volume", itoa(p.Volume))
	j.pair("issue", itoa(p.Issue))
	j.pair("first_page", itoa(p.FirstPage))
	j.pair("last_page", itoa(p.LastPage))
	j.close('}')
}

func writeAlexKeywords(j *jsonText, names []string) {
	j.key("keywords")
	j.open('[')
	for _, name := range names {
		j.open('{')
		j.pair("id", "https://openalex.org/keywords/"+strings.ReplaceAll(strings.ToLower(name), " ", "-"))
		j.pair("display_name", name)
		j.close('}')
	}
	j.close(']')
}

// writeAlexAbstract writes the words of a text in the order in which they first appear, each with all its places.
func writeAlexAbstract(j *jsonText, text string) {
	j.key("abstract_inverted_index")
	if text == "" {
		j.raw("null")
		return
	}
	var words []string
	places := map[string][]int{}
	for i, word := range strings.Fields(text) {
		if places[word] == nil {
			words = append(words, word)
		}
		places[word] = append(places[word], i)
	}
	j.open('{')
	for _, word := range words {
		j.text(word)
		j.b = append(j.b, ':')
		j.open('[')
		for _, i := range places[word] {
			j.number(int64(i))
		}
		j.close(']')
	}
	j.close('}')
}
