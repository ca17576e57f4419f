package sim

import (
	"strconv"
	"strings"
	"time"
)

// writeWork writes a paper as an item of a work list. The score is the same in every answer, so that a work has one
// form only and an item can be compared with the truth byte by byte.
func writeWork(j *jsonText, p *Paper) {
	j.open('{')
	if p.poisoned {
		j.raw(badMoment)
	} else {
		j.moment("indexed", p.Indexed)
	}
	j.count("reference-count", p.Refs)
	j.raw(p.journal.head)
	writeIssue(j, p)
	j.pair("DOI", p.DOI)
	j.pair("type", p.Kind)
	j.moment("created", p.Created)
	j.raw(`"source":"Crossref"`)
	j.count("is-referenced-by-count", p.CitedBy)
	j.list("title", p.Title)
	writeAuthors(j, p.Authors)
	j.raw(p.journal.names)
	writeAbstract(j, p.Abstract)
	j.pair("language", p.Language)
	writeLinks(j, p)
	j.moment("deposited", p.Deposited)
	j.raw(`"score":1`)
	writeIssued(j, "issued", p.Issued)
	j.count("references-count", p.Refs)
	j.pair("URL", "https://doi.org/"+p.DOI)
	j.raw(p.journal.tail)
	writeIssued(j, "published", p.Issued)
	j.close('}')
}

// itemParts writes what all items of a journal share, in the three places where the provider has it.
func itemParts(of journal) (head, names, tail string) {
	var h, n, t jsonText
	h.pair("publisher", of.publisher)
	h.raw(`"content-domain":{"domain":[],"crossmark-restriction":false}`)
	n.pair("prefix", of.prefix)
	n.pair("member", of.member)
	n.list("container-title", of.title)
	t.list("ISSN", of.issn, of.eissn)
	writeISSNTypes(&t, of)
	t.list("subject", of.subjects...)
	return string(h.b), string(n.b), string(t.b)
}

func writeIssue(j *jsonText, p *Paper) {
	j.pair("volume", strconv.Itoa(p.Volume))
	j.pair("issue", strconv.Itoa(p.Issue))
	j.pair("page", strconv.Itoa(p.FirstPage)+"-"+strconv.Itoa(p.LastPage))
	if p.Licence == "" {
		return
	}
	j.key("license")
	j.open('[')
	j.open('{')
	j.moment("start", dayOfMS(p.Created).ms())
	j.pair("content-version", "vor")
	j.count("delay-in-days", 0)
	j.pair("URL", p.Licence)
	j.b = append(j.b, '}', ']')
}

func writeAuthors(j *jsonText, people []Author) {
	j.key("author")
	j.open('[')
	for i, a := range people {
		j.open('{')
		if a.ORCID != "" {
			j.pair("ORCID", "https://orcid.org/"+a.ORCID)
			j.raw(`"authenticated-orcid":false`)
		}
		j.pair("given", a.Given)
		j.pair("family", a.Family)
		if i == 0 {
			j.pair("sequence", "first")
		} else {
			j.pair("sequence", "additional")
		}
		writeAffiliations(j, a.Affiliations)
		j.close('}')
	}
	j.close(']')
}

func writeAffiliations(j *jsonText, names []string) {
	j.key("affiliation")
	j.open('[')
	for _, name := range names {
		j.open('{')
		j.pair("name", name)
		j.close('}')
	}
	j.close(']')
}

// writeAbstract wraps the text in the markup publishers send, where a less-than sign and an ampersand are entities.
func writeAbstract(j *jsonText, text string) {
	if text == "" {
		return
	}
	j.key("abstract")
	j.b = append(j.b, `"<jats:title>Abstract<\/jats:title><jats:p>`...)
	for i := strings.IndexAny(text, "<&"); i >= 0; i = strings.IndexAny(text, "<&") {
		j.more(text[:i])
		if text[i] == '<' {
			j.more("&lt;")
		} else {
			j.more("&amp;")
		}
		text = text[i+1:]
	}
	j.more(text)
	j.b = append(j.b, `<\/jats:p>"`...)
}

func writeLinks(j *jsonText, p *Paper) {
	target := "https://" + p.journal.short + ".example/article/" + strconv.FormatInt(p.Indexed, 36)
	if p.Licence != "" {
		j.key("link")
		j.open('[')
		j.open('{')
		j.pair("URL", target+".pdf")
		j.pair("content-type", "application/pdf")
		j.pair("content-version", "vor")
		j.pair("intended-application", "text-mining")
		j.b = append(j.b, '}', ']')
	}
	j.key("resource")
	j.open('{')
	j.key("primary")
	j.open('{')
	j.pair("URL", target)
	j.b = append(j.b, '}', '}')
}

func writeIssued(j *jsonText, key string, parts []int) {
	j.dateParts(key, parts...)
	j.close('}')
}

func writeISSNTypes(j *jsonText, of journal) {
	j.key("issn-type")
	j.open('[')
	for _, n := range []struct{ value, kind string }{{of.issn, "print"}, {of.eissn, "electronic"}} {
		j.open('{')
		j.pair("value", n.value)
		j.pair("type", n.kind)
		j.close('}')
	}
	j.close(']')
}

// Crossref is the world as Crossref serves it, by the date of indexing. Its only form is work.
func (s *Server) Crossref() *Provider {
	p := &Provider{
		world: s.world, grain: time.Second, by: byChanged, fields: map[string]*dateField{"indexed": byChanged},
		name:  func(s *subject, r *Record) { r.ID = s.paper().DOI },
		forms: map[string]func(*subject) []byte{"work": func(s *subject) []byte { return workOf(*s.paper()).JSON }},
	}
	return p.As("work")
}
