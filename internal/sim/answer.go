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

	refused bool // the body says that the request was wrong, whatever the status says

	wire []byte // the body as it is sent: compressed, or the same

	release func() // gives the body's memory back once it has been sent; may be nil
}

// cut tells whether the client gets less than the whole.
func (a *answer) cut() bool { return a.fault == faultReset || a.fault == faultCut }

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
	a.header.Set("Content-Length", strconv.Itoa(len(a.wire)))
}

// send writes the answer, or as much of it as the fault allows, and then breaks the connection.
func (a *answer) send(w http.ResponseWriter) {
	if a.fault == faultReset {
		panic(http.ErrAbortHandler)
	}
	for name, values := range a.header {
		w.Header()[name] = values
	}
	w.WriteHeader(a.status)
	if a.fault != faultCut {
		_, _ = w.Write(a.wire) // an error means that the client has gone: nobody is left to tell
		if a.release != nil {
			a.release()
		}
		return
	}
	_, _ = w.Write(a.wire[:len(a.wire)/2])
	_ = http.NewResponseController(w).Flush() // half a page has to arrive before the connection breaks
	panic(http.ErrAbortHandler)
}

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
