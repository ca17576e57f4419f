package store_test

import (
	"testing"

	"patra/internal/store/storetest"
)

func BenchmarkHold(b *testing.B) {
	w := storetest.NewWorld(b, storetest.Engines()[0], 3)
	c := w.Take()
	for b.Loop() {
		if h, err := w.Hold(b.Context(), c.Place()); err != nil || !h.Go() {
			b.Fatal(h, err)
		}
	}
}
