package sim

import (
	"net/http"
	"sync"
)

// list is one page of works and what surrounds it.
type list struct {
	terms  string
	offset int
	rows   int
	total  int
	cursor string // empty when the request had none
}

// Pages are written into buffers that are used again: megabytes a page would keep the collector busy on a machine
// that is shared with the program under test.
var pages = sync.Pool{New: func() any { return new([]byte) }}

// answer takes the next rows works from the walk and writes the page. Its count is trusted, so that a wrong one, or a
// page that has nothing and should, is told about a question only once.
func (l list) answer(k *walk, from *call) answer {
	rows, question := from.rows(l.rows), "crossref "+from.form.Get("filter")
	var taken []sketch
	if left := k.left(); rows > 0 && (!left || !from.emptied(question)) {
		taken = k.take(rows)
	}
	if rows > 0 {
		cursor := from.form.Get("cursor")
		l.total = from.wrongTotal(question, l.total, stage{start: cursor == "*" || cursor == "" && l.offset == 0, end: len(taken) == 0})
	}
	if from.doubled(len(taken), "") {
		taken = append(taken, taken[0])
	}
	taken = from.outdated(taken)
	if from.unfollowed(l.cursor != "" && len(taken) == rows, question) {
		l.cursor = ""
	}
	buffer := pages.Get().(*[]byte)
	j := jsonText{b: (*buffer)[:0]}
	j.raw(`{"status":"ok","message-type":"work-list","message-version":"1.0.0","message":{"facets":{}`)
	if l.cursor != "" {
		j.pair("next-cursor", l.cursor)
	}
	j.count("total-results", l.total)
	j.key("items")
	j.open('[')
	for _, s := range taken {
		p := k.world.paper(s)
		writeWork(&j, &p)
	}
	j.close(']')
	l.writeEnd(&j)
	a := newAnswer(http.StatusOK, "application/json", j.b)
	a.list, a.items = true, len(taken)
	a.release = func() {
		*buffer = j.b
		pages.Put(buffer)
	}
	return a
}

func (l list) writeEnd(j *jsonText) {
	j.count("items-per-page", l.rows)
	j.key("query")
	j.open('{')
	j.count("start-index", l.offset)
	if l.terms == "" {
		j.raw(`"search-terms":null`)
	} else {
		j.pair("search-terms", l.terms)
	}
	j.b = append(j.b, "}}}"...)
}
