package cli

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// repository is a small OAI-PMH repository: it answers at one path only, and lists the records of 2026-05-01.
type repository struct {
	url    string
	path   string
	label  string // stands in the title of each record
	down   atomic.Bool
	asked  atomic.Int64
	locals []string // the local ids
}

func newRepository(t *testing.T, path, label string, locals ...string) *repository {
	r := &repository{path: path, label: label, locals: locals}
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	r.url = server.URL + path
	return r
}

// ServeHTTP implements http.Handler.
func (r *repository) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	r.asked.Add(1)
	switch {
	case r.down.Load():
		http.Error(w, "closed today", http.StatusServiceUnavailable)
		return
	case q.URL.Path != r.path:
		http.NotFound(w, q)
		return
	}
	w.Header().Set("Content-Type", "text/xml")
	fmt.Fprint(w, `<?xml version="1.0"?><OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/">`)
	from, until := q.URL.Query().Get("from"), q.URL.Query().Get("until")
	if from > "2026-05-01" || until != "" && until < "2026-05-01" {
		fmt.Fprint(w, `<error code="noRecordsMatch">nothing</error></OAI-PMH>`)
		return
	}
	fmt.Fprint(w, `<ListRecords>`)
	for _, id := range r.locals {
		fmt.Fprintf(w, `<record><header><identifier>%s</identifier><datestamp>2026-05-01</datestamp></header><metadata>
<oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>%s at %s</dc:title></oai_dc:dc></metadata></record>`, id, id, r.label)
	}
	fmt.Fprint(w, `</ListRecords></OAI-PMH>`)
}

// asks runs a command and gives its exit code and all that it said.
func (s session) asks(environ []string, args ...string) (code int, said string) {
	s.t.Helper()
	var out, errs bytes.Buffer
	code = run(s.t.Context(), append(args, "--store", s.url), environ, &out, &errs)
	return code, out.String() + errs.String()
}

// theDay is the window of the records of a repository.
var theDay = []string{"--from", "2026-05-01", "--to", "2026-05-02", "--contact", "me@example.org", "--no-probe"}

// A base address is asked exactly as it was given: some repositories answer only with the last slash, others only without it.
func TestABaseAddressKeepsItsLastSlash(t *testing.T) {
	for _, path := range []string{"/oai/", "/oai"} {
		for _, other := range []bool{false, true} {
			r := newRepository(t, path, "here", "1", "2")
			s, address := session{t, "sqlite:" + filepath.Join(t.TempDir(), "patra.db")}, r.url
			want := 0
			if other { // the other spelling is not ours to mend
				want, address = 4, strings.TrimSuffix(address, "/")
				if path == "/oai" {
					address += "/"
				}
			}
			code, said := s.asks(nil, append([]string{"harvest", "oai", "--param", "baseUrl=https://archive.example/oai", "--base-url", address}, theDay...)...)
			if code != want {
				t.Errorf("%s asked at %s ends with %d:\n%s", path, address, code, said)
			}
		}
	}
}
