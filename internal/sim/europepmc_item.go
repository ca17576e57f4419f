package sim

import (
	"strconv"
	"strings"
	"time"
)

func itoa(n int) string { return strconv.Itoa(n) }

// europeForms are the result types.
var europeForms = map[string]func(tree, *subject){"idlist": writeEuropeID, "lite": writeLite, "core": writeCore}

// EuropePMC is the world as Europe PMC serves it. Fields: FIRST_IDATE, UPDATE_DATE, FIRST_PDATE and CREATION_DATE; forms:
// core, lite and idlist in JSON, and the same with -xml after the name. It begins with FIRST_IDATE and core.
func (s *Server) EuropePMC() *Provider {
	p := &Provider{
		world: s.world, grain: 24 * time.Hour, by: byIndexed, fields: europeDates,
		forms: map[string]func(*subject) []byte{},
		name:  func(s *subject, r *Record) { r.ID, r.Source = europeID(s), europeSource(s) },
	}
	for name, write := range europeForms {
		p.forms[name] = func(s *subject) []byte {
			j := &jsonText{b: []byte("{"), escape: plainEscapes}
			write(jsonTree{j}, s)
			return append(j.b, '}')
		}
		p.forms[name+"-xml"] = func(s *subject) []byte {
			x := &xmlText{}
			x.within("result", func() { write(xmlTree{x}, s) })
			return x.b
		}
	}
	return p.As("core")
}

// europeSource is where the service has a paper from: preprints are its own, some are known by their full text only,
// and the rest are PubMed's.
func europeSource(s *subject) string {
	switch {
	case s.sketch.kind == "posted-content":
		return "PPR"
	case s.paper().Licence != "" && s.percent(0x50c, 15):
		return "PMC"
	}
	return "MED"
}

func europeID(s *subject) string {
	switch europeSource(s) {
	case "PPR":
		return "PPR" + s.pmidText()
	case "PMC":
		return s.pmcid()
	}
	return s.pmidText()
}

func writeEuropeID(t tree, s *subject) {
	t.text("id", europeID(s))
	source := europeSource(s)
	t.text("source", source)
	if source == "MED" {
		t.text("pmid", s.pmidText())
	}
	if source != "PPR" && s.pmcid() != "" {
		t.text("pmcid", s.pmcid())
	}
	t.text("doi", s.paper().DOI)
}

func writeLite(t tree, s *subject) {
	p := s.paper()
	writeEuropeID(t, s)
	t.text("title", p.Title+".")
	t.text("authorString", authorString(p))
	t.text("journalTitle", p.journal.title)
	t.text("issue", itoa(p.Issue))
	t.text("journalVolume", itoa(p.Volume))
	t.text("pubYear", p.year())
	t.text("journalIssn", p.journal.issn+"; "+p.journal.eissn)
	t.text("pageInfo", p.pages())
	t.text("pubType", strings.ReplaceAll(p.Kind, "-", " "))
	writeFlags(t, s)
	t.text("firstIndexDate", dateText(byIndexed.at(s)))
	t.text("firstPublicationDate", dateText(byPublished.at(s)))
}

func writeCore(t tree, s *subject) {
	p := s.paper()
	writeEuropeID(t, s)
	t.text("title", p.Title+".")
	t.text("authorString", authorString(p))
	t.object("authorList", func() {
		t.list("author", len(p.Authors), func(i int) { writeEuropeAuthor(t, &p.Authors[i]) })
	})
	t.object("journalInfo", func() { writeJournalInfo(t, p) })
	t.text("pubYear", p.year())
	t.text("pageInfo", p.pages())
	if p.Abstract != "" {
		t.text("abstractText", p.Abstract)
	}
	t.text("language", language3(p.Language))
	t.object("pubTypeList", func() { t.texts("pubType", strings.ReplaceAll(p.Kind, "-", " "), "Journal Article") })
	t.object("meshHeadingList", func() {
		names := s.headings()
		t.list("meshHeading", len(names), func(i int) {
			t.text("majorTopic_YN", "N")
			t.text("descriptorName", names[i])
		})
	})
	writeFlags(t, s)
	t.text("dateOfCreation", dateText(byEntered.at(s)))
	t.text("firstIndexDate", dateText(byIndexed.at(s)))
	t.text("dateOfRevision", orBad(s, dateText(byRevised.at(s))))
	t.text("firstPublicationDate", dateText(byPublished.at(s)))
}

func writeEuropeAuthor(t tree, a *Author) {
	t.text("fullName", a.byline())
	t.text("firstName", a.Given)
	t.text("lastName", a.Family)
	t.text("initials", a.initials())
	if a.ORCID != "" {
		t.coded("authorId", "ORCID", a.ORCID)
	}
	if len(a.Affiliations) == 0 {
		return
	}
	t.object("authorAffiliationDetailsList", func() {
		t.list("authorAffiliation", len(a.Affiliations), func(i int) { t.text("affiliation", a.Affiliations[i]+".") })
	})
}

func writeJournalInfo(t tree, p *Paper) {
	t.text("issue", itoa(p.Issue))
	t.text("volume", itoa(p.Volume))
	t.number("yearOfPublication", p.Issued[0])
	t.object("journal", func() {
		t.text("title", p.journal.title)
		t.text("ISSN", p.journal.issn)
		t.text("ESSN", p.journal.eissn)
	})
}

func writeFlags(t tree, s *subject) {
	open := "N"
	if s.paper().Licence != "" {
		open = "Y"
	}
	t.text("isOpenAccess", open)
	t.text("inEPMC", open)
	t.text("inPMC", "N")
	t.text("hasPDF", open)
	t.text("hasBook", "N")
	t.number("citedByCount", s.paper().CitedBy)
	t.text("hasReferences", "Y")
}

func authorString(p *Paper) string {
	var b strings.Builder
	for i := range p.Authors {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(p.Authors[i].byline())
	}
	return b.String() + "."
}

// language3 is the code with three letters that biomedical indexes use.
func language3(code string) string {
	return map[string]string{"en": "eng", "de": "ger", "fr": "fre", "es": "spa", "pt": "por", "zh": "chi"}[code]
}
