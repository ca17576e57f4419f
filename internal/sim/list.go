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

// answer takes the next rows works from the walk and writes the page.
func (l list) answer(k *walk) answer {
	buffer := pages.Get().(*[]byte)
	j := jsonText{b: (*buffer)[:0]}
	j.raw(`{"status":"ok","message-type":"work-list","message-version":"1.0.0","message":{"facets":{}`)
	if l.cursor != "" {
		j.pair("next-cursor", l.cursor)
	}
	j.count("total-results", l.total)
	j.key("items")
	j.open('[')
	items := 0
	for items < l.rows {
		s, ok := k.next()
		if !ok {
			break
		}
		p := k.world.paper(s)
		writeWork(&j, &p)
		items++
	}
	j.close(']')
	l.writeEnd(&j)
	a := newAnswer(http.StatusOK, "application/json", j.b)
	a.list, a.items = true, items
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
