package sim

import (
	"strconv"
	"strings"
	"time"
)

// PubMed is the world as PubMed serves it. Fields: edat, mdat, crdt and pdat; forms: article (efetch), uid (an element
// of esearch's JSON list), summary and docsum (esummary in JSON and XML). It begins with edat and article.
func (s *Server) PubMed() *Provider {
	asXML := func(write func(*xmlText, *subject)) func(*subject) []byte {
		return func(s *subject) []byte {
			x := &xmlText{}
			write(x, s)
			return x.b
		}
	}
	p := &Provider{
		world: s.world, grain: 24 * time.Hour, by: byIndexed, fields: entrezDates,
		name: func(s *subject, r *Record) { r.ID = s.pmidText() },
		forms: map[string]func(*subject) []byte{
			"article": asXML(writePubMed),
			"docsum":  asXML(writeDocSum),
			"uid":     func(s *subject) []byte { return []byte(strconv.Quote(s.pmidText())) },
			"summary": func(s *subject) []byte {
				j := &jsonText{escape: plainEscapes}
				writeSummary(j, s)
				return j.b
			},
		},
	}
	return p.As("article")
}

type articleID struct{ kind, value string }

func articleIDs(s *subject) []articleID {
	list := []articleID{{"pubmed", s.pmidText()}, {"doi", s.paper().DOI}}
	if id := s.pmcid(); id != "" {
		list = append(list, articleID{"pmc", id})
	}
	return list
}

// writePubMed writes a paper: an article, or a book, which has elements of its own.
func writePubMed(x *xmlText, s *subject) {
	if s.sketch.kind == "monograph" {
		x.within("PubmedBookArticle", func() { writeBook(x, s) })
		return
	}
	x.within("PubmedArticle", func() {
		x.within(`MedlineCitation Status="MEDLINE" Owner="NLM"`, func() { writeCitation(x, s) })
		x.within("PubmedData", func() {
			writeHistory(x, s)
			x.leaf("PublicationStatus", "ppublish")
			writeArticleIDs(x, s)
		})
	})
}

func writeCitation(x *xmlText, s *subject) {
	p := s.paper()
	x.leaf(`PMID Version="1"`, s.pmidText())
	writeRevised(x, s)
	x.within(`Article PubModel="Print"`, func() {
		writeJournal(x, s)
		x.within("ArticleTitle", func() { x.mixed(p.Title + ".") })
		x.within("Pagination", func() { x.leaf("MedlinePgn", p.pages()) })
		x.leaf(`ELocationID EIdType="doi" ValidYN="Y"`, p.DOI)
		writeSections(x, s)
		writePubMedAuthors(x, p.Authors)
		x.leaf("Language", language3(p.Language))
		x.within("PublicationTypeList", func() { x.leaf(`PublicationType UI="D016428"`, "Journal Article") })
	})
	x.within("MedlineJournalInfo", func() {
		x.leaf("MedlineTA", p.journal.title)
		x.leaf("ISSNLinking", p.journal.issn)
	})
	x.within("MeshHeadingList", func() {
		for _, name := range s.headings() {
			x.within("MeshHeading", func() { x.leaf(`DescriptorName UI="D000000" MajorTopicYN="N"`, name) })
		}
	})
}

func writeJournal(x *xmlText, s *subject) {
	p := s.paper()
	x.within("Journal", func() {
		x.leaf(`ISSN IssnType="Print"`, p.journal.issn)
		x.within(`JournalIssue CitedMedium="Print"`, func() {
			x.leaf("Volume", itoa(p.Volume))
			x.leaf("Issue", itoa(p.Issue))
			writeDate(x, "PubDate", byPublished.at(s), "Jan", "02")
		})
		x.leaf("Title", p.journal.title)
		x.leaf("ISOAbbreviation", p.journal.title)
	})
}

// writeSections gives half of the abstracts the headings of a structured one.
func writeSections(x *xmlText, s *subject) {
	text := s.paper().Abstract
	if text == "" {
		return
	}
	x.within("Abstract", func() {
		if s.percent(0xab57, 50) {
			x.leaf("AbstractText", text)
			return
		}
		parts := strings.SplitAfterN(text, ". ", 3)
		for i, label := range []string{"BACKGROUND", "METHODS", "RESULTS"}[:len(parts)] {
			x.leaf("AbstractText"+attribute("Label", label)+attribute("NlmCategory", label), strings.TrimSpace(parts[i]))
		}
	})
}

func writePubMedAuthors(x *xmlText, people []Author) {
	x.within(`AuthorList CompleteYN="Y"`, func() {
		for _, a := range people {
			x.within(`Author ValidYN="Y"`, func() {
				x.leaf("LastName", a.Family)
				x.leaf("ForeName", a.Given)
				x.leaf("Initials", a.initials())
				if a.ORCID != "" {
					x.leaf(`Identifier Source="ORCID"`, a.ORCID)
				}
				for _, name := range a.Affiliations {
					x.within("AffiliationInfo", func() { x.leaf("Affiliation", name+".") })
				}
			})
		}
	})
}

// writeHistory writes numbers without leading zeros, unlike the dates elsewhere.
func writeHistory(x *xmlText, s *subject) {
	x.within("History", func() {
		for _, e := range []struct {
			status string
			by     *dateField
		}{{"entrez", byIndexed}, {"pubmed", byIndexed}, {"medline", byRevised}} {
			x.within("PubMedPubDate"+attribute("PubStatus", e.status), func() {
				at := time.UnixMilli(e.by.at(s)).UTC()
				x.leaf("Year", at.Format("2006"))
				x.leaf("Month", at.Format("1"))
				x.leaf("Day", at.Format("2"))
				x.leaf("Hour", itoa(at.Hour()))
				x.leaf("Minute", itoa(at.Minute()))
			})
		}
	})
}

func writeArticleIDs(x *xmlText, s *subject) {
	x.within("ArticleIdList", func() {
		for _, id := range articleIDs(s) {
			x.leaf("ArticleId"+attribute("IdType", id.kind), id.value)
		}
	})
}

func writeDate(x *xmlText, name string, ms int64, month, dayForm string) {
	at := time.UnixMilli(ms).UTC()
	x.within(name, func() {
		x.leaf("Year", at.Format("2006"))
		x.leaf("Month", at.Format(month))
		x.leaf("Day", at.Format(dayForm))
	})
}

// writeRevised writes the date by which a client tells versions apart.
func writeRevised(x *xmlText, s *subject) {
	if !s.poisoned() {
		writeDate(x, "DateRevised", byRevised.at(s), "01", "02")
		return
	}
	parts := strings.Split(badDate, "-")
	x.within("DateRevised", func() {
		for i, name := range []string{"Year", "Month", "Day"} {
			x.leaf(name, parts[i])
		}
	})
}

func writeBook(x *xmlText, s *subject) {
	p := s.paper()
	x.within("BookDocument", func() {
		x.leaf(`PMID Version="1"`, s.pmidText())
		writeArticleIDs(x, s)
		x.within("Book", func() {
			x.within("Publisher", func() { x.leaf("PublisherName", p.journal.publisher) })
			x.within("BookTitle", func() { x.mixed(p.Title) })
			writeDate(x, "PubDate", byPublished.at(s), "Jan", "02")
			writePubMedAuthors(x, p.Authors)
		})
		x.leaf("Language", language3(p.Language))
		writeSections(x, s)
		writeRevised(x, s)
	})
	x.within("PubmedBookData", func() {
		writeHistory(x, s)
		x.leaf("PublicationStatus", "ppublish")
		writeArticleIDs(x, s)
	})
}
