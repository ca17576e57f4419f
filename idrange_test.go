package patra_test

import (
	"testing"

	"pgregory.net/rapid"

	"patra"
)

func drawRange(t *rapid.T) patra.IDRange {
	from := rapid.Int64Range(-50, 50).Draw(t, "from")
	return patra.IDRange{From: from, To: from + rapid.Int64Range(0, 100).Draw(t, "length")}
}

func TestPiecesOfARangeTileIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawRange(t)
		n := rapid.Int64Range(-1, 200).Draw(t, "n")
		pieces := r.Cut(n)
		at := r.From
		for _, p := range pieces {
			if p.From != at || p.IsEmpty() {
				t.Fatalf("%s in %d pieces: %v", r, n, pieces)
			}
			at = p.To
		}
		if at != max(r.To, r.From) || int64(len(pieces)) > max(n, 1) || (n > 1 && r.To-r.From > 1 && len(pieces) < 2) {
			t.Fatalf("%s in %d pieces: %v", r, n, pieces)
		}
		if !r.Tile(pieces) {
			t.Fatalf("%v do not tile %s", pieces, r)
		}
	})
}

// The model: every number is in one of the parts.
func TestPartsTileWhenEveryNumberIsInOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawRange(t)
		parts := rapid.SliceOfN(rapid.Custom(drawRange), 0, 6).Draw(t, "parts")
		want := true
		for i := r.From; i < r.To; i++ {
			in := false
			for _, p := range parts {
				in = in || (p.From <= i && i < p.To)
			}
			want = want && in
		}
		if got := r.Tile(parts); got != want {
			t.Fatalf("%v tile %s: %v", parts, r, got)
		}
	})
}

func TestEveryIdIsInExactlyOneBucket(t *testing.T) {
	seen := map[int64]int{}
	for i := range 10_000 {
		b := patra.Bucket(string(rune('a'+i%26))+string(rune(i)), 7)
		if b < 0 || b > 6 {
			t.Fatal(b)
		}
		seen[b]++
	}
	for b, n := range seen {
		if n < 1000 {
			t.Errorf("bucket %d has %d of 10,000 ids", b, n)
		}
	}
	if patra.Bucket("10.1000/xyz", 1000) != 218 { // it is stored in slices, so it must mean the same for ever
		t.Errorf("the bucket of an id has changed: %d", patra.Bucket("10.1000/xyz", 1000))
	}
}
