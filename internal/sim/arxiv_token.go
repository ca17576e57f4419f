package sim

import (
	"fmt"
	"hash/fnv"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// expires is the next midnight, or sooner if tokens were told to live less long.
func (q *arxivRequest) expires() time.Time {
	now := q.call.now.UTC()
	midnight := now.Truncate(24 * time.Hour).Add(24 * time.Hour)
	if soon := now.Add(q.ttl); soon.Before(midnight) {
		return soon
	}
	return midnight
}

// token writes a list as a query string that has been encoded once already. A client may encode it again or send it as
// it is: both arrive. It fits only the verb that it was made for.
func (q *arxivRequest) token(verb string, l arxivList, expires int64) string {
	text := fmt.Sprintf("verb=%s&metadataPrefix=%s&from=%s&until=%s&set=%s&day=%d&n=%d&expires=%d",
		verb, arxivPrefix, l.from, l.until, url.QueryEscape(l.set), l.day, l.n, expires)
	h := fnv.New64a()
	_, _ = fmt.Fprint(h, q.world.seed, text) // never fails
	return url.QueryEscape(text + "&sum=" + strconv.FormatUint(h.Sum64(), 36))
}

func (q *arxivRequest) readToken(verb, token string) (arxivList, bool) {
	text := token
	if !strings.Contains(token, "=") {
		text, _ = url.QueryUnescape(token) // what cannot be read fails the comparison below
	}
	v, err := url.ParseQuery(text)
	if err != nil {
		return arxivList{}, false
	}
	l := arxivList{from: v.Get("from"), until: v.Get("until"), set: v.Get("set")}
	var err1, err2, err3 error
	l.day, err1 = strconv.Atoi(v.Get("day"))
	l.n, err2 = strconv.Atoi(v.Get("n"))
	expires, err3 := strconv.ParseInt(v.Get("expires"), 10, 64)
	ok := err1 == nil && err2 == nil && err3 == nil && q.call.now.Unix() <= expires
	return l, ok && url.QueryEscape(text) == q.token(verb, l, expires)
}
