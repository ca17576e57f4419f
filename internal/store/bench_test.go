package store_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"patra"
	"patra/internal/store"
	"patra/internal/store/storetest"
	"patra/internal/zstdchunks"
)

// A page of a thousand works of about the size that Crossref's have, 7 kB as sent and 1 kB mapped: what every page of a
// harvest costs the store.
func BenchmarkCommitPage(b *testing.B) {
	w := storetest.NewWorld(b, storetest.Engines()[0], 1)
	c := w.Take()
	fields := json.RawMessage(`{"title":"` + strings.Repeat("a title ", 20) + `","abstract":"` + strings.Repeat("some words ", 60) + `"}`)
	raw := `{"raw":"` + strings.Repeat("as the provider sent it ", 300) + `"}`
	body := []byte(strings.Repeat(raw, 1000))
	_, packed := zstdchunks.Pack(body)
	for ordinal := int64(1); b.Loop(); ordinal++ {
		b.StopTimer()
		works := make([]patra.Observation, 1000)
		for i := range works {
			works[i] = w.Record(fmt.Sprintf("10.5555/%d.%d", ordinal, i), storetest.Origin, fmt.Sprint(ordinal, i))
			works[i].Fields, works[i].Raw = fields, body[i*len(raw):(i+1)*len(raw)]
		}
		res := w.Result(true, works...)
		res.Raw = patra.RawPage{Body: body, Pieces: packed}
		page, err := w.OpenAt(c, ordinal, c.Task.ScanNo, ordinal)
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		if _, _, err := w.CommitPage(b.Context(), c, w.Clock.Instant(), "work", page, res, nil); err != nil {
			b.Fatal(err)
		}
	}
}

// The ids of a search of 20,000, noted in pages of a thousand and settled two hundred at a time: what a source whose search gives
// only ids costs the store, without its records.
func BenchmarkItems(b *testing.B) {
	for _, e := range storetest.Engines() {
		w := storetest.NewWorld(b, e, 1)
		c := w.Take()
		scan := int64(0)
		open := func(batch, ordinal int64, phase patra.Phase) patra.OpenPage {
			page, err := w.OpenPage(b.Context(), c, w.Clock.Instant(), patra.PageOpen{BatchNo: batch, ScanNo: scan, Phase: phase, Ordinal: ordinal, PageSize: 1000,
				RequestID: store.NewOwner(), GateKey: "demo", Cost: 1, AcquiredAt: w.Clock.Instant()})
			if err != nil {
				b.Fatal(err)
			}
			return page
		}
		commit := func(page patra.OpenPage, res patra.PageResult) {
			if _, _, err := w.CommitPage(b.Context(), c, w.Clock.Instant(), "work", page, res, nil); err != nil {
				b.Fatal(err)
			}
		}
		b.Run(benchName(e), func(b *testing.B) {
			for b.Loop() {
				scan++
				batch := scan * 1000
				for page := range int64(20) {
					res := w.Result(page < 19)
					for i := range 1000 {
						res.IDs = append(res.IDs, fmt.Sprint(38_000_000+page*1000+int64(i)))
					}
					commit(open(batch+page, page+1, patra.PhaseSearch), res)
				}
				for page := range int64(100) {
					res := w.Result(page < 99)
					for i := range 200 {
						res.Items = map[patra.Status][]string{patra.ItemDone: append(res.Items[patra.ItemDone], fmt.Sprint(38_000_000+page*200+int64(i)))}
					}
					commit(open(batch+20+page, page+1, patra.PhaseDetail), res)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/20_000, "µs/id")
		})
	}
}

func BenchmarkHold(b *testing.B) {
	w := storetest.NewWorld(b, storetest.Engines()[0], 3)
	c := w.Take()
	for b.Loop() {
		if h, err := w.Admit(b.Context(), c.WorkScope()); err != nil || !h.Allowed() {
			b.Fatal(h, err)
		}
	}
}
