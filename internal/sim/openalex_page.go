package sim

import (
	"encoding/base64"
	"fmt"
	"hash/fnv"
	"net/http"
)

// parted is a list in several parts, one after the other. The world is ordered by the time of indexing; a list by the
// day of another date is one part for each day.
type parted struct {
	walk
	parts int
	part  int // parts that are behind us
	open  func(part int) walk
}

func (k *parted) next() (sketch, bool) {
	for k.part < k.parts {
		if s, ok := k.walk.next(); ok {
			return s, true
		}
		if k.part++; k.part < k.parts {
			k.walk = k.open(k.part)
		}
	}
	return sketch{}, false
}

// enter goes to the beginning of a part.
func (k *parted) enter(part int) {
	if k.part = part; part < k.parts {
		k.walk = k.open(part)
	}
}

// list gives the works that are wanted in the order that was asked for.
func (q *alexQuery) list(w *World) *parted {
	k := &parted{parts: 1, open: func(int) walk { return walkOf(w, q.want, q.order) }}
	if q.byDay {
		days := q.published.and(span{w.first + byPublished.earliest, w.end - 1 + byPublished.latest})
		k.parts = max(int(days.last-days.first)+1, 0)
		k.open = func(part int) walk {
			d := days.first + day(q.order.place(part, k.parts))
			return walkOf(w, both{q.want, onDays(byPublished, span{d, d})}, q.order)
		}
	}
	k.enter(0)
	return k
}

// alexMark is a place in a list. It carries the number of works, so that only the first page has to count.
type alexMark struct {
	part, day, n, total int
	sum                 uint32 // ties it to its list
}

const alexMarkForm = `"[%d, %d, %d, %d, '%08x']"`

func (m alexMark) String() string {
	return base64.StdEncoding.EncodeToString(fmt.Appendf(nil, alexMarkForm, m.part, m.day, m.n, m.total, m.sum))
}

func parseAlexMark(text string) (alexMark, bool) {
	var m alexMark
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return m, false
	}
	_, err = fmt.Sscanf(string(b), alexMarkForm, &m.part, &m.day, &m.n, &m.total, &m.sum)
	return m, err == nil && m.part >= 0 && m.day >= 0 && m.n >= 0 && m.String() == text
}

func (q *alexQuery) sum() uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(q.filter + "\x00" + q.sort)) // never fails
	return h.Sum32()
}

// resume takes a list to the place of the request and gives the number of works in the whole of it.
func (q *alexQuery) resume(w *World, k *parted) (total int, bad *answer) {
	if q.byCursor && q.cursor != "*" {
		m, ok := parseAlexMark(q.cursor)
		if !ok || m.sum != q.sum() {
			return 0, alexInvalid("Cursor is invalid. Start with cursor=*.")
		}
		k.enter(m.part)
		k.resume(m.day, m.n)
		return m.total, nil
	}
	total = walkOf(w, q.want, ascending).total()
	for range (q.number - 1) * q.size {
		if _, ok := k.next(); !ok {
			break
		}
	}
	return total, nil
}

// page serves one page. After the last work comes a page without any, and only that one has no next cursor.
func (q *alexQuery) page(w *World) answer {
	k := q.list(w)
	total, bad := q.resume(w, k)
	if bad != nil {
		return *bad
	}
	var found []sketch
	for len(found) < q.size {
		s, ok := k.next()
		if !ok {
			break
		}
		found = append(found, s)
	}
	j := newAlexText()
	j.raw(`{"meta":{`)
	j.count("count", total)
	j.count("db_response_time_ms", 5+len(found)/10)
	q.writePlace(j, alexMark{k.part, k.day, k.n, total, q.sum()}, len(found))
	j.raw(`"groups_count":null,"cost_usd":0.0001}`)
	j.key("results")
	j.open('[')
	for _, s := range found {
		writeAlex(j, &subject{world: w, sketch: s})
	}
	j.close(']')
	j.raw(`"group_by":[]}`)
	a := newAnswer(http.StatusOK, "application/json", j.b)
	a.list, a.items = true, len(found)
	return a
}

func (q *alexQuery) writePlace(j *jsonText, next alexMark, items int) {
	if !q.byCursor {
		j.count("page", q.number)
		j.count("per_page", q.size)
		return
	}
	j.raw(`"page":null`)
	j.count("per_page", q.size)
	if items == 0 {
		j.raw(`"next_cursor":null`)
		return
	}
	j.pair("next_cursor", next.String())
}
