package sim

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// efetch gives whole papers, by id or from a search that was kept. Ids that nobody has are left out without a word.
func (p *pubmed) efetch(c *call) answer {
	if c.fate == faultTimeout {
		a := fetchFailed("Error occurred: External viewer error: Empty Response. URL=http://backend.sim.example/, Status: Timeout")
		a.fault = faultTimeout
		return a
	}
	if mode := c.form.Get("retmode"); mode != "xml" {
		return fetchFailed("Retmode '" + mode + "' is not supported for db=pubmed here; use xml")
	}
	if rettype := c.form.Get("rettype"); rettype != "" && rettype != "abstract" && rettype != "full" {
		return fetchFailed("Rettype '" + rettype + "' is not supported")
	}
	found, expired, err := p.chosen(c)
	if err != nil {
		a := fetchFailed(err.Error())
		if expired {
			a.fault = faultExpire
		}
		return a
	}
	if c.doubled(len(found), "") {
		found = append(found, found[0])
	}
	if i := slices.IndexFunc(found, func(f chosen) bool { return f.subject != nil && f.subject.sketch.version > 0 }); i >= 0 && c.fate == faultOld {
		c.did = faultOld
		found = append(found, chosen{found[i].id, &subject{world: c.world, sketch: found[i].subject.sketch.before()}})
	}
	x := &xmlText{}
	x.raw(`<?xml version="1.0" ?>` + "\n" + `<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle, 1st January 2025//EN" ` +
		`"https://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_250101.dtd">` + "\n")
	items := 0
	x.within("PubmedArticleSet", func() {
		for _, f := range found {
			if f.subject != nil {
				x.raw("\n")
				writePubMed(x, f.subject)
				items++
			}
		}
	})
	a := newAnswer(http.StatusOK, "text/xml; charset=UTF-8", x.b)
	a.list, a.items = true, items
	return a
}

func fetchFailed(message string) answer {
	x := &xmlText{}
	x.raw(`<?xml version="1.0" encoding="UTF-8" ?>` + "\n")
	x.within("eFetchResult", func() { x.leaf("ERROR", message) })
	return newAnswer(http.StatusBadRequest, "text/xml; charset=UTF-8", x.b)
}

// chosen is an id that was asked for and, if there is one, its paper.
type chosen struct {
	id      string
	subject *subject
}

// chosen reads which papers a fetch or a summary is about. It tells whether a history was forgotten on purpose.
func (p *pubmed) chosen(c *call) (list []chosen, expired bool, err error) {
	if err := p.checkNames(c, "id", "WebEnv", "query_key", "retstart", "retmax"); err != nil {
		return nil, false, err
	}
	if c.form.Has("id") {
		for id := range strings.SplitSeq(c.form.Get("id"), ",") {
			list = append(list, p.byID(c.world, strings.TrimSpace(id)))
		}
		return list, false, nil
	}
	key, err := strconv.Atoi(c.form.Get("query_key"))
	if err != nil {
		return nil, false, sentence("Neither query_key nor id specified")
	}
	env := c.form.Get("WebEnv")
	expired = c.fate == faultExpire && p.histories.drop(env)
	stored, err := p.histories.recall(env, key, c.now)
	if err != nil {
		return nil, expired, err
	}
	start, err := readCount(c, "retstart", 0)
	if err != nil {
		return nil, false, err
	}
	most, err := readCount(c, "retmax", 20)
	switch {
	case err != nil:
		return nil, false, err
	case start >= maxReach && stored.total > maxReach:
		return nil, false, sentence(tooDeep)
	}
	for _, s := range p.take(c.world, stored, start, min(most, 10_000)) {
		list = append(list, chosen{s.pmidText(), s})
	}
	return list, false, nil
}

func (p *pubmed) byID(w *World, id string) chosen {
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return chosen{id: id}
	}
	sk, ok := w.entered(n)
	if !ok {
		return chosen{id: id}
	}
	return chosen{id, &subject{world: w, sketch: sk}}
}
