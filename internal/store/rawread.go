package store

import (
	"cmp"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"

	"patra"
	"patra/internal/zstdchunks"
)

var selectPieces = stmt{"select_raw_pieces", `SELECT id, body FROM ing_raw_piece WHERE id IN ({where})`}

// piecesAtOnce is how many pieces are unpacked at the same time.
const piecesAtOnce = 32

// row is a record as it is read, before its raw content is brought from its page.
type row struct {
	patra.Record
	code       string
	from, size *int64
}

// pieces are the ids of those that the raw content of a row lies in.
func (r *row) pieces() (first, last int64) {
	first, last = patra.ByteRange{From: *r.from, Size: *r.size}.Pieces()
	return patra.ChunkID(r.BatchID, first), patra.ChunkID(r.BatchID, last)
}

// records reads records. Where the raw content lies in a page it is brought from there: once for all that lie in the same. Both
// are of one moment, because a page goes with the last record that lies in it.
func (t *tx) records(st stmt, args ...any) ([]patra.Record, error) {
	var rows []row
	err := t.atOnce(func(t *tx) error {
		rows = nil
		err := t.rows(st, func(r *sql.Rows) error {
			rec, err := scanRecord(r)
			rows = append(rows, rec)
			return err
		}, args...)
		if err != nil {
			return err
		}
		return t.unpack(rows)
	})
	if err != nil {
		return nil, err
	}
	all := make([]patra.Record, len(rows))
	for i, r := range rows {
		if all[i] = r.Record; r.code != "JSON" {
			all[i].Raw, err = textInJSON(string(r.Raw)) // other formats are a text within the JSON
		}
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// atOnce reads several times at one moment.
func (t *tx) atOnce(read func(*tx) error) error {
	began, err := t.db.BeginTx(t.ctx, &sql.TxOptions{ReadOnly: t.s.dialect.readOnly, Isolation: t.s.dialect.snapshot})
	if err == nil {
		defer began.Rollback()
		err = read(&tx{ctx: t.ctx, s: t.s, db: t.db, sql: began})
	}
	t.s.there.heard(err, false)
	return markUnavailable(err)
}

// unpack brings the raw content that lies in pages, a few pieces at a time.
func (t *tx) unpack(rows []row) error {
	var away []*row
	for i := range rows {
		if rows[i].from != nil {
			away = append(away, &rows[i])
		}
	}
	slices.SortFunc(away, func(a, b *row) int { return cmp.Or(cmp.Compare(a.BatchID, b.BatchID), cmp.Compare(*a.from, *b.from)) })
	for len(away) > 0 {
		var wanted []any
		n, upTo := 0, int64(-1)
		for ; n < len(away) && (n == 0 || len(wanted) < piecesAtOnce); n++ {
			first, last := away[n].pieces()
			for id := max(first, upTo+1); id <= last; id++ {
				wanted = append(wanted, id)
			}
			upTo = max(upTo, last)
		}
		open, err := t.pieces(wanted)
		if err != nil {
			return err
		}
		for _, r := range away[:n] {
			if r.Raw, err = r.cut(open); err != nil {
				return err
			}
		}
		away = away[n:]
	}
	return nil
}

func (t *tx) pieces(ids []any) (map[int64][]byte, error) {
	open := make(map[int64][]byte, len(ids))
	err := t.rows(selectPieces.with(marks(len(ids))), func(r *sql.Rows) error {
		var id int64
		var packed sql.RawBytes
		err := r.Scan(&id, &packed)
		if err == nil {
			open[id], err = zstdchunks.Open(packed, nil)
		}
		return err
	}, ids...)
	return open, err
}

// cut takes the raw content of a record out of the pieces that it lies in.
func (r *row) cut(open map[int64][]byte) (json.RawMessage, error) {
	raw := make([]byte, 0, *r.size)
	first, last := r.pieces()
	for id, skip := first, *r.from%patra.PieceSize; id <= last; id, skip = id+1, 0 {
		piece, there := open[id]
		left := *r.size - int64(len(raw))
		if !there || int64(len(piece)) < min(skip+left, patra.PieceSize) {
			return nil, fmt.Errorf("record %d: the page that has its raw content is damaged (piece %d); patra doctor --deep says what else is", r.ID, id)
		}
		raw = append(raw, piece[skip:min(skip+left, int64(len(piece)))]...)
	}
	return raw, nil
}
