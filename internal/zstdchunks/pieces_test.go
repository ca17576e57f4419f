package zstdchunks_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"

	"patra"
	"patra/internal/zstdchunks"
)

// A body comes back from its pieces, one by one and as a whole, whatever it is.
func TestABodyComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.SampledFrom([]int{0, 1, 1000, patra.PieceSize - 1, patra.PieceSize, patra.PieceSize + 1, 3 * patra.PieceSize, 3*patra.PieceSize + 5}).Draw(t, "size")
		some := rapid.SliceOfN(rapid.Byte(), 1, 400).Draw(t, "some")
		body := bytes.Repeat(some, size/len(some)+1)[:size]
		whole, each := zstdchunks.Pack(body)
		all, err := zstdchunks.Open(whole, nil)
		if err != nil || !bytes.Equal(all, body) {
			t.Fatalf("%d of %d bytes come back, %v", len(all), len(body), err)
		}
		n := 0
		for part := range slices.Chunk(body, patra.PieceSize) {
			got, err := zstdchunks.Open(each[n], nil)
			if err != nil || !bytes.Equal(got, part) {
				t.Fatalf("piece %d: %d of %d bytes, %v", n, len(got), len(part), err)
			}
			n++
		}
		if n != len(each) {
			t.Fatalf("%d pieces, and %d are needed", len(each), n)
		}
	})
}

// A piece that was cut or changed is not taken for another.
func TestAPieceThatIsDamaged(t *testing.T) {
	_, each := zstdchunks.Pack(bytes.Repeat([]byte("some words "), 1000))
	for i := range each[0] {
		bad := bytes.Clone(each[0])
		bad[i] ^= 1
		if got, err := zstdchunks.Open(bad, nil); err == nil && !bytes.HasPrefix(got, []byte("some words some words ")) {
			t.Errorf("byte %d: %d other bytes", i, len(got))
		}
		if got, err := zstdchunks.Open(each[0][:i], nil); err == nil && i > 0 {
			t.Errorf("the first %d bytes: %d bytes", i, len(got))
		}
	}
}

// A piece is one block: two cost a copy of it, and pack worse.
func TestAPieceIsOneBlock(t *testing.T) {
	_, each := zstdchunks.Pack(bytes.Repeat([]byte("what an answer says, "), patra.PieceSize/10))
	for i, piece := range each {
		var h zstd.Header
		if err := h.Decode(piece); err != nil || !h.FirstBlock.OK || !h.FirstBlock.Last {
			t.Errorf("piece %d begins with %+v, %v", i, h.FirstBlock, err)
		}
	}
}
