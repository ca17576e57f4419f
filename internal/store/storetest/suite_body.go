package storetest

import (
	"reflect"
	"testing"
	"time"

	"patra"
)

// The same answer comes again, and what is kept of it is other bytes than before: more secrets are known by now, or the
// packing got better. They have taken the place of the old ones, so the old hash would call them damaged.
func keptAnew(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	c := w.Take()
	came := patra.HashBytes([]byte("as it came"))
	first := patra.StoredBody{Body: came, Stored: came, Size: 10, StoredSize: 8, Codec: patra.CodecZstd, Location: "bodies/x", Keep: time.Hour}
	again := first
	again.Stored, again.Size, again.StoredSize, again.Redacted = patra.HashBytes([]byte("as *** came")), 11, 9, true
	for i, kept := range []patra.StoredBody{first, again} {
		page, err := w.OpenAt(c, int64(i+1), c.Task.ScanNo, int64(i+1))
		w.must(err)
		res := w.Result(true, w.Record("1", Origin, "one"))
		res.BodySHA256, res.Kept = came, &kept
		_, _, err = w.CommitPage(t.Context(), c, w.Clock.Instant(), "work", page, res, nil)
		w.must(err)
		for at, want := range map[patra.Instant]int{w.Clock.Instant(): 1, w.Clock.Instant().Add(2 * time.Hour): 0} {
			if some, err := w.SampleBodies(t.Context(), at, 3); err != nil || len(some) != want || want == 1 && some[0].Stored != kept.Stored {
				t.Errorf("page %d: at %s a sample is %+v, %v", i+1, at, some, err)
			}
		}
		got, err := w.Body(t.Context(), came)
		w.must(err)
		if got.Keep = kept.Keep; !reflect.DeepEqual(got, kept) {
			t.Errorf("page %d: known as %+v, kept as %+v", i+1, got, kept)
		}
	}
}
