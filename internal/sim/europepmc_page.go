package sim

import (
	"encoding/base64"
	"encoding/binary"
	"hash/fnv"
	"net/url"
	"strings"
)

// page serves one page of a search.
func (q *europeQuery) page(now *World, c *call) answer {
	k := walkOf(now, q.want, q.order)
	total, err := q.resume(&k)
	if err != nil {
		return q.failed(err)
	}
	w, found := k.world, k.take(c.rows(q.size))
	t, finish := q.document("responseWrapper")
	t.text("version", "6.9")
	t.number("hitCount", c.wrongTotal("", total, stage{}))
	q.writeNext(t, c, mark{k.day, k.n, total, q.sum()}, len(found), total)
	if c.doubled(len(found), "") {
		found = append(found, found[0])
	}
	found = c.outdated(found)
	t.object("request", func() { q.writeEcho(t) })
	t.object("resultList", func() {
		t.list("result", len(found), func(i int) {
			europeForms[q.resultType](t, &subject{world: w, sketch: found[i]})
		})
	})
	a := finish()
	a.list, a.items = true, len(found)
	return a
}

// resume takes a walk to the place of the mark and gives the number of hits. The mark carries it, so that only the
// first page has to count.
func (q *europeQuery) resume(k *walk) (total int, err error) {
	if q.mark == "*" {
		return k.total(), nil
	}
	m, ok := parseMark(q.mark)
	if !ok || m.sum != q.sum() {
		return 0, sentence("Invalid cursorMark provided")
	}
	k.resume(m.day, m.n)
	return m.total, nil
}

// writeNext writes where to go on. A search without hits has no next mark; on the page after the last it is the one
// that was sent.
func (q *europeQuery) writeNext(t tree, c *call, m mark, items, total int) {
	switch {
	case total == 0:
	case items == 0:
		t.text("nextCursorMark", q.mark)
	default:
		t.text("nextCursorMark", m.String())
		t.text("nextPageUrl", q.nextURL(c, m.String()))
	}
}

// nextURL is an address with bare spaces in it, which is none until somebody mends it.
func (q *europeQuery) nextURL(c *call, mark string) string {
	format := "xml"
	if q.json {
		format = "json"
	}
	readable := strings.NewReplacer("+", " ", "%3A", ":", "%5B", "[", "%5D", "]", "%28", "(", "%29", ")", "%22", `"`, "%2C", ",")
	address := c.address(c.URL.Path) + "?query=" + readable.Replace(url.QueryEscape(q.text)) +
		"&cursorMark=" + url.QueryEscape(mark) + "&resultType=" + q.resultType + "&format=" + format
	if q.sort != "" {
		address += "&sort=" + readable.Replace(url.QueryEscape(q.sort))
	}
	return address + "&pageSize=" + itoa(q.size)
}

func (q *europeQuery) writeEcho(t tree) {
	t.text("queryString", q.text)
	t.text("resultType", q.resultType)
	t.text("cursorMark", q.mark)
	t.number("pageSize", q.size)
	t.text("sort", q.sort)
	if j, ok := t.(jsonTree); ok {
		j.j.key("synonym")
		j.j.raw(q.synonym)
		return
	}
	t.text("synonym", q.synonym)
}

// sum ties a mark to its search.
func (q *europeQuery) sum() uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(q.text + "\x00" + q.sort)) // never fails
	return h.Sum32()
}

// mark is a place in a search.
type mark struct {
	day, n, total int
	sum           uint32
}

// markHead makes a mark begin as the real ones do.
const markHead = "\x02\x82"

func (m mark) String() string {
	b := []byte(markHead)
	for _, n := range []uint32{m.sum, uint32(m.day), uint32(m.n), uint32(m.total)} {
		b = binary.LittleEndian.AppendUint32(b, n)
	}
	return base64.StdEncoding.EncodeToString(b)
}

func parseMark(text string) (m mark, ok bool) {
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(b) != len(markHead)+16 || string(b[:2]) != markHead {
		return mark{}, false
	}
	n := func(i int) uint32 { return binary.LittleEndian.Uint32(b[2+4*i:]) }
	return mark{int(n(1)), int(n(2)), int(n(3)), n(0)}, true
}
