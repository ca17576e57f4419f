package patra_test

import (
	"bytes"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"patra"
)

// A span is found where it is, and cutting the body into pieces and putting those of a span together gives it back.
func TestASpanIsInItsPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		body := make([]byte, rapid.IntRange(1, 3*patra.PieceSize).Draw(t, "size"))
		for i := range body {
			body[i] = byte(i * 7 >> 3)
		}
		from := rapid.IntRange(0, len(body)-1).Draw(t, "from")
		part := body[from : from+rapid.IntRange(1, len(body)-from).Draw(t, "length")]
		span, ok := patra.SpanIn(body, part)
		if !ok || span.From != int64(from) || span.Size != int64(len(part)) {
			t.Fatal(span, ok)
		}
		pieces := slices.Collect(slices.Chunk(body, patra.PieceSize))
		first, last := span.Pieces()
		whole := bytes.Join(pieces[first:last+1], nil)
		if start := span.From - first*patra.PieceSize; !bytes.Equal(whole[start:start+span.Size], part) {
			t.Fatal("another part", first, last)
		}
	})
}

func TestACopyIsNoPart(t *testing.T) {
	body := []byte("some words and more")
	for name, part := range map[string][]byte{"a copy": bytes.Clone(body[5:10]), "nothing": nil, "empty": body[3:3], "cut off": append(body[:5:5], "x"...)} {
		if span, ok := patra.SpanIn(body, part); ok {
			t.Error(name, span)
		}
	}
	if _, ok := patra.SpanIn(body[:10], body[8:12]); ok {
		t.Error("beyond the end")
	}
	a, b := patra.ChunkID(7, patra.MaxPieces-1), patra.ChunkID(8, 0)
	if a+1 != b {
		t.Error("pages share ids", a, b)
	}
}
