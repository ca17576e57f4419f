package api

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
)

// contentPolicy lets a page load what we serve, and nothing else.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// middleware is what every request meets first, whatever it is for.
func (s *Server) middleware(next http.Handler) http.Handler {
	cross := http.NewCrossOriginProtection()
	cross.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		problem(http.StatusForbidden, "a page of another place may not do this").write(w)
	}))
	// It works on a copy of the request: the server looks at the body of its own to know whether all of it was read.
	next = http.MaxBytesHandler(cross.Handler(next), mostBody)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", contentPolicy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=()")
		if s.Secure {
			h.Set("Strict-Transport-Security", "max-age=31536000")
		}
		if strings.HasPrefix(r.URL.Path, "/api/") {
			h.Set("Cache-Control", "private, no-cache")
		}
		defer s.recoverPanic(w, r)
		if !s.knownHost(r.Host) {
			problem(http.StatusForbidden, "nobody is asked under this name here; write it into api.hosts of patra.yaml if it is right").write(w)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// recoverPanic turns a defect of ours into an answer that does not tell about us.
func (s *Server) recoverPanic(w http.ResponseWriter, r *http.Request) {
	broken := recover()
	if broken == nil {
		return
	}
	if err, is := broken.(error); is && errors.Is(err, http.ErrAbortHandler) { // an answer that was cut off must not look like a whole one
		panic(broken)
	}
	p := problem(http.StatusInternalServerError, "something went wrong here")
	p.ID = rand.Text()
	s.log.Error("a request made the server stumble", "id", p.ID, "method", r.Method, "path", r.URL.Path, "reason", fmt.Sprint(broken), "stack", string(debug.Stack()))
	p.write(w)
}

// knownHost reports whether somebody who asks for this host means us. A page whose name was made to point at this machine
// does not.
func (s *Server) knownHost(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.ToLower(strings.Trim(name, "[]"))
	if slices.Contains([]string{"localhost", "127.0.0.1", "::1"}, name) {
		return true
	}
	return slices.ContainsFunc(s.Hosts, func(h string) bool { return strings.EqualFold(h, name) })
}

// write answers with a problem.
func (p *Problem) write(w http.ResponseWriter) {
	b, err := json.Marshal(p)
	if err != nil {
		b = []byte("{}")
	}
	h := w.Header()
	h.Set("Content-Type", p.ContentType(""))
	h.Set("Cache-Control", "no-store")
	for name, values := range p.GetHeaders() {
		h[name] = values
	}
	if p.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", `Bearer realm="patra"`)
	}
	w.WriteHeader(p.Status)
	_, _ = w.Write(b)
}
