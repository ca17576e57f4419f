package source_test

import (
	"bytes"
	"net/http"
	"syscall"
	"testing"
	"time"

	"patra"
	"patra/internal/query"
	"patra/internal/sim"
	"patra/internal/source"
)

// simulated is who answers in benchmarks.
func simulated() (http.Handler, patra.Window) {
	from := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	provider := sim.New(sim.Config{Seed: 1, From: from, To: from.AddDate(0, 0, 1), PerDay: 200, Exact: true}).Handler()
	return provider, patra.Window{From: patra.InstantOf(from), To: patra.InstantOf(from.AddDate(0, 0, 1))}
}

// simPage is a page of a simulated provider, of the second phase where there are two, and who reads it.
func simPage(tb testing.TB, code, endpoint, base string) (*source.Program, []byte) {
	tb.Helper()
	provider, window := simulated()
	vars := source.Vars{Contact: "t@example.org"}
	p := shippedProgram(tb, code, endpoint)
	call, err := p.Spec.Build(query.All(), window, p.Spec.First(), "http://127.0.0.1:1"+base, vars)
	if err != nil {
		tb.Fatal(err)
	}
	status, body := serve(provider, call)
	if p.Spec.Detail == nil {
		return p, body
	}
	page, err := p.Read(status, body, p.Spec.First())
	if err != nil {
		tb.Fatal(err)
	}
	var ids []string
	for _, raw := range page.Items[:min(len(page.Items), p.Spec.Detail.Batch)] {
		o, err := p.Item(raw, 0)
		if err != nil {
			tb.Fatal(err)
		}
		ids = append(ids, o.ID)
	}
	if call, err = p.Spec.BuildIDs(ids, "http://127.0.0.1:1"+base, vars); err != nil {
		tb.Fatal(err)
	}
	_, body = serve(provider, call)
	second, err := p.Spec.Second.Compile()
	if err != nil {
		tb.Fatal(err)
	}
	return second, body
}

// cpu is how long this process has computed: the machine may have others to serve.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// One page: cut, and every record of it read.
func BenchmarkReadPage(b *testing.B) {
	for _, c := range []struct{ name, code, endpoint, base, damage string }{
		{"pubmed", "pubmed", "search", "", ""}, {"oai", "oai", "records", "/oai", ""}, {"crossref", "crossref", "works", "", ""},
		{"oai, each record damaged", "oai", "records", "/oai", "\v & &nbsp;\xe9"},
	} {
		b.Run(c.name, func(b *testing.B) {
			p, body := simPage(b, c.code, c.endpoint, c.base)
			body = bytes.ReplaceAll(body, []byte("</dc:title>"), []byte(c.damage+"</dc:title>"))
			records := 0
			b.ReportAllocs()
			before := cpu()
			for b.Loop() {
				page, err := p.Read(200, body, p.Spec.First())
				if err != nil {
					b.Fatal(err)
				}
				records = len(page.Items)
				for _, err := range p.Records(&page, 1) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64((cpu()-before).Microseconds())/float64(b.N*records), "cpu-µs/record")
			b.ReportMetric(float64(len(body)/records), "bytes/record")
		})
	}
}
