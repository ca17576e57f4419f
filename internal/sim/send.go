package sim

import (
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// send writes the answer, or as much of it as the fault allows.
func (a *answer) send(w http.ResponseWriter, r *http.Request) {
	switch a.fault {
	case faultReset:
		panic(http.ErrAbortHandler)
	case faultHang:
		wait(r, eternity)
		panic(http.ErrAbortHandler)
	}
	if a.fault == faultCutPlain && a.hangUp(w) {
		return
	}
	for name, values := range a.header {
		w.Header()[name] = values
	}
	if a.status == http.StatusNoContent || a.status == http.StatusNotModified { // which have no body, and no length of one
		w.Header().Del("Content-Length")
	}
	switch a.fault {
	case faultTrickle:
		w.Header().Del("Content-Length")
		w.WriteHeader(a.status)
		a.drip(w, r)
	case faultLongLength:
		w.Header().Set("Content-Length", strconv.Itoa(len(a.wire)+promise))
		w.WriteHeader(a.status)
		_, _ = w.Write(a.wire)
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
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

// What outlasts every patient client, what a length promises beyond what comes, and how long a drop takes.
const (
	eternity = time.Hour
	promise  = 64
	drop     = 100 * time.Millisecond
)

// drip sends byte after byte, slowly enough that no client wants the end of it.
func (a *answer) drip(w http.ResponseWriter, r *http.Request) {
	for i := 0; i < len(a.wire) && r.Context().Err() == nil; i++ {
		_, _ = w.Write(a.wire[i : i+1])
		_ = http.NewResponseController(w).Flush()
		wait(r, drop)
	}
	panic(http.ErrAbortHandler)
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
