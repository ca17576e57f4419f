package patra

import "errors"

// ErrChanged says that rows are not those that were put into an archive: somebody else put them there meanwhile.
var ErrChanged = errors.New("the rows are not those that were put into the archive")

// ArchiveRow is one row of a table, as it is put into an archive and taken out again. Its values are numbers, texts and
// bytes.
type ArchiveRow struct {
	Table  string         `json:"table"`
	Values map[string]any `json:"row"`
}

// ArchivedTask is a task whose pages, requests and items are in an archive.
type ArchivedTask struct {
	TaskID     int64   `json:"task"`
	PlanID     int64   `json:"plan"`
	SliceID    int64   `json:"slice"`
	Location   string  `json:"location,omitempty"`
	Pages      int64   `json:"pages"`
	Requests   int64   `json:"requests"`
	Items      int64   `json:"items"`
	Written    int64   `json:"written"` // versions of records that its committed pages brought
	RowsSHA256 string  `json:"rows_sha256"`
	ArchivedAt Instant `json:"archived_at"`
}

// CompactedEvents are the first events of a cursor, for which one event stands. They are in an archive.
type CompactedEvents struct {
	CursorID   int64  `json:"cursor"`
	Through    int64  `json:"through"` // the number of the last of them
	Events     int64  `json:"events"`
	Location   string `json:"location"`
	RowsSHA256 string `json:"rows_sha256"`
}
