package sim

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
	"time"
)

var errToken = &oaiError{"badResumptionToken", "The token is unknown or has expired"}

// writeToken ends a page. A list of one page has no token, and the last of several has an empty one.
func (q *oaiRequest) writeToken(x *xmlText, verb string, l oaiList, before int) {
	whole := l.sent >= l.total
	if whole && before == 0 {
		return
	}
	size := q.call.wrongTotal("", l.total, stage{})
	if q.lies {
		size += size/17 + 1
	}
	element := "resumptionToken"
	expires := q.call.now.Add(q.ttl)
	if l.sent == before { // nobody may think that this is the token that was sent
		expires = expires.Add(time.Duration(1+q.call.number%1000) * time.Second)
	}
	if !whole {
		element += attribute("expirationDate", secondText(expires.UnixMilli()))
	}
	element += attribute("completeListSize", itoa(size)) + attribute("cursor", itoa(before))
	if whole {
		x.raw("<" + element + "/>")
		return
	}
	x.leaf(element, q.token(verb, l, expires.Unix()))
}

// token writes a list into a text that has a slash, a plus and an equals sign in it, which a client has to encode. It
// fits only the verb and the archive it was made for.
func (q *oaiRequest) token(verb string, l oaiList, expires int64) string {
	text := fmt.Sprintf("oai_dc/%d/%d/%s/%d/%d/%d/%d/%d", l.from, l.to, l.set, l.day, l.n, l.sent, l.total, expires)
	h := fnv.New64a()
	_, _ = fmt.Fprint(h, q.world.seed, verb, q.path, text) // never fails
	return text + "+" + strconv.FormatUint(h.Sum64(), 36) + "="
}

func (q *oaiRequest) readToken(verb, token string) (oaiList, *oaiError) {
	parts := strings.Split(token, "/")
	if len(parts) != 9 {
		return oaiList{}, errToken
	}
	last, _, _ := strings.Cut(parts[8], "+")
	var n [9]int64
	for i, p := range append(parts[:8:8], last) {
		if i == 0 || i == 3 {
			continue
		}
		var err error
		if n[i], err = strconv.ParseInt(p, 10, 64); err != nil {
			return oaiList{}, errToken
		}
	}
	l := oaiList{from: n[1], to: n[2], set: parts[3], day: int(n[4]), n: int(n[5]), sent: int(n[6]), total: int(n[7])}
	if q.token(verb, l, n[8]) != token || q.call.now.Unix() > n[8] {
		return oaiList{}, errToken
	}
	return l, nil
}
