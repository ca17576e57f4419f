package api

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
)

// mostTagged is how long an answer may be to get a tag: longer ones are streams or files.
const mostTagged = 1 << 20

// tagged gives answers to GET a tag by their content, and answers 304 to who has it already.
func tagged(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || !strings.HasPrefix(r.URL.Path, "/api/") {
			next.ServeHTTP(w, r)
			return
		}
		t := &etagWriter{ResponseWriter: w, want: r.Header.Get("If-None-Match")}
		next.ServeHTTP(t, r)
		t.finish()
	})
}

// etagWriter holds an answer back until its end, unless it is flushed or too long.
type etagWriter struct {
	http.ResponseWriter
	want   string
	status int
	body   bytes.Buffer
	passed bool // it is on its way
}

// WriteHeader notes the status.
func (t *etagWriter) WriteHeader(status int) {
	if t.passed {
		t.ResponseWriter.WriteHeader(status)
		return
	}
	t.status = status
}

// Write keeps what is written, as long as there is not too much.
func (t *etagWriter) Write(b []byte) (int, error) {
	if !t.passed && t.body.Len()+len(b) > mostTagged {
		if err := t.pass(); err != nil {
			return 0, err
		}
	}
	if t.passed {
		return t.ResponseWriter.Write(b)
	}
	return t.body.Write(b)
}

// Flush sends what there is: whoever flushes streams.
func (t *etagWriter) Flush() {
	if t.pass() == nil {
		if f, ok := t.ResponseWriter.(http.Flusher); ok {
			f.Flush()
		}
	}
}

// Unwrap is for http.ResponseController.
func (t *etagWriter) Unwrap() http.ResponseWriter { return t.ResponseWriter }

func (t *etagWriter) pass() error {
	if t.passed {
		return nil
	}
	t.passed = true
	if t.status != 0 {
		t.ResponseWriter.WriteHeader(t.status)
	}
	_, err := t.ResponseWriter.Write(t.body.Bytes())
	return err
}

func (t *etagWriter) finish() {
	if t.passed {
		return
	}
	if (t.status == 0 || t.status == http.StatusOK) && t.Header().Get("Cache-Control") != "no-store" {
		sum := sha256.Sum256(t.body.Bytes())
		tag := `"` + hex.EncodeToString(sum[:16]) + `"`
		t.Header().Set("ETag", tag)
		for _, w := range strings.Split(t.want, ",") {
			if w = strings.TrimPrefix(strings.TrimSpace(w), "W/"); w == tag || w == "*" {
				t.Header().Del("Content-Type")
				t.passed = true
				t.ResponseWriter.WriteHeader(http.StatusNotModified)
				return
			}
		}
	}
	_ = t.pass()
}
