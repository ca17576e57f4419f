package verifier

import (
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
)

// seenRow is a row of an answer, by hashes of its id and of what it is sorted by.
type seenRow struct {
	id                  uint64
	sort                uint32
	outside, disordered bool
}

// seenPage is a page of a search as the ledger has it.
type seenPage struct {
	ordinal, asked int
	at             int // place of its first row; -1 where positions are no places
	more           bool
	end            string
	total          *int64
	rows           []seenRow
	sent, finished int64
}

// walk is a scan, summed up.
type walk struct {
	pages                     []seenPage
	ids                       map[uint64]bool
	rows, duplicates, outside int
	disordered, moved         bool
	total                     *int64
	began, finished           int64
}

// walks are the scans of a task.
func (s *Scene) walks(ctx context.Context, task int64, c claims) (map[int64]*walk, error) {
	all := map[int64]*walk{}
	err := s.each(ctx, provingPages, func(r *sql.Rows) error {
		var p seenPage
		var scan int64
		var before, keys []byte
		if err := r.Scan(&scan, &p.ordinal, &before, &p.asked, &p.more, &p.end, &p.total, &keys, &p.sent, &p.finished); err != nil {
			return err
		}
		var err error
		if p.rows, err = readRows(keys); err != nil {
			return fmt.Errorf("scan %d page %d: %w", scan, p.ordinal, err)
		}
		p.at, p.asked = c.place(string(before), p.asked)
		if w := all[scan]; w != nil && w.pages[len(w.pages)-1].ordinal == p.ordinal {
			return nil // it has the rows of several requests
		} else if w == nil {
			all[scan] = &walk{ids: map[uint64]bool{}, began: p.sent}
		}
		all[scan].add(p)
		return nil
	}, task)
	return all, err
}

// lists are the lists of all ids that came in one answer, by scan; the last counts.
func (s *Scene) lists(ctx context.Context, task int64) (map[int64][]seenRow, error) {
	all := map[int64][]seenRow{}
	err := s.each(ctx, provingList, func(r *sql.Rows) error {
		var scan int64
		var more bool
		var keys []byte
		if err := r.Scan(&scan, &more, &keys); err != nil {
			return err
		}
		rows, err := readRows(keys)
		if delete(all, scan); err == nil && !more {
			all[scan] = append([]seenRow{}, rows...)
		}
		return err
	}, task)
	return all, err
}

// readRows reads the stored form: a 1, then twelve bytes a row: a mark for rows from outside, one for rows before their place, 62 bits of
// the id, and 32 of what it is sorted by.
func readRows(b []byte) (rows []seenRow, err error) {
	if len(b)%12 != 1 || b[0] != 1 {
		return nil, fmt.Errorf("its rows are not known (%d bytes)", len(b))
	}
	for b = b[1:]; len(b) > 0; b = b[12:] {
		id := binary.BigEndian.Uint64(b)
		rows = append(rows, seenRow{id: id << 2 >> 2, sort: binary.BigEndian.Uint32(b[8:]), outside: id>>63 == 1, disordered: id>>62&1 == 1})
	}
	return rows, nil
}

// place is where a page begins, and how many rows were asked for.
func (c claims) place(position string, size int) (at, asked int) {
	p := c.Pagination
	number, own, sized := strings.Cut(position, "/")
	if position == "" {
		number = p.Initial
	}
	first, err := strconv.Atoi(p.Initial)
	switch {
	case p.Initial != "" && err != nil:
		return -1, size
	case p.Initial == "" && p.Type == "PAGE":
		first = 1
	}
	n := first
	if number != "" {
		if n, err = strconv.Atoi(number); err != nil {
			return -1, size
		}
	}
	if sized {
		if size, err = strconv.Atoi(own); err != nil {
			return -1, size
		}
	}
	switch {
	case p.Type == "OFFSET":
		return n - first, size
	case p.Type == "PAGE" && size > 0:
		return (n - first) * size, size
	}
	return -1, size
}

func (w *walk) add(p seenPage) {
	w.pages = append(w.pages, p)
	for _, r := range p.rows {
		w.rows++
		w.disordered = w.disordered || r.disordered
		switch {
		case r.outside:
			w.outside++
		case w.ids[r.id]:
			w.duplicates++
		default:
			w.ids[r.id] = true
		}
	}
	if p.total != nil {
		w.moved = w.moved || w.total != nil && *w.total != *p.total
		w.total = p.total
	}
	w.finished = p.finished
}

// broken is what is wrong with the pages themselves.
func (w *walk) broken() string {
	for i, p := range w.pages {
		if p.ordinal != i+1 {
			return fmt.Sprintf("page %d is not there", i+1)
		}
	}
	return ""
}

func (w *walk) ended() bool { return !w.pages[len(w.pages)-1].more }

// inside is how many rows of a page lie inside of what was asked for, and the first of them.
func (p seenPage) inside() (n int, first *seenRow) {
	for i, r := range p.rows {
		if r.outside {
			continue
		}
		if n++; first == nil {
			first = &p.rows[i]
		}
	}
	return n, first
}

// even reports whether the scan tells how long the list was: it came to the end, and read each place once.
func (w *walk) even() bool {
	if !w.ended() || w.duplicates > 0 || w.outside > 0 {
		return false
	}
	read, size := 0, len(w.pages[0].rows)
	for i, p := range w.pages {
		n := len(p.rows)
		switch {
		case p.at >= 0 && p.at != read, n > size:
			return false
		case p.at < 0 && i > 0 && n > 0 && len(w.pages[i-1].rows) != size:
			return false
		}
		read += n
	}
	return true
}
