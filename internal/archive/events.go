package archive

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"patra"
)

// EventStore is what an archiver of cursor events needs of the tables.
type EventStore interface {
	Compactable(ctx context.Context, after int64, before patra.Instant) ([]int64, error)
	EventRows(ctx context.Context, cursorID int64, before patra.Instant, use func(patra.ArchiveRow) error) error
	Compact(ctx context.Context, e patra.CompactedEvents, actor string, sum func(each func(use func(patra.ArchiveRow) error) error) (string, error)) error
	Compacted(ctx context.Context, cursorID int64) (*patra.CompactedEvents, error)
	RestoreEvents(ctx context.Context, e patra.CompactedEvents, rows []patra.ArchiveRow) error
}

// eventHead is the first line of a file of events.
type eventHead struct {
	CursorID   int64  `json:"cursor"`
	Events     int64  `json:"events"`
	RowsSHA256 string `json:"rows_sha256"`
}

// CompactEvents moves the events of cursors from before a moment into files, and leaves one event in the place of each
// cursor's. It tells how many events went.
func (a *Archiver) CompactEvents(ctx context.Context, s EventStore, now, before patra.Instant, actor string) (events int64, err error) {
	for last := int64(0); ; {
		cursors, err := s.Compactable(ctx, last, before)
		if err != nil || len(cursors) == 0 {
			return events, err
		}
		for _, id := range cursors {
			last = id
			n, err := a.compact(ctx, s, id, now, before, actor)
			if err != nil {
				return events, fmt.Errorf("cursor %d: %w", id, err)
			}
			events += n
		}
	}
}

func (a *Archiver) compact(ctx context.Context, s EventStore, id int64, now, before patra.Instant, actor string) (int64, error) {
	var rows []patra.ArchiveRow
	sum, err := sumOf(func(use func(patra.ArchiveRow) error) error {
		return s.EventRows(ctx, id, before, func(row patra.ArchiveRow) error {
			rows = append(rows, row)
			return use(row)
		})
	})
	if err != nil || len(rows) < 2 {
		return 0, err
	}
	p, err := newPack()
	if err != nil {
		return 0, err
	}
	if err := p.line(eventHead{id, int64(len(rows)), sum}); err != nil {
		return 0, err
	}
	for _, row := range rows {
		if err := p.line(row); err != nil {
			return 0, err
		}
	}
	data, err := p.close()
	if err != nil {
		return 0, err
	}
	through, ok := rows[len(rows)-1].Values["seq"].(int64)
	if !ok {
		return 0, fmt.Errorf("an event without a number: %w", ErrDamaged)
	}
	e := patra.CompactedEvents{CursorID: id, Through: through, Events: int64(len(rows)), RowsSHA256: sum}
	e.Location = fmt.Sprintf("events/%s/cursor-%d-%s.jsonl.zst", now.Time().UTC().Format("2006/01/02"), id, rand.Text())
	if err := a.Place.Put(ctx, e.Location, data); err != nil {
		return 0, err
	}
	if err := s.Compact(ctx, e, actor, sumOf); errors.Is(err, patra.ErrChanged) {
		return 0, nil
	} else if err != nil {
		return 0, err
	}
	return e.Events, nil
}

// RestoreEvents puts back all events of a cursor, those of earlier files too.
func (a *Archiver) RestoreEvents(ctx context.Context, s EventStore, cursorID int64) (events int64, err error) {
	for {
		e, err := s.Compacted(ctx, cursorID)
		if err != nil || e == nil {
			return events, err
		}
		data, err := a.Place.Get(ctx, e.Location)
		if err != nil {
			return events, err
		}
		rows, err := unpackEvents(data, *e)
		if err != nil {
			return events, fmt.Errorf("%s: %w", e.Location, err)
		}
		if err := s.RestoreEvents(ctx, *e, rows); err != nil {
			return events, err
		}
		events += int64(len(rows))
	}
}
