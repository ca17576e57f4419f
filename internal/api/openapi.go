package api

import (
	"context"
	"encoding/json"
	"html/template"
	"net/http"
)

// document registers what describes the routes, for programs and for people. It can be seen by whoever may look.
func (s *Server) document() {
	s.mux.HandleFunc("GET /api/openapi.json", s.forViewers(func(w http.ResponseWriter, _ *http.Request) {
		b, err := s.Document()
		if err != nil {
			s.problemFor(context.Background(), err).write(w)
			return
		}
		w.Header().Set("Content-Type", "application/vnd.oai.openapi+json;version=3.1")
		_, _ = w.Write(b)
	}))
	s.mux.HandleFunc("GET /api/docs", s.forViewers(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if err := docsPage.Execute(w, s.Routes()); err != nil {
			s.log.Warn("the page about the routes could not be written", "reason", err.Error())
		}
	}))
	s.mux.HandleFunc("GET /api/docs.css", s.forViewers(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/css")
		_, _ = w.Write([]byte(docsStyle))
	}))
}

// forViewers is for what is not a route of the document.
func (s *Server) forViewers(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if _, p := s.identify(r); p != nil {
			p.write(w)
			return
		}
		next(w, r)
	}
}

// Document is the OpenAPI document as it is served, the same every time.
func (s *Server) Document() ([]byte, error) {
	b, err := s.huma.OpenAPI().MarshalJSON()
	if err != nil {
		return nil, err
	}
	var tree any
	if err := json.Unmarshal(b, &tree); err != nil {
		return nil, err
	}
	b, err = json.MarshalIndent(tree, "", " ")
	return append(b, '\n'), err
}

var docsPage = template.Must(template.New("docs").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Patra: the API</title><link rel="stylesheet" href="/api/docs.css"></head>
<body><main><h1>The API of Patra</h1>
<p>The whole description is an <a href="/api/openapi.json">OpenAPI 3.1 document</a>. Rows are what <code>patra ... -o json</code> prints. Lists take <code>limit</code> and <code>cursor</code>. What goes wrong is told as <code>application/problem+json</code>.</p>
<table><thead><tr><th>Route</th><th>What it does</th><th>Needs</th></tr></thead><tbody>
{{range .}}<tr><td><code><b>{{.Method}}</b> {{.Path}}</code></td><td>{{.Summary}}</td><td>{{.Need}}</td></tr>
{{end}}</tbody></table></main></body></html>
`))

const docsStyle = `body{font:15px/1.5 system-ui,sans-serif;margin:0;color:#1b1f24;background:#fff}main{max-width:70rem;margin:0 auto;padding:1.5rem}
table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.35rem .6rem;border-bottom:1px solid #d9dee3;vertical-align:top}td code{overflow-wrap:anywhere}
@media (prefers-color-scheme:dark){body{color:#e6e9ec;background:#14171a}th,td{border-color:#343a40}a{color:#74b3ff}}
`
