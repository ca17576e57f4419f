package store_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"patra"
	"patra/internal/pieces"
	"patra/internal/store/storetest"
)

// A page of a thousand works of about the size that Crossref's have, 7 kB as sent and 1 kB mapped: what every page of a
// harvest costs the store.
func BenchmarkCommitPage(b *testing.B) {
	w := storetest.NewWorld(b, storetest.Engines()[0], 1)
	c := w.Take()
	fields := json.RawMessage(`{"title":"` + strings.Repeat("a title ", 20) + `","abstract":"` + strings.Repeat("some words ", 60) + `"}`)
	raw := `{"raw":"` + strings.Repeat("as the provider sent it ", 300) + `"}`
	body := []byte(strings.Repeat(raw, 1000))
	_, packed := pieces.Pack(body)
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

func BenchmarkHold(b *testing.B) {
	w := storetest.NewWorld(b, storetest.Engines()[0], 3)
	c := w.Take()
	for b.Loop() {
		if h, err := w.Hold(b.Context(), c.Place()); err != nil || !h.Go() {
			b.Fatal(h, err)
		}
	}
}
