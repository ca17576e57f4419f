// Package web serves the dashboard: the files that `make web` builds out of the folder web, embedded in the binary.
//
// It knows files and nothing of harvesting. Whatever the dashboard shows it asks for over the API, like everybody else.
// The server around it sends the policy of what pages may load; everything here is a file, so that the policy can be strict.
// A binary that was built without Node has no dashboard; it says so on a plain page, and everything else of it works.
package web

import (
	"bytes"
	"compress/gzip"
	"embed"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"
)

// dist holds a placeholder, so that `go build` works without Node, and beside it the folder app once somebody built it.
//
//go:embed all:dist
var dist embed.FS

// unbuilt is the page of a binary without a dashboard.
const unbuilt = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Patra</title></head>
<body>
<h1>Patra runs, but this binary has no dashboard</h1>
<p>It was built without Node. Run <code>make web</code> and build again to have one: <code>make web build</code>.</p>
<p>The API is there all the same: <a href="/api/openapi.json">/api/openapi.json</a>.</p>
</body>
</html>
`

// Handler serves the dashboard at every path that is not somebody else's.
func Handler() http.Handler {
	app, err := fs.Sub(dist, "dist/app")
	if err != nil { // only of a path that is not one
		panic(err)
	}
	return handler(app)
}

// handler serves app. A file is answered as it is; any other path is a place within the app, which finds its way by
// itself, unless it looks like a file: an old page that asks for a script of the last version must not be given HTML.
func handler(app fs.FS) http.Handler {
	index, err := fs.ReadFile(app, "index.html")
	built := err == nil
	if !built {
		index = []byte(unbuilt)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			h.Set("Allow", "GET, HEAD")
			http.Error(w, "the dashboard is only read", http.StatusMethodNotAllowed)
			return
		}
		name := strings.TrimPrefix(path.Clean("/"+r.URL.Path), "/")
		if name != "index.html" && send(w, r, app, name) {
			return
		}
		h.Set("Cache-Control", "no-cache")
		if strings.HasPrefix(name, "assets/") {
			http.Error(w, "no such file: reload the page, the dashboard is of another version", http.StatusNotFound)
			return
		}
		h.Set("Content-Type", "text/html; charset=utf-8")
		http.ServeContent(w, r, "index.html", time.Time{}, bytes.NewReader(index))
	})
}

// send answers with the file of that name, if there is one. Most are packed, and whoever can unpack gets them so.
func send(w http.ResponseWriter, r *http.Request, app fs.FS, name string) bool {
	h := w.Header()
	file, ok := read(app, name)
	if !ok {
		if file, ok = read(app, name+packed); !ok {
			return false
		}
		h.Set("Vary", "Accept-Encoding")
		if unpacks(r) {
			h.Set("Content-Encoding", "gzip")
		} else if file, ok = unpack(file); !ok {
			return false
		}
	}
	h.Set("Cache-Control", caching(name))
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(file))
	return true
}

// packed is how the names of packed files end.
const packed = ".gz"

// unpacks reports whether the browser can unpack. Every browser can; what somebody writes by hand may not.
func unpacks(r *http.Request) bool {
	for word := range strings.SplitSeq(strings.Join(r.Header.Values("Accept-Encoding"), ","), ",") {
		name, quality, _ := strings.Cut(strings.TrimSpace(word), ";")
		q := strings.TrimSpace(quality)
		if name == "gzip" && q != "q=0" && !strings.HasPrefix(q, "q=0.0") {
			return true
		}
	}
	return false
}

func unpack(file []byte) ([]byte, bool) {
	z, err := gzip.NewReader(bytes.NewReader(file))
	if err != nil {
		return nil, false
	}
	plain, err := io.ReadAll(z)
	return plain, err == nil
}

// read gives the file of that name. A folder is none, so nobody sees a listing.
func read(app fs.FS, name string) ([]byte, bool) {
	if !fs.ValidPath(name) {
		return nil, false
	}
	file, err := fs.ReadFile(app, name)
	return file, err == nil
}

// caching says how long a file may be kept. What is below assets has the hash of its content in its name.
func caching(name string) string {
	if strings.HasPrefix(name, "assets/") {
		return "public, max-age=31536000, immutable"
	}
	return "no-cache"
}
