package sim

import (
	"net/http"
	"time"
)

// esummary gives short descriptions. An id that nobody has is described by an error of its own.
func (p *pubmed) esummary(c *call) answer {
	found, expired, err := p.chosen(c)
	var a answer
	switch {
	case c.form.Get("retmode") == "json":
		a = summaryJSON(found, err)
	default:
		a = summaryXML(found, err)
	}
	if expired {
		a.fault = faultExpire
	}
	return a
}

func summaryJSON(list []chosen, err error) answer {
	j := &jsonText{escape: plainEscapes}
	j.raw(`{"header":{"type":"esummary","version":"0.3"}`)
	if err != nil {
		j.pair("error", err.Error())
		j.close('}')
		a := newAnswer(http.StatusOK, "application/json; charset=UTF-8", j.b)
		a.refused = true
		return a
	}
	ids, items := make([]string, len(list)), 0
	for i, c := range list {
		ids[i] = c.id
	}
	j.key("result")
	j.open('{')
	j.list("uids", ids...)
	for _, c := range list {
		j.key(c.id)
		if c.subject == nil {
			j.open('{')
			j.pair("uid", c.id)
			j.pair("error", "cannot get document summary")
			j.close('}')
			continue
		}
		writeSummary(j, c.subject)
		items++
	}
	j.b = append(j.b, '}', '}')
	a := newAnswer(http.StatusOK, "application/json; charset=UTF-8", j.b)
	a.list, a.items = true, items
	return a
}

func writeSummary(j *jsonText, s *subject) {
	p, at := s.paper(), time.UnixMilli(byPublished.at(s)).UTC()
	j.open('{')
	j.pair("uid", s.pmidText())
	j.pair("pubdate", at.Format("2006 Jan 2"))
	j.pair("epubdate", "")
	j.pair("source", p.journal.title)
	j.key("authors")
	j.open('[')
	for i := range p.Authors {
		j.open('{')
		j.pair("name", p.Authors[i].byline())
		j.pair("authtype", "Author")
		j.close('}')
	}
	j.close(']')
	j.pair("title", p.Title+".")
	j.pair("volume", itoa(p.Volume))
	j.pair("issue", itoa(p.Issue))
	j.pair("pages", p.pages())
	j.list("lang", language3(p.Language))
	j.key("articleids")
	j.open('[')
	for _, id := range articleIDs(s) {
		j.open('{')
		j.pair("idtype", id.kind)
		j.pair("value", id.value)
		j.close('}')
	}
	j.close(']')
	j.pair("fulljournalname", p.journal.title)
	j.pair("sortpubdate", at.Format("2006/01/02")+" 00:00")
	j.close('}')
}

func summaryXML(list []chosen, err error) answer {
	x := &xmlText{}
	x.raw(`<?xml version="1.0" encoding="UTF-8" ?>` + "\n" + `<!DOCTYPE eSummaryResult PUBLIC "-//NLM//DTD esummary v1 20041029//EN" ` +
		`"https://eutils.ncbi.nlm.nih.gov/eutils/dtd/20041029/esummary-v1.dtd">` + "\n")
	items := 0
	x.within("eSummaryResult", func() {
		if err != nil {
			x.leaf("ERROR", err.Error())
		}
		for _, c := range list {
			if c.subject == nil {
				x.leaf("ERROR", "UID="+c.id+": cannot get document summary")
				continue
			}
			writeDocSum(x, c.subject)
			items++
		}
	})
	a := newAnswer(http.StatusOK, "text/xml; charset=UTF-8", x.b)
	a.list, a.items, a.refused = err == nil, items, err != nil
	return a
}

func writeDocSum(x *xmlText, s *subject) {
	p := s.paper()
	x.within("DocSum", func() {
		x.leaf("Id", s.pmidText())
		x.leaf(`Item Name="PubDate" Type="Date"`, time.UnixMilli(byPublished.at(s)).UTC().Format("2006 Jan 2"))
		x.leaf(`Item Name="Source" Type="String"`, p.journal.title)
		x.within(`Item Name="AuthorList" Type="List"`, func() {
			for i := range p.Authors {
				x.leaf(`Item Name="Author" Type="String"`, p.Authors[i].byline())
			}
		})
		x.leaf(`Item Name="Title" Type="String"`, p.Title+".")
		x.leaf(`Item Name="DOI" Type="String"`, p.DOI)
	})
}
