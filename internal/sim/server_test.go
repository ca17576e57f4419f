package sim

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"
	"sync"
	"testing"
)

func send(h http.Handler, method, target string, header map[string]string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, nil)
	for name, value := range header {
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestEveryWorkIsFoundByItsID(t *testing.T) {
	c := small(10)
	c.PerDay = 60
	s := New(c)
	odd := map[string]bool{"(": false, ";": false, "<": false, "#": false, "?": false}
	for _, want := range truth(s, 10) {
		for mark := range odd {
			odd[mark] = odd[mark] || strings.Contains(want.ID, mark)
		}
		for _, doi := range []string{want.ID, strings.ToUpper(want.ID)} {
			w := do(s.Handler(), "/works/"+url.PathEscape(doi))
			var body struct {
				Kind    string          `json:"message-type"`
				Message json.RawMessage `json:"message"`
			}
			if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil || w.Code != http.StatusOK {
				t.Fatalf("%s: %d %v", doi, w.Code, err)
			}
			if body.Kind != "work" || string(body.Message) != string(want.JSON) {
				t.Fatalf("%s: %s\nwant %s", doi, w.Body, want.JSON)
			}
		}
	}
	for mark, seen := range odd {
		if !seen {
			t.Errorf("no id contains %s", mark)
		}
	}
}

func TestAnIDWithABareSlashIsFound(t *testing.T) {
	s := New(small(1))
	doi := strings.ReplaceAll(url.PathEscape(truth(s, 1)[3].ID), "%2F", "/")
	if w := do(s.Handler(), "/works/"+doi); w.Code != http.StatusOK {
		t.Errorf("%s: %d", doi, w.Code)
	}
}

func TestUnknownIDsAndRoutes(t *testing.T) {
	s := New(small(1))
	known := truth(s, 1)[0].ID
	c := small(1)
	c.Seed++
	for _, path := range []string{
		"/works/10.5555%2Fnothing", "/works/x", "/works/" + url.PathEscape(known+"0"), "/works/" + url.PathEscape("9"+known),
		"/works/" + url.PathEscape(truth(New(c), 1)[0].ID), "/journals", "/works/10.5555%2Fzzzzzzzzzzzz",
	} {
		w := do(s.Handler(), path)
		if w.Code != http.StatusNotFound || w.Body.String() != "Resource not found." || w.Header().Get("Content-Type") != "text/plain" {
			t.Errorf("%s: %d %s %v", path, w.Code, w.Body, w.Header())
		}
	}
}

func TestHeaders(t *testing.T) {
	c := small(2)
	c.Rate, c.Burst = 3, 100
	s := New(c)
	for _, path := range []string{"/works?rows=1", "/works?rows=x", "/works/none", "/works/" + url.PathEscape(truth(s, 2)[0].ID)} {
		h := do(s.Handler(), path).Header()
		want := map[string]string{"X-Rate-Limit-Limit": "3", "X-Rate-Limit-Interval": "1s", "X-Concurrency-Limit": "1",
			"X-Api-Pool": "public", "Date": "Mon, 04 May 2026 12:00:00 GMT"}
		for name, value := range want {
			if h.Get(name) != value {
				t.Errorf("%s: %s is %q, want %q", path, name, h.Get(name), value)
			}
		}
	}
	if h := do(s.Handler(), "/works?rows=1").Header(); h.Get("Content-Type") != "application/json" {
		t.Errorf("%v", h)
	}
	for _, polite := range []*httptest.ResponseRecorder{
		do(s.Handler(), "/works?rows=1&mailto=a@example.org"),
		send(s.Handler(), http.MethodGet, "/works?rows=1", map[string]string{"User-Agent": "patra/1 (mailto:a@example.org)"}),
	} {
		if polite.Header().Get("X-Api-Pool") != "polite" {
			t.Errorf("%v", polite.Header())
		}
	}
}

func TestASlowProviderStatesALongerInterval(t *testing.T) {
	c := small(2)
	c.Rate = 0.3
	if h := do(New(c).Handler(), "/works").Header(); h.Get("X-Rate-Limit-Limit") != "1" || h.Get("X-Rate-Limit-Interval") != "4s" {
		t.Errorf("%v", h)
	}
}

func TestGzipIsForThoseWhoAsk(t *testing.T) {
	s := New(small(2))
	plain := do(s.Handler(), "/works").Body.String()
	for header, packed := range map[string]bool{"gzip": true, "br, GZIP;q=0.5": true, "": false, "gzip;q=0": false, "gzip; q=0.0": false, "br": false} {
		w := send(s.Handler(), http.MethodGet, "/works", map[string]string{"Accept-Encoding": header})
		if got := w.Header().Get("Content-Encoding") == "gzip"; got != packed {
			t.Errorf("%q: compressed %v", header, got)
			continue
		}
		body := w.Body.String()
		if packed {
			body = unzip(t, w.Body)
		}
		if body != plain {
			t.Errorf("%q: the body differs", header)
		}
	}
}

func unzip(t *testing.T, r io.Reader) string {
	t.Helper()
	z, err := gzip.NewReader(r)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func TestTheFrontPageExplains(t *testing.T) {
	s := New(small(2))
	w := do(s.Handler(), "http://sim.test/")
	_, rest, found := strings.Cut(w.Body.String(), "http://sim.test")
	if !found || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain") {
		t.Fatalf("%v %s", w.Header(), w.Body)
	}
	example, _, _ := strings.Cut(rest, "\n")
	if p := decodePage(t, do(s.Handler(), example)); p.Message.Total != 10 || p.next() == "" {
		t.Errorf("the example answers %+v", p.Message)
	}
}

func TestStatsAreServed(t *testing.T) {
	s := New(small(2))
	get(t, s.Handler(), "rows", "3")
	do(s.Handler(), "/works?rows=x")
	do(s.Handler(), "/works/none")
	do(s.Handler(), "/works/"+url.PathEscape(truth(s, 2)[0].ID))
	var st Stats
	if err := json.Unmarshal(do(s.Handler(), "/_sim/stats").Body.Bytes(), &st); err != nil {
		t.Fatal(err)
	}
	if want := (Stats{Requests: 4, Pages: 1, Items: 3, Works: 1, BadRequests: 1, NotFound: 1}); !reflect.DeepEqual(st, want) || !reflect.DeepEqual(st, s.Stats()) {
		t.Errorf("%+v, want %+v", st, want)
	}
}

// lines is a writer that insists on whole lines.
type lines struct {
	mu      sync.Mutex
	entries []Entry
	bad     int
}

func (l *lines) Write(b []byte) (int, error) {
	var e Entry
	l.mu.Lock()
	defer l.mu.Unlock()
	if json.Unmarshal(b, &e) != nil || bytes.Count(b, []byte("\n")) != 1 {
		l.bad++
	}
	l.entries = append(l.entries, e)
	return len(b), nil
}

func TestTheLogSaysWhatWasSent(t *testing.T) {
	c, log := small(2), &lines{}
	c.Log = log
	s := New(c)
	w := send(s.Handler(), http.MethodGet, "/works?rows=3", map[string]string{"X-Ingest-Correlation-Id": "r-1", "Accept-Encoding": "gzip"})
	sent := w.Body.Len()
	body := unzip(t, w.Body)
	sum := sha256.Sum256([]byte(body))
	want := Entry{ReceivedUS: c.Now().UnixMicro(), AnsweredUS: c.Now().UnixMicro(), Remote: "192.0.2.1:1234", Method: "GET", Path: "/works", Query: "rows=3",
		Correlation: "r-1", Status: 200, Items: 3, Bytes: len(body), SentBytes: sent, SHA256: hex.EncodeToString(sum[:])}
	if len(log.entries) != 1 || log.entries[0] != want {
		t.Errorf("got %+v\nwant %+v", log.entries, want)
	}
}

func TestTheLogTellsCutFromWhole(t *testing.T) {
	c, log := small(2), &lines{}
	c.Log, c.Faults = log, Faults{CutBody: 1}
	s := New(c)
	if _, arrived := tryDo(s.Handler(), "/works"); arrived {
		t.Fatal("the body was not cut")
	}
	s.faults.Store(&Faults{Reset: 1})
	if _, arrived := tryDo(s.Handler(), "/works"); arrived {
		t.Fatal("there was an answer")
	}
	cut, reset := log.entries[0], log.entries[1]
	if !cut.Cut || cut.Status != 200 || cut.SentBytes != cut.Bytes/2 || cut.Fault != "cut-body" {
		t.Errorf("%+v", cut)
	}
	if !reset.Cut || reset.Status != 0 || reset.SentBytes != 0 || reset.SHA256 != cut.SHA256 {
		t.Errorf("%+v", reset)
	}
}

func TestTheLogIsSafeForManyClients(t *testing.T) {
	c, log := small(2), &lines{}
	c.Log = log
	h := New(c).Handler()
	var wait sync.WaitGroup
	for range 50 {
		wait.Go(func() { do(h, "/works?rows=2") })
	}
	wait.Wait()
	if len(log.entries) != 50 || log.bad != 0 {
		t.Errorf("%d lines, %d of them broken", len(log.entries), log.bad)
	}
}
