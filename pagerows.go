package patra

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"strconv"
)

// RowKey identifies a row of an answer in the proof of a walk, by hashes: which record it is and where in the order it stands.
type RowKey struct {
	ID      uint64 // 62 bits
	Sort    uint32
	Outside bool // of what was asked for: it counts for nothing

	Disordered bool // it stands before its place in the order that the source declares
}

// PageRows are the rows of an answer, in its order.
type PageRows []RowKey

// ScannedPage is a committed page of a search, as the ledger has it.
type ScannedPage struct {
	ScanNo, Ordinal    int64
	Before             string
	HasNext            bool
	Total              *int64
	Rows               PageRows // nil: an older version read the page, and its rows are not known
	SentAt, FinishedAt Instant
}

const (
	rowKeysV1     = 1 // the first byte of the stored form: a page without rows differs from one whose rows are not known
	rowKeyLen     = 12
	outsideBit    = 1 << 63
	disorderedBit = 1 << 62
)

// RowKeyOf is the key of a row. A row without an id is known by its bytes, and one in an order that does not change by its id
// alone.
func RowKeyOf(id string, raw []byte, sortedBy *Instant, outside bool) RowKey {
	var sum [sha256.Size]byte
	if id == "" {
		sum = sha256.Sum256(append([]byte{0}, raw...))
	} else {
		sum = sha256.Sum256([]byte(id))
	}
	text := ""
	if sortedBy != nil {
		text = strconv.FormatInt(int64(*sortedBy), 10)
	}
	key := sha256.Sum256([]byte(text))
	return RowKey{ID: binary.BigEndian.Uint64(sum[:8]) &^ (outsideBit | disorderedBit), Sort: binary.BigEndian.Uint32(key[:4]), Outside: outside}
}

// Bytes is the stored form.
func (p PageRows) Bytes() []byte {
	b := append(make([]byte, 0, 1+len(p)*rowKeyLen), rowKeysV1)
	for _, r := range p {
		id := r.ID
		if r.Outside {
			id |= outsideBit
		}
		if r.Disordered {
			id |= disorderedBit
		}
		b = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(b, id), r.Sort)
	}
	return b
}

// ParsePageRows reads the stored form.
func ParsePageRows(b []byte) (PageRows, error) {
	if len(b) == 0 || b[0] != rowKeysV1 || (len(b)-1)%rowKeyLen != 0 {
		return nil, errors.New("the keys of a page's rows are cut off, or a newer version wrote them")
	}
	rows := make(PageRows, 0, len(b)/rowKeyLen)
	for b = b[1:]; len(b) > 0; b = b[rowKeyLen:] {
		id := binary.BigEndian.Uint64(b)
		rows = append(rows, RowKey{ID: id &^ (outsideBit | disorderedBit), Sort: binary.BigEndian.Uint32(b[8:]),
			Outside: id&outsideBit != 0, Disordered: id&disorderedBit != 0})
	}
	return rows, nil
}
