package sim

import (
	"fmt"
	"net/http"
	"time"
)

// send writes the answer, or as much of it as the fault allows.
func (a *answer) send(w http.ResponseWriter, r *http.Request) {
	if a.fault == faultReset {
		panic(http.ErrAbortHandler)
	}
	if a.fault == faultCutPlain && a.hangUp(w) {
		return
	}
	for name, values := range a.header {
		w.Header()[name] = values
	}
	switch a.fault {
	case faultCutChunked, faultCutPlain: // without a length the body goes out in chunks
		w.Header().Del("Content-Length")
		a.sendHalf(w)
	case faultCut:
		a.sendHalf(w)
	case faultSlow:
		w.WriteHeader(a.status)
		a.trickle(w, r)
	default:
		w.WriteHeader(a.status)
		_, _ = w.Write(a.wire) // an error means that the client has gone: nobody is left to tell
	}
	if a.release != nil {
		a.release()
	}
}

// sendHalf breaks the connection after half of the body.
func (a *answer) sendHalf(w http.ResponseWriter) {
	w.WriteHeader(a.status)
	_, _ = w.Write(a.wire[:len(a.wire)/2])
	_ = http.NewResponseController(w).Flush() // half a page has to arrive before the connection breaks
	panic(http.ErrAbortHandler)
}

// A slow body takes a tenth of a second: long enough to be overtaken, short enough for a test.
const (
	pieces = 10
	pause  = 10 * time.Millisecond
)

func (a *answer) trickle(w http.ResponseWriter, r *http.Request) {
	size := len(a.wire)/pieces + 1
	for at := 0; at < len(a.wire); at += size {
		_, _ = w.Write(a.wire[at:min(at+size, len(a.wire))])
		_ = http.NewResponseController(w).Flush()
		wait(r, pause)
	}
}

// hangUp sends half of the body in the oldest way, where the end of the connection is the end of the body, so that
// nothing below the body tells a client that something is missing. False if the connection cannot be had.
func (a *answer) hangUp(w http.ResponseWriter) bool {
	conn, out, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return false
	}
	defer conn.Close()
	a.header.Del("Content-Length")
	a.header.Set("Connection", "close")
	_, _ = fmt.Fprintf(out, "HTTP/1.1 %d %s\r\n", a.status, http.StatusText(a.status))
	_ = a.header.Write(out)
	_, _ = out.WriteString("\r\n")
	_, _ = out.Write(a.wire[:len(a.wire)/2])
	_ = out.Flush()
	return true
}
