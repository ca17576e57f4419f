package store

import (
	"maps"
	"slices"

	"patra"
)

var (
	insertPiece = stmt{"insert_raw_piece", `INSERT INTO ing_raw_piece (id, live, body, created_at) VALUES (?, ?, ?, ?)`}
	freePieces  = stmt{"free_raw_pieces", `UPDATE ing_raw_piece SET live = live - ? WHERE id IN ({where})`}
	dropPieces  = stmt{"drop_raw_pieces", `DELETE FROM ing_raw_piece WHERE live <= 0 AND id IN ({where})`}
)

// worthwhile is the part of a page that must be new for its pieces to be stored: below that most of them would hold what
// nobody needs, and the raw content of the few is in their rows.
const worthwhile = 2

// maxPiece bounds what a statement carries, whatever an engine permits by itself.
const maxPiece = 4 * patra.PieceSize

// place is where the raw content of a version lies: in its row, or in its page.
type place struct {
	raw        []byte
	from, size any
}

// rawChunks keeps the raw content of the new versions of a page. Where most of a page is new its packed pieces are stored as they
// are, once, and the records say where in it they are. A piece counts the records that lie in it, and goes with the last.
type rawChunks struct {
	body   []byte
	pieces [][]byte
	live   map[int64]int64 // by number: how many new versions lie in a piece
	freed  map[int64]int64 // by id: how many versions that lay in it are replaced
}

// rawsOf decides where the raw content of some versions goes.
func rawsOf(page patra.RawPage, fresh []mergeInput) rawChunks {
	w := rawChunks{live: map[int64]int64{}, freed: map[int64]int64{}}
	if len(page.Pieces) == 0 || len(page.Pieces) > patra.MaxPieces {
		return w
	}
	size := 0
	for _, a := range fresh {
		if _, ok := patra.SpanIn(page.Body, a.Raw); ok && a.brings {
			size += len(a.Raw)
		}
	}
	tooLarge := func(piece []byte) bool { return len(piece) > maxPiece }
	if size*worthwhile >= len(page.Body) && !slices.ContainsFunc(page.Pieces, tooLarge) {
		w.body, w.pieces = page.Body, page.Pieces
	}
	return w
}

// place finds room for the raw content of a version.
func (w *rawChunks) place(raw []byte) place {
	span, ok := patra.SpanIn(w.body, raw)
	if !ok {
		return place{raw: raw}
	}
	for n, last := span.Pieces(); n <= last; n++ {
		w.live[n]++
	}
	return place{[]byte{}, span.From, span.Size}
}

// free notes that a version is replaced.
func (w *rawChunks) free(have *storedRecord) {
	if have.span == nil {
		return
	}
	for n, last := have.span.Pieces(); n <= last; n++ {
		w.freed[patra.ChunkID(have.batchID, n)]++
	}
}

// flush writes the pieces that are needed from now on, and takes away those that nobody needs any more.
func (w *rawChunks) flush(t *tx, batchID int64, now patra.Instant) error {
	for _, n := range slices.Sorted(maps.Keys(w.live)) {
		if _, err := t.many(insertPiece, patra.ChunkID(batchID, n), w.live[n], w.pieces[n], now); err != nil {
			return err
		}
	}
	fewer := map[int64][]any{} // by how much
	for _, id := range slices.Sorted(maps.Keys(w.freed)) {
		fewer[w.freed[id]] = append(fewer[w.freed[id]], id)
	}
	for _, by := range slices.Sorted(maps.Keys(fewer)) {
		for part := range slices.Chunk(fewer[by], chunk) {
			ids := marks(len(part))
			if _, err := t.exec(freePieces.with(ids), append([]any{by}, part...)...); err != nil {
				return err
			}
			if _, err := t.exec(dropPieces.with(ids), part...); err != nil {
				return err
			}
		}
	}
	return nil
}
