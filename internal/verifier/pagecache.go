package verifier

import (
	"context"
	"errors"

	"github.com/klauspost/compress/zstd"
)

// What is known from outside about pages: a piece has so many bytes of its page, and its id is that of the batch and its number.
const (
	pieceSize = 128 << 10
	pieceIDs  = 1 << 16
	keptOpen  = 64
)

// shelf has pages open from which the raw content of records is cut. Records come in an order of their own, so a few pieces
// stay open.
type shelf struct {
	scene *Scene
	unzip *zstd.Decoder
	open  map[int64][]byte
}

// cut reads a part of a page.
func (s *shelf) cut(ctx context.Context, batch, from, size int64) ([]byte, error) {
	var part []byte
	for at := from; at < from+size; {
		piece, err := s.piece(ctx, batch*pieceIDs+at/pieceSize)
		if err != nil {
			return nil, err
		}
		start := at % pieceSize
		if start >= int64(len(piece)) {
			return nil, errors.New("its page ends before it does")
		}
		end := min(start+from+size-at, int64(len(piece)))
		part = append(part, piece[start:end]...)
		at += end - start
	}
	return part, nil
}

func (s *shelf) piece(ctx context.Context, id int64) ([]byte, error) {
	if piece, ok := s.open[id]; ok {
		return piece, nil
	}
	if s.unzip == nil {
		var err error
		if s.unzip, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1)); err != nil {
			return nil, err
		}
	}
	var packed []byte
	if err := s.scene.db.QueryRowContext(ctx, `SELECT body FROM ing_raw_piece WHERE id = ?`, id).Scan(&packed); err != nil {
		return nil, err
	}
	piece, err := s.unzip.DecodeAll(packed, nil)
	if len(s.open) >= keptOpen || s.open == nil {
		s.open = map[int64][]byte{}
	}
	s.open[id] = piece
	return piece, err
}
