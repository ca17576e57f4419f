// Package zstdchunks packs the body of an answer in pieces that can be unpacked one by one. One behind the other they are what any
// program for zstd unpacks to the whole. It never keeps anything and knows nothing of what it packs.
package zstdchunks

import (
	"slices"

	"github.com/klauspost/compress/zstd"

	"patra"
)

// packs is by how much a page gets smaller at least, mostly; it is a guess of how much room is needed.
const packs = 5

// maxBody bounds what is unpacked; no answer is larger.
const maxBody = 1 << 30

// A page is like itself at close range: looking harder costs time that its size does not show. Both can be used by many at
// the same time. They are made when the program begins, because in simulated time nobody may use what belongs to another.
var (
	packer = newPacker()
	opener = newOpener()
)

func newPacker() *zstd.Encoder {
	// The window is named before the level, which would else cut a piece into two blocks: one is packed without a copy of it.
	e, err := zstd.NewWriter(nil, zstd.WithEncoderCRC(true), zstd.WithWindowSize(patra.PieceSize), zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		panic(err) // the options are ours, and never change
	}
	e.EncodeAll([]byte{0}, nil) // it is made by its first use
	return e
}

func newOpener() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(maxBody))
	if err != nil {
		panic(err)
	}
	return d
}

// Pack packs a body. The pieces lie one behind the other in whole.
func Pack(body []byte) (whole []byte, each [][]byte) {
	ends := []int{}
	whole = make([]byte, 0, len(body)/packs)
	for piece := range slices.Chunk(body, patra.PieceSize) {
		whole = packer.EncodeAll(piece, whole)
		ends = append(ends, len(whole))
	}
	start := 0
	for _, end := range ends { // not before: whole may have moved
		each = append(each, whole[start:end:end])
		start = end
	}
	return whole, each
}

// Open unpacks one piece, or several one behind the other, into a buffer that may be used again.
func Open(packed, into []byte) ([]byte, error) { return opener.DecodeAll(packed, into[:0]) }
