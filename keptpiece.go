package patra

// RawPage is a body of which the raw content of records is parts, and the same packed in pieces.
type RawPage struct {
	Body   []byte
	Pieces [][]byte
}

// A body is packed in pieces, so that one record can be read without unpacking all of them. A piece has an id that
// follows from the page that brought it and from its place in the body.
const (
	pieceBits = 17 // 128 KiB: smaller ones pack worse, larger ones take longer to look into
	pieceRoom = 16 // bits of an id for the number of a piece

	// PieceSize is how many bytes of a body a piece has; the last has what is left.
	PieceSize = 1 << pieceBits
	// MaxPieces is how many pieces a page may have.
	MaxPieces = 1 << pieceRoom
)

// ByteRange is where in a body something is.
type ByteRange struct{ From, Size int64 }

// SpanIn finds a part of a body by where it is in memory. A copy of it is no part, however equal.
func SpanIn(body, part []byte) (ByteRange, bool) {
	from := cap(body) - cap(part)
	if len(part) == 0 || from < 0 || from+len(part) > len(body) || &body[from] != &part[0] {
		return ByteRange{}, false
	}
	return ByteRange{int64(from), int64(len(part))}, true
}

// Pieces are the numbers of the first and the last piece that a span lies in.
func (s ByteRange) Pieces() (first, last int64) {
	return s.From >> pieceBits, (s.From + s.Size - 1) >> pieceBits
}

// ChunkID is the id of a piece of the page that a batch brought.
func ChunkID(batchID, number int64) int64 { return batchID<<pieceRoom | number }
