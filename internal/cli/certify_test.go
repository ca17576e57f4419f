package cli

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"patra"
	"patra/internal/sim"
	"patra/sources"
)

// certifyWorld is a simulator, a folder with a store of its own and source files without their politeness.
type certifyWorld struct {
	*testing.T
	server *httptest.Server
	sent   atomic.Int64
	filter bool // the filter is heeded
}

func newCertifyWorld(t *testing.T, own ...string) *certifyWorld {
	t.Helper()
	w := &certifyWorld{T: t, filter: true}
	provider := sim.New(sim.Config{Seed: 9, From: time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC), To: time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC), PerDay: 60, Exact: true}).Handler()
	w.server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.sent.Add(1)
		if q := r.URL.Query(); !w.filter && q.Has("filter") {
			q.Set("filter", "from-index-date:2026-04-03,until-index-date:2026-04-04")
			r.URL.RawQuery = q.Encode()
		}
		provider.ServeHTTP(rw, r)
	}))
	t.Cleanup(w.server.Close)
	t.Chdir(t.TempDir())
	text, err := sources.Files.ReadFile("crossref.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, code := range append([]string{"crossref"}, own...) {
		lines := strings.Split(strings.Replace(string(text), "code: crossref", "code: "+code, 1), "\n")
		for i, line := range lines {
			if strings.HasPrefix(line, "  rate:") {
				lines[i] = "  rate: {perSecond: 100000, burst: 1000}"
			}
		}
		if err := os.WriteFile(code+".yaml", []byte(strings.Join(lines, "\n")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

func (w *certifyWorld) says(args ...string) (int, string) {
	w.Helper()
	var out bytes.Buffer
	code := run(w.Context(), args, []string{"PATRA_SOURCES_DIR=.", "PATRA_CONTACT=you@example.org"}, &out, &out)
	return code, out.String()
}

func (w *certifyWorld) certificates(code string) (list certificateList) {
	w.Helper()
	if exit, text := w.says("source", "certificate", code, "--limit", "100", "-o", "json"); exit != 0 || json.Unmarshal([]byte(text), &list) != nil {
		w.Fatal(exit, text)
	}
	return list
}

func (w *certifyWorld) harvest(code string, more ...string) (int, string) {
	w.Helper()
	return w.says(append([]string{"harvest", code, "--base-url", w.server.URL, "--from", "2026-05-01", "--to", "2026-05-03"}, more...)...)
}

// TestASourceIsCertified: without --live nothing is sent; with it the claims of a file of one's own are believed from then on.
func TestASourceIsCertified(t *testing.T) {
	w := newCertifyWorld(t, "own")
	certify := []string{"source", "certify", "own", "--base-url", w.server.URL, "--from", "2026-05-01"}
	code, said := w.says(certify...)
	if code != 0 || w.sent.Load() != 0 || !strings.Contains(said, "At most 25 requests") || !strings.Contains(said, "from-index-date%3A2026-05-01") || !strings.Contains(said, "If certified: ATOMIC where one answer holds a window, else SNAPSHOT") {
		t.Errorf("%d after %d requests: %s", code, w.sent.Load(), said)
	}
	if code, said := w.harvest("own"); code != 4 || len(w.certificates("own").Certificates) > 0 {
		t.Errorf("exit code %d of what is not believed: %s", code, said)
	}
	w.sent.Store(0)
	code, said = w.says(append(certify, "--live")...)
	if code != 0 || w.sent.Load() > 25 || !strings.Contains(said, "# own/works: CERTIFIED") || !strings.Contains(said, "else SNAPSHOT: the provider freezes the list (certified)") {
		t.Errorf("%d after %d requests: %s", code, w.sent.Load(), said)
	}
	list := w.certificates("own")
	if len(list.Certificates) != 1 || list.Certificates[0].Requests != int(w.sent.Load()) || list.Endpoints[0].Then.Witness != patra.WitnessSnapshot {
		t.Errorf("%+v", list)
	}
	if code, said := w.says("audit", "list", "--action", "CERTIFY"); code != 0 || !strings.Contains(said, "source:own") {
		t.Errorf("%d: %s", code, said)
	}
	if code, said := w.harvest("own", "--force"); code != 0 {
		t.Errorf("exit code %d of what is certified: %s", code, said)
	}
	// Other claims are not certified by it.
	text, err := os.ReadFile("own.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("own.yaml", []byte(strings.Replace(string(text), "safetyLag: PT30M", "safetyLag: PT30M\n      minStep: P1D", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, said := w.harvest("own", "--force"); code != 0 {
		t.Errorf("exit code %d where no claim has changed: %s", code, said)
	}
	if err := os.WriteFile("own.yaml", []byte(strings.Replace(string(text), "end: [EMPTY_PAGE]", "end: [EMPTY_PAGE, NO_TOKEN]", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, said := w.harvest("own", "--force"); code != 4 {
		t.Errorf("exit code %d where a claim has changed: %s", code, said)
	}
}

// TestAShippedSourceIsExaminedInShort: before its first harvest, once, and never under --no-probe; a file of one's own is not.
func TestAShippedSourceIsExaminedInShort(t *testing.T) {
	w := newCertifyWorld(t)
	if code, said := w.harvest("crossref", "--no-probe"); code != 0 || len(w.certificates("crossref").Certificates) != 0 {
		t.Errorf("%d: %s", code, said)
	}
	for range 2 {
		if code, said := w.harvest("crossref", "--force"); code != 0 {
			t.Errorf("%d: %s", code, said)
		}
		list := w.certificates("crossref").Certificates
		if len(list) != 1 || list[0].Form != patra.CertificateShort || list[0].Verdict != patra.CertificateUndecided || list[0].Requests > 6 {
			t.Errorf("%+v", list)
		}
	}
}

// TestAContradictionIsSaidLoudly: with the line of the file, and the harvest goes on; nothing is sealed by the claims of the file.
func TestAContradictionIsSaidLoudly(t *testing.T) {
	w := newCertifyWorld(t)
	w.filter = false
	for range 2 { // it is said each time
		code, said := w.harvest("crossref", "--force")
		if code != 4 || !strings.Contains(said, "crossref.yaml:") || !strings.Contains(said, "endpoints.works.window.field") || !strings.Contains(said, "Harvested") {
			t.Errorf("exit code %d: %s", code, said)
		}
	}
	list := w.certificates("crossref").Certificates
	if len(list) != 1 || list[0].Verdict != patra.BasisContradicted || list[0].Contradictions()[0].Line == 0 {
		t.Fatalf("%+v", list)
	}
	code, said := w.says("source", "certify", "crossref", "--base-url", w.server.URL, "--from", "2026-05-01", "--live")
	if code != 2 || !strings.Contains(said, "crossref.yaml:") {
		t.Errorf("exit code %d: %s", code, said)
	}
	// The provider is mended, and asked again.
	w.filter = true
	if code, said := w.says("source", "certify", "crossref", "--base-url", w.server.URL, "--from", "2026-05-01", "--live"); code != 0 {
		t.Errorf("exit code %d: %s", code, said)
	}
	if code, said := w.harvest("crossref", "--force"); code != 0 || strings.Contains(said, patra.CodeContradicted) {
		t.Errorf("exit code %d: %s", code, said)
	}
}

// TestATokenThatHidesAnIndex: the short form reads it, and windows of this repository are proved by two scans from then on.
func TestATokenThatHidesAnIndex(t *testing.T) {
	r := newOAIServer()
	w := atOAIServer(t, r)
	code, said := w.harvest()
	if got := w.records(); code != 0 || len(got) != len(r.stamps) {
		t.Errorf("exit code %d, %d of %d records: %s", code, len(got), len(r.stamps), said)
	}
	var list certificateList
	if code, text := w.says("source", "certificate", "oai", "-o", "json"); code != 0 || json.Unmarshal([]byte(text), &list) != nil || len(list.Certificates) != 1 {
		t.Fatal(code, text)
	}
	c := list.Certificates[0]
	if c.Found.Stability != "SHIFTING" || c.Witness.Witness != patra.WitnessMetAgain || c.Before.Witness == patra.WitnessMetAgain || c.Form != patra.CertificateShort {
		t.Errorf("%s", c.Markdown())
	}
	if _, shown := w.says("coverage", "show", "oai"); !strings.Contains(shown, "MET_AGAIN") {
		t.Errorf("%s", shown)
	}
}
