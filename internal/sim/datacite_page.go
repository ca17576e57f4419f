package sim

import "net/http"

// page serves one page. By cursor, only a page that is not full is known to be the last.
func (q *dataciteQuery) page(w *World, c *call) answer {
	k := walkOf(w, q.want, q.order)
	total := k.total()
	q.resume(&k)
	j := &jsonText{escape: htmlEscapes}
	j.raw(`{"data":[`)
	items := 0
	for items < q.size && (q.byCursor || (q.number-1)*q.size+items < dataciteReach) {
		s, ok := k.next()
		if !ok {
			break
		}
		writeDatacite(j, &subject{world: w, sketch: s})
		items++
	}
	j.close(']')
	pages := q.pages(total)
	j.key("meta")
	j.open('{')
	j.count("total", total)
	j.count("totalPages", pages)
	if !q.byCursor {
		j.count("page", q.number)
	}
	j.close('}')
	j.key("links")
	j.open('{')
	j.pair("self", c.address(c.URL.RequestURI()))
	if q.size > 0 && items == q.size && (q.byCursor || q.number < pages) {
		j.pair("next", q.next(c, &k))
	}
	j.b = append(j.b, '}', '}')
	a := newAnswer(http.StatusOK, "application/json; charset=utf-8", j.b)
	a.list, a.items = true, items
	return a
}

// pages that can be had; by number not more than the search engine reaches.
func (q *dataciteQuery) pages(total int) int {
	if q.size == 0 {
		return 0
	}
	if !q.byCursor {
		total = min(total, dataciteReach)
	}
	return (total + q.size - 1) / q.size
}
