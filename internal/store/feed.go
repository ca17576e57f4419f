package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"patra"
)

// eventColumns is everything that an event says. What a version was is in its biography; its fields are in the record, as
// long as no newer version has replaced them.
const eventQuery = `SELECT COALESCE(o.seq, 0), o.event_type, o.rev, o.event_key, o.subject, o.payload, o.created_at, COALESCE(o.record_id, 0),
	r.provenance_code, r.record_type, r.provider_id, r.repository, COALESCE(r.rev, 0), CASE WHEN r.rev = o.rev THEN r.fields END,
	v.content_sha256, v.provider_updated_at, v.change_code, v.record_remarks, p.content_sha256, COALESCE(b.plan_id, a.plan_id, 0), COALESCE(b.slice_id, a.slice_id, 0), COALESCE(b.task_id, a.task_id, 0), COALESCE(b.run_id, ab.run_id, 0), COALESCE(v.batch_id, 0)
	FROM ing_outbox o LEFT JOIN ing_record r ON r.id = o.record_id
	LEFT JOIN ing_record_rev v ON v.record_id = o.record_id AND v.rev = o.rev LEFT JOIN ing_record_rev p ON p.record_id = o.record_id AND p.rev = o.rev - 1
	LEFT JOIN ing_task_run_batch b ON b.id = v.batch_id LEFT JOIN ing_archive_batch ab ON ab.batch_id = v.batch_id LEFT JOIN ing_archive a ON a.task_id = ab.task_id WHERE `

var (
	eventsAfter = stmt{"events_after", eventQuery + `o.seq > ? ORDER BY o.seq LIMIT ?`}
	eventsSince = stmt{"events_since", eventQuery + `o.seq IS NOT NULL AND o.created_at >= ? AND (? = '' OR o.event_type LIKE ?) AND (? = '' OR r.provenance_code = ? OR o.payload LIKE ? ESCAPE '!') ORDER BY o.seq DESC LIMIT ?`}
	firstSince  = stmt{"first_since", `SELECT seq FROM ing_outbox WHERE seq IS NOT NULL AND created_at >= ? ORDER BY seq LIMIT 1`}
)

// EventsAfter reads events behind a position, in the order of their numbers: at most limit, and no more than fit into size
// bytes, but always one if there is any.
func (s *Store) EventsAfter(ctx context.Context, position int64, limit, size int) ([]patra.Event, error) {
	return s.events(ctx, eventsAfter, size, position, limit)
}

// EventsOf reads the events with these numbers.
func (s *Store) EventsOf(ctx context.Context, seqs []int64) ([]patra.Event, error) {
	if len(seqs) == 0 {
		return nil, nil
	}
	args := make([]any, len(seqs))
	for i, n := range seqs {
		args[i] = n
	}
	return s.events(ctx, stmt{"events_of", eventQuery + `o.seq IN (` + marks(len(seqs)) + `) ORDER BY o.seq`}, 1<<30, args...)
}

// EventQuery narrows a list of events.
type EventQuery struct {
	Since  patra.Instant
	Type   string // a type, or the beginning of one with % behind it
	Source string
	Limit  int

	Subject  string // of work, for EventList
	RecordID int64  // of a record, for EventList
}

// ofSource is how an event of work begins that is of a source. What somebody asks for is no pattern.
func ofSource(code string) string { return `{"source":"` + patra.EscapeLike(code) + `"%` }

// Events lists events, newest first.
func (s *Store) Events(ctx context.Context, q EventQuery) ([]patra.Event, error) {
	return s.events(ctx, eventsSince, 1<<30, q.Since, q.Type, q.Type, q.Source, q.Source, ofSource(q.Source), q.Limit)
}

// PositionBefore is the position from which a sink gets everything that happened since a moment.
func (s *Store) PositionBefore(ctx context.Context, since patra.Instant) (int64, error) {
	var seq int64
	found, err := s.read(ctx).one(firstSince, []any{since}, &seq)
	if err != nil || !found {
		_, last, numErr := s.AssignSequence(ctx)
		return last, firstOf(err, numErr)
	}
	return seq - 1, nil
}

// EventList lists events newest first in the order in which they were written, numbered or not, in parts. A store that never
// sent anything has no name yet, and nobody gives it one for looking.
func (s *Store) EventList(ctx context.Context, q EventQuery, p ListPage) ([]EventRow, error) {
	instance, _, err := s.instanceOf(s.read(ctx))
	if err != nil {
		return nil, err
	}
	var conds []cond
	add := func(name, text string, set bool, values ...any) {
		if set {
			conds = append(conds, cond{name, text, values})
		}
	}
	add("type", "o.event_type LIKE ?", q.Type != "", q.Type)
	add("since", "o.created_at >= ?", q.Since != 0, q.Since)
	add("source", "(r.provenance_code = ? OR o.payload LIKE ? ESCAPE '!')", q.Source != "", q.Source, ofSource(q.Source))
	add("subject", "o.subject = ?", q.Subject != "" && q.RecordID == 0, q.Subject)
	add("record", "o.record_id = ?", q.RecordID != 0, q.RecordID)
	list := listing{"list_events", strings.Replace(eventQuery, "SELECT ", "SELECT o.id, ", 1) + `{where} ORDER BY o.id DESC LIMIT ?`, "o.id"}
	list.query = strings.Replace(list.query, "FROM ing_outbox o", "FROM ing_outbox o {by}", 1)
	return listPage(ctx, s, list, conds, p, func(r *sql.Rows) (row EventRow, err error) {
		row.Event, err = scanEvent(r, instance, &row.ID)
		return row, err
	})
}

// EventRow is an event and the id of its row.
type EventRow struct {
	ID int64
	patra.Event
}

func (s *Store) events(ctx context.Context, st stmt, size int, args ...any) ([]patra.Event, error) {
	instance, err := s.StoreID(ctx)
	if err != nil {
		return nil, err
	}
	all := []patra.Event{}
	err = s.read(ctx).rows(st, func(r *sql.Rows) error {
		e, err := scanEvent(r, instance)
		if err != nil {
			return err
		}
		if size -= len(e.Data); size < 0 && len(all) > 0 {
			return errEnough
		}
		all = append(all, e)
		return nil
	}, args...)
	if errors.Is(err, errEnough) {
		err = nil
	}
	return all, err
}

func scanEvent(r *sql.Rows, instance string, before ...any) (e patra.Event, err error) {
	var rec patra.RecordEvent
	var recordID int64
	var key, subject string
	var payload, said json.RawMessage
	err = r.Scan(append(before, &e.Seq, &e.Type, &rec.Rev, textInto{&key}, textInto{&subject}, jsonInto{&payload}, &e.Time, &recordID,
		textInto{&rec.Source}, textInto{&rec.RecordType}, textInto{&rec.ID}, textInto{&rec.Repository}, &rec.CurrentRev, jsonInto{&rec.Fields},
		textInto{&rec.ContentSHA256}, &rec.UpdatedAt, textInto{&rec.Change}, jsonInto{&said}, textInto{&rec.PrevSHA256},
		&rec.Lineage.Plan, &rec.Lineage.Slice, &rec.Lineage.Task, &rec.Lineage.Run, &rec.Lineage.Batch)...)
	if err != nil {
		return e, err
	}
	e.Source = "patra/" + instance
	if recordID == 0 {
		e.ID, e.Subject, e.Key, e.Data = key, subject, patra.HashBytes([]byte(subject)), payload
		var about struct {
			Source string `json:"source"`
		}
		err = json.Unmarshal(payload, &about)
		e.Origin = about.Source
		return e, err
	}
	if rec.ContentSHA256 == "" || rec.ID == "" {
		return e, fmt.Errorf("event %d tells of a version that is not stored", e.Seq)
	}
	var notes revNotes
	if len(said) > 0 {
		if err := json.Unmarshal(said, &notes); err != nil {
			return e, err
		}
	}
	rec.Changes, rec.MergedInto, rec.Deleted = notes.Changes, notes.MergedInto, e.Type == patra.EventDeleted || e.Type == patra.EventMerged
	key = rec.ID // with its repository, if it has one: that is what tells two records apart
	rec.ID = localID(rec.Repository, key)
	e.Origin, e.Subject = rec.Source, rec.Source+"/"+rec.RecordType+"/"+key
	e.Key = patra.HashBytes([]byte(e.Subject))
	e.ID = patra.EventID(instance, rec.Source, rec.RecordType, key, rec.Rev, rec.ContentSHA256)
	e.Data, err = json.Marshal(rec)
	return e, err
}

// revNotes is what is remembered of a version beside its facts.
type revNotes struct {
	Changes    []string `json:"changes,omitempty"`
	MergedInto string   `json:"merged_into,omitempty"` // the record itself knows it only as long as it is so
}
