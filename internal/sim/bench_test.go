package sim

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// BenchmarkPage serves pages of 1,000 works from one long scroll.
func BenchmarkPage(b *testing.B) {
	for _, c := range []struct{ name, encoding string }{{"plain", ""}, {"gzip", "gzip"}} {
		b.Run(c.name, func(b *testing.B) {
			from := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
			h := New(Config{Seed: 1, From: from, To: from.AddDate(20, 0, 0), PerDay: 5000}).Handler()
			target := worksURL("rows", "1000", "cursor", open(b, h, "1000").next())
			b.ReportAllocs()
			for b.Loop() {
				r := httptest.NewRequest(http.MethodGet, target, nil)
				r.Header.Set("Accept-Encoding", c.encoding)
				w := httptest.NewRecorder()
				w.Body = nil
				h.ServeHTTP(w, r)
			}
			b.ReportMetric(float64(b.N)*1000/b.Elapsed().Seconds(), "works/s")
		})
	}
}
