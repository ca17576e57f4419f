package sim

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// answer is what a provider has decided to say, before it is known how much of it will arrive.
type answer struct {
	status int
	header http.Header
	body   []byte
	list   bool // a page of works
	items  int  // works in the body
	fault  fault

	dialect string // in which it says when to come back; empty where nobody was made to say it
	over    bool   // the request came above the limit
	reused  bool   // the connection had an answer before

	refused bool // the body says that the request was wrong, whatever the status says

	wire []byte // the body as it is sent: compressed, or the same

	release func() // gives the body's memory back once it has been sent; may be nil
}

// cut tells whether the client gets less than the whole.
func (a *answer) cut() bool {
	switch a.fault {
	case faultReset, faultCut, faultCutChunked, faultCutPlain, faultHalfGzip, faultShortLength, faultLongLength, faultBomb, faultTrickle, faultHang:
		return true
	}
	return false
}

// smallBody is too little to be worth compressing; a proxy would not.
const smallBody = 512

// compress prepares the body for a client, which may have asked for gzip.
func (a *answer) compress(r *http.Request) {
	a.wire = a.body
	if len(a.body) >= smallBody && acceptsGzip(r.Header.Get("Accept-Encoding")) {
		a.header.Set("Content-Encoding", "gzip")
		a.header.Set("Vary", "Accept-Encoding")
		a.wire = gzipped(a.body)
	}
	switch a.fault {
	case faultShortLength: // as plain text, whose end nothing gives away
		a.header.Del("Content-Encoding")
		a.wire = a.body[:len(a.body)/2]
	case faultLongLength:
		a.header.Del("Content-Encoding")
		a.wire = a.body
	case faultBomb:
		a.header.Set("Content-Encoding", "gzip")
		a.wire = bomb()
	}
	if a.fault == faultHalfGzip { // half of a small body is no better than half of a compressed one
		a.wire = a.wire[:len(a.wire)/2]
	}
	a.header.Set("Content-Length", strconv.Itoa(len(a.wire)))
}

// bomb is sixteen thousand bytes that become sixteen million.
var bomb = sync.OnceValue(func() []byte { return gzipped(make([]byte, 16<<20)) })

func acceptsGzip(header string) bool {
	for part := range strings.SplitSeq(header, ",") {
		name, weight, _ := strings.Cut(strings.TrimSpace(part), ";")
		if strings.EqualFold(strings.TrimSpace(name), "gzip") {
			q := strings.TrimPrefix(strings.ReplaceAll(weight, " ", ""), "q=")
			return strings.Trim(q, "0.") != "" || weight == ""
		}
	}
	return false
}

// Fast compression: the simulator shares its machine with the program it tests.
var gzipWriters = sync.Pool{New: func() any {
	w, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // fails only for a level that does not exist
	return w
}}

func gzipped(body []byte) []byte {
	var b bytes.Buffer
	b.Grow(len(body)/6 + 512)
	z := gzipWriters.Get().(*gzip.Writer)
	defer gzipWriters.Put(z)
	z.Reset(&b)
	_, _ = z.Write(body) // a bytes.Buffer never fails
	_ = z.Close()
	return b.Bytes()
}
