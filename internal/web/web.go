// Package web is the dashboard: files that were built before the program was.
package web

import "net/http"

// Handler serves the dashboard.
func Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = w.Write([]byte("The dashboard was not built into this program: run make web, then make build.\n"))
	})
}
