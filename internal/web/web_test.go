package web

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
)

// ask sends one request to h.
func ask(t *testing.T, h http.Handler, method, target string) (*http.Response, string) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(method, target, nil))
	body, err := io.ReadAll(w.Result().Body)
	if err != nil {
		t.Fatal(err)
	}
	return w.Result(), string(body)
}

var built = fstest.MapFS{
	"index.html":           {Data: []byte("<!doctype html><title>app</title>")},
	"theme.js":             {Data: []byte("theme()")},
	"assets/main-1a2b.js":  {Data: []byte("main()")},
	"assets/main-1a2b.css": {Data: []byte("body{}")},
}

func TestTheAppIsServed(t *testing.T) {
	for _, c := range []struct {
		name, method, path string
		status             int
		body, kind, cache  string
	}{
		{"the app", "GET", "/", 200, "<title>app</title>", "text/html; charset=utf-8", "no-cache"},
		{"the app by its file's name", "GET", "/index.html", 200, "<title>app</title>", "text/html; charset=utf-8", "no-cache"},
		{"a place within the app", "GET", "/plans/3", 200, "<title>app</title>", "text/html; charset=utf-8", "no-cache"},
		{"a record's place, with dots", "GET", "/records/crossref/work/10.1000%2Fx.1", 200, "<title>app</title>", "text/html; charset=utf-8", "no-cache"},
		{"a script never changes", "GET", "/assets/main-1a2b.js", 200, "main()", "text/javascript; charset=utf-8", "public, max-age=31536000, immutable"},
		{"a style never changes", "GET", "/assets/main-1a2b.css", 200, "body{}", "text/css; charset=utf-8", "public, max-age=31536000, immutable"},
		{"a file without a hash may change", "GET", "/theme.js", 200, "theme()", "text/javascript; charset=utf-8", "no-cache"},
		{"a script of another version", "GET", "/assets/main-0000.js", 404, "another version", "text/plain; charset=utf-8", "no-cache"},
		{"a folder is not listed", "GET", "/assets/", 200, "<title>app</title>", "text/html; charset=utf-8", "no-cache"},
		{"nothing outside the app", "GET", "/../../web.go", 200, "<title>app</title>", "text/html; charset=utf-8", "no-cache"},
		{"it is only read", "POST", "/plans", 405, "only read", "text/plain; charset=utf-8", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			resp, body := ask(t, handler(built), c.method, c.path)
			if resp.StatusCode != c.status || !strings.Contains(body, c.body) {
				t.Errorf("answered %d %q, want %d with %q", resp.StatusCode, body, c.status, c.body)
			}
			if got := resp.Header.Get("Content-Type"); got != c.kind {
				t.Errorf("Content-Type is %q, want %q", got, c.kind)
			}
			if got := resp.Header.Get("Cache-Control"); got != c.cache {
				t.Errorf("Cache-Control is %q, want %q", got, c.cache)
			}
		})
	}
}

func TestABinaryWithoutNodeSaysSo(t *testing.T) {
	resp, body := ask(t, handler(fstest.MapFS{}), "GET", "/plans/3")
	if resp.StatusCode != 200 || !strings.Contains(body, "make web") {
		t.Errorf("answered %d %q, want a page that says make web", resp.StatusCode, body)
	}
}

// TestHandlerWorksEitherWay runs on what is embedded, built or not: whoever has Node and whoever has not must both get a page.
func TestHandlerWorksEitherWay(t *testing.T) {
	resp, body := ask(t, Handler(), "GET", "/")
	if resp.StatusCode != 200 || !strings.Contains(body, "Patra") {
		t.Errorf("answered %d %q", resp.StatusCode, body)
	}
	if strings.Contains(body, "<style") || strings.Contains(body, "<script>") {
		t.Errorf("the policy forbids what stands within the page: %s", body)
	}
}

// What is packed goes out packed to whoever can unpack it, and unpacked to everybody else.
func TestWhatIsPackedIsServed(t *testing.T) {
	const script = "main(1234567890)"
	var small bytes.Buffer
	z := gzip.NewWriter(&small)
	if _, err := z.Write([]byte(script)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	app := fstest.MapFS{"index.html": {Data: []byte("app")}, "assets/main-1a2b.js.gz": {Data: small.Bytes()}, "assets/broken.js.gz": {Data: []byte("no gzip")}}
	for _, c := range []struct {
		accepts, coding, body string
	}{
		{"gzip, deflate, br", "gzip", small.String()},
		{"br;q=1.0, gzip;q=0.8", "gzip", small.String()},
		{"", "", script},
		{"identity", "", script},
		{"gzip;q=0", "", script},
		{"gzip; q=0.000", "", script},
	} {
		r := httptest.NewRequest("GET", "/assets/main-1a2b.js", nil)
		if c.accepts != "" {
			r.Header.Set("Accept-Encoding", c.accepts)
		}
		w := httptest.NewRecorder()
		handler(app).ServeHTTP(w, r)
		h := w.Result().Header
		if w.Code != 200 || w.Body.String() != c.body || h.Get("Content-Encoding") != c.coding || h.Get("Vary") != "Accept-Encoding" {
			t.Errorf("%q: answered %d with %d bytes, %v", c.accepts, w.Code, w.Body.Len(), h)
		}
		if h.Get("Content-Type") != "text/javascript; charset=utf-8" || !strings.Contains(h.Get("Cache-Control"), "immutable") {
			t.Errorf("%q: %v", c.accepts, h)
		}
	}
	if resp, _ := ask(t, handler(app), "GET", "/assets/broken.js"); resp.StatusCode != 404 {
		t.Errorf("a broken file: %d", resp.StatusCode)
	}
}
