package store

import (
	"database/sql"

	"patra"
)

// merged reads windows in the order of their beginnings and unites them on the way: however many rows there are, only
// the gaps between them take memory.
func (t *tx) merged(st stmt, args ...any) (c patra.Coverage, err error) {
	err = t.rows(st, func(r *sql.Rows) error {
		var w patra.Window
		if err := r.Scan(&w.From, &w.To); err != nil || w.IsEmpty() {
			return err
		}
		if n := len(c); n > 0 && w.From <= c[n-1].To {
			c[n-1].To = max(c[n-1].To, w.To)
			return nil
		}
		c = append(c, w)
		return nil
	}, args...)
	return c, err
}
