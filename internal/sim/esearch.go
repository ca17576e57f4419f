package sim

import (
	"net/http"
	"strings"
)

// esearch is a search after validation and what it found.
type esearch struct {
	storedSearch
	json, count   bool
	start, most   int
	ids           []string
	env, key      string
	translation   string
	unknown, tags []string
}

// The database gives the first 9,999 papers of a search and no more.
const maxReach = 9999

const tooDeep = "Search Backend failed: Exception:\n'retstart' cannot be larger than 9998. For PubMed, ESearch can only " +
	"retrieve the first 9,999 records matching the query."

func (p *pubmed) esearch(c *call) answer {
	e := &esearch{json: c.form.Get("retmode") == "json", count: c.form.Get("rettype") == "count"}
	if err := e.read(p, c); err != nil {
		return e.failed(err)
	}
	k := walkOf(c.world, e.want, e.order)
	e.total = k.total()
	if e.start >= maxReach && e.total > maxReach {
		return e.failed(sentence(tooDeep))
	}
	if strings.EqualFold(c.form.Get("usehistory"), "y") {
		env, key, err := p.histories.store(c.form.Get("WebEnv"), e.storedSearch, c.now)
		if err != nil {
			return e.failed(err)
		}
		e.env, e.key = env, itoa(key)
	}
	for _, s := range p.take(c.world, e.storedSearch, e.start, c.rows(e.most)) {
		e.ids = append(e.ids, s.pmidText())
	}
	e.lie(c)
	return e.answer()
}

// lie tells what is not so, if that is the fate of the search. The count is trusted and an id too many pushes another out
// of the next page, so each question hears one lie at most.
func (e *esearch) lie(c *call) {
	if e.count || e.most == 0 {
		return
	}
	question := "pubmed " + e.translation
	switch {
	case len(e.ids) > 0 && c.emptied(question):
		e.ids = nil
	case c.doubled(len(e.ids), question):
		e.ids = append(e.ids, e.ids[0])
	}
	e.total = c.wrongTotal(question, e.total, stage{start: e.start == 0, end: len(e.ids) == 0})
}

// take gives a stretch of a search, cut at the reach of the database.
func (p *pubmed) take(w *World, s storedSearch, start, most int) []*subject {
	most = min(most, min(s.total, maxReach)-start)
	if most <= 0 {
		return nil
	}
	k := walkOf(w, s.want, s.order)
	k.skip(start)
	var list []*subject
	for _, sk := range k.take(most) {
		list = append(list, &subject{world: w, sketch: sk})
	}
	return list
}

func (e *esearch) read(p *pubmed, c *call) error {
	err := p.checkNames(c, "term", "datetype", "mindate", "maxdate", "retstart", "retmax", "usehistory", "WebEnv", "sort")
	if err != nil {
		return err
	}
	if rettype := c.form.Get("rettype"); rettype != "" && rettype != "count" && rettype != "uilist" {
		return sentence("Invalid rettype: " + rettype)
	}
	switch c.form.Get("sort") {
	case "", "most recent":
		e.order = descending
	case "relevance":
		e.order = unordered
	default:
		return sentence("Unknown sort schema '" + c.form.Get("sort") + "'")
	}
	if e.start, err = readCount(c, "retstart", 0); err != nil {
		return err
	}
	if e.most, err = readCount(c, "retmax", 20); err != nil {
		return err
	}
	return e.readTerm(p, c)
}

func (e *esearch) readTerm(p *pubmed, c *call) error {
	term := strings.TrimSpace(c.form.Get("term"))
	if term == "" {
		return sentence("Empty term and query_key - nothing todo")
	}
	parser := &entrez{world: c.world}
	want, err := parser.parse(term)
	if err != nil {
		return sentence("Search Backend failed: " + err.Error())
	}
	e.want, e.unknown, e.tags, e.translation = want, parser.unknown, parser.untagged, term
	return e.readDates(c)
}

// readDates narrows the search to a window, of which all three parameters are needed.
func (e *esearch) readDates(c *call) error {
	from, to, kind := c.form.Get("mindate"), c.form.Get("maxdate"), c.form.Get("datetype")
	if from == "" && to == "" {
		return nil
	}
	by := entrezDates[strings.ToLower(kind)]
	if by == nil || from == "" || to == "" {
		return sentence("mindate, maxdate and a known datetype are needed together")
	}
	window, err := entrezDays(by, from, to)
	if err != nil {
		return sentence("Invalid date: " + err.Error())
	}
	tag := "[" + strings.ToUpper(kind) + "]"
	e.want = both{e.want, window}
	e.translation = "(" + e.translation + ") AND " + from + tag + " : " + to + tag
	return nil
}

// failed says what is wrong, in a 200.
func (e *esearch) failed(err error) answer {
	a := e.document(func(j *jsonText) { j.pair("ERROR", err.Error()) }, func(x *xmlText) { x.leaf("ERROR", err.Error()) })
	a.refused = true
	return a
}

func (e *esearch) answer() answer {
	a := e.document(e.writeJSON, e.writeXML)
	a.list, a.items = true, len(e.ids)
	return a
}

func (e *esearch) document(asJSON func(*jsonText), asXML func(*xmlText)) answer {
	if e.json {
		j := &jsonText{escape: plainEscapes}
		j.raw(`{"header":{"type":"esearch","version":"0.3"},"esearchresult":{`)
		asJSON(j)
		j.b = append(j.b, "}}\n"...)
		return newAnswer(http.StatusOK, "application/json; charset=UTF-8", j.b)
	}
	x := &xmlText{}
	x.raw(`<?xml version="1.0" encoding="UTF-8" ?>` + "\n" + `<!DOCTYPE eSearchResult PUBLIC "-//NLM//DTD esearch 20060628//EN" ` +
		`"https://eutils.ncbi.nlm.nih.gov/eutils/dtd/20060628/esearch.dtd">` + "\n")
	x.within("eSearchResult", func() { asXML(x) })
	return newAnswer(http.StatusOK, "text/xml; charset=UTF-8", x.b)
}

func (e *esearch) empty() bool { return len(e.ids) == 0 && e.most > 0 }

// writeJSON gives numbers as text, as the provider does.
func (e *esearch) writeJSON(j *jsonText) {
	j.pair("count", itoa(e.total))
	if e.count {
		return
	}
	j.pair("retmax", itoa(len(e.ids)))
	j.pair("retstart", itoa(e.start))
	if e.env != "" {
		j.pair("querykey", e.key)
		j.pair("webenv", e.env)
	}
	j.list("idlist", e.ids...)
	j.key("translationset")
	j.raw("[]")
	j.pair("querytranslation", e.translation)
	if len(e.unknown)+len(e.tags) > 0 {
		j.key("errorlist")
		j.open('{')
		j.list("phrasesnotfound", e.unknown...)
		j.list("fieldsnotfound", e.tags...)
		j.close('}')
	}
	if e.empty() {
		j.key("warninglist")
		j.raw(`{"phrasesignored":[],"quotedphrasesnotfound":[],"outputmessages":["No items found."]}`)
	}
}

func (e *esearch) writeXML(x *xmlText) {
	x.leaf("Count", itoa(e.total))
	if e.count {
		return
	}
	x.leaf("RetMax", itoa(len(e.ids)))
	x.leaf("RetStart", itoa(e.start))
	if e.env != "" {
		x.leaf("QueryKey", e.key)
		x.leaf("WebEnv", e.env)
	}
	x.within("IdList", func() {
		for _, id := range e.ids {
			x.leaf("Id", id)
		}
	})
	x.raw("<TranslationSet/>")
	x.leaf("QueryTranslation", e.translation)
	if len(e.unknown)+len(e.tags) > 0 {
		x.within("ErrorList", func() {
			for _, phrase := range e.unknown {
				x.leaf("PhraseNotFound", phrase)
			}
			for _, tag := range e.tags {
				x.leaf("FieldNotFound", tag)
			}
		})
	}
	if e.empty() {
		x.within("WarningList", func() { x.leaf("OutputMessage", "No items found.") })
	}
}
