package verifier

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"
	"strings"
)

// judgement is what came of comparing a truth with what is stored. Both are gone through once for all that is asked of them.
type judgement struct {
	needed, records                int64
	lost, invented, stale, blamed  []string // the first of each
	nLost, nInvented, nStale, nBad int64
}

func note(list *[]string, count *int64, text func() string) {
	if *count++; *count <= shown {
		*list = append(*list, text())
	}
}

// judge compares, once.
func (s *Scene) judge(ctx context.Context, t *truth) (*judgement, error) {
	if t.judged != nil {
		return t.judged, nil
	}
	all, err := s.readings(ctx, t.of)
	if err != nil {
		return nil, err
	}
	waivers, err := s.waivers(ctx, t.of)
	if err != nil {
		return nil, err
	}
	t.marked(all, waivers)
	j := &judgement{}
	if err := s.compare(ctx, t, j); err != nil {
		return nil, err
	}
	if err := s.setAside(ctx, t, j); err != nil {
		return nil, err
	}
	for _, last := range t.last {
		if v := t.newest(last); v != nil && !t.versions[last].have && !v.waived {
			note(&j.lost, &j.nLost, func() string { return t.name(v) + " is missing" })
		}
	}
	for i := range t.versions {
		if t.versions[i].must {
			j.needed++
		}
	}
	t.judged = j
	return j, nil
}

// newest is the newest version of a record that must be there; nil if none must.
func (t *truth) newest(i int32) *version {
	for ; i >= 0; i = t.versions[i].next {
		if v := &t.versions[i]; v.must {
			return v
		}
	}
	return nil
}

// ours are versions of a record that are no news of the provider: it said the same, or another record said it.
const ours = `(SELECT COUNT(*) FROM ing_record_rev v WHERE v.record_id = r.id AND v.change_code IN ('REMAPPED', 'TAKEN_OVER'))`

// held is a record as it is stored, with its raw content or with where in which page that is.
type held struct {
	id         int64
	name, code string
	rev        int32
	raw        []byte
	batch      int64
	from, size sql.NullInt64
}

// atOnce is how many records are in memory: their pages are asked for when the list of them has been read.
const atOnce = 500

// compare goes through the records of a source.
func (s *Scene) compare(ctx context.Context, t *truth, j *judgement) error {
	source, _ := split(t.of)
	pages := shelf{scene: s}
	for last := int64(0); ; {
		var part []held
		err := s.each(ctx, `SELECT r.id, r.provider_id, r.repository, r.rev - `+ours+`, r.raw, r.raw_code, r.batch_id, r.raw_from, r.raw_size FROM ing_record r WHERE r.provenance_code = ? AND r.id > ? ORDER BY r.id LIMIT ?`, func(r *sql.Rows) error {
			var h held
			var repository sql.NullString // it stands behind the id, after a blank
			err := r.Scan(&h.id, &h.name, &repository, &h.rev, &h.raw, &h.code, &h.batch, &h.from, &h.size)
			if repository.Valid {
				h.name = strings.TrimSuffix(h.name, " "+repository.String)
			}
			part, last = append(part, h), h.id
			return err
		}, source, last, atOnce)
		if err != nil || len(part) == 0 {
			return err
		}
		for _, h := range part {
			var err error
			if h.from.Valid {
				h.raw, err = pages.cut(ctx, h.batch, h.from.Int64, h.size.Int64)
			}
			j.record(t, h, err)
		}
	}
}

// record compares one. That it lies in a page that is not there the tables say by themselves.
func (j *judgement) record(t *truth, h held, err error) {
	j.records++
	t.settle([]byte(h.name))
	if errors.Is(err, sql.ErrNoRows) {
		return
	}
	if err != nil {
		note(&j.lost, &j.nLost, func() string { return "record " + h.name + " has no raw content: " + err.Error() })
		return
	}
	versions := t.record(h.name)
	is, must := stored(versions, h.raw, h.code), int32(0)
	for _, v := range versions {
		if v.must && !v.poisoned {
			must = max(must, v.number)
		}
	}
	switch {
	case is == 0:
		note(&j.invented, &j.nInvented, func() string { return "record " + h.name + " is nothing that the provider ever had" })
	case is < must:
		note(&j.stale, &j.nStale, func() string { return "record " + h.name + " is older than a version that was there throughout" })
	case h.rev > is:
		note(&j.invented, &j.nInvented, func() string { return "record " + h.name + " has more versions than there were" })
	}
}

// setAside goes through the quarantine: what is there is not lost, and something must be wrong with it.
func (s *Scene) setAside(ctx context.Context, t *truth, j *judgement) error {
	source, _ := split(t.of)
	return s.each(ctx, `SELECT DISTINCT provider_id, error_code FROM ing_quarantine WHERE provenance_code = ? AND provider_id IS NOT NULL`, func(r *sql.Rows) error {
		var id, code string
		if err := r.Scan(&id, &code); err != nil {
			return err
		}
		t.settle([]byte(id))
		if versions := t.record(id); len(versions) > 0 && !slices.ContainsFunc(versions, func(v *version) bool { return v.poisoned }) {
			note(&j.blamed, &j.nBad, func() string { return id + " is set aside (" + code + "), and nothing is wrong with it" })
		}
		return nil
	}, source)
}

// noTruth is why questions about the truth are left out.
const noTruth = "no journal of the provider was given (-truth)"

// truths hands out what came of each truth, in the order of their names.
func (s *Scene) truths(ctx context.Context, v *Invariant, use func(*judgement)) error {
	if len(s.truth) == 0 {
		return v.skip(noTruth)
	}
	for _, of := range slices.Sorted(maps.Keys(s.truth)) {
		j, err := s.judge(ctx, s.truth[of])
		if err != nil {
			return err
		}
		use(j)
	}
	return nil
}

func (v *Invariant) add(list []string, count int64) {
	for _, text := range list {
		v.found("%s", text)
	}
	v.Count += count - int64(len(list))
}

func askLoss(ctx context.Context, s *Scene, v *Invariant) error {
	return s.truths(ctx, v, func(j *judgement) {
		v.Looked += j.needed
		v.add(j.lost, j.nLost)
		v.add(j.blamed, j.nBad)
	})
}

func askInvention(ctx context.Context, s *Scene, v *Invariant) error {
	return s.truths(ctx, v, func(j *judgement) {
		v.Looked += j.records
		v.add(j.invented, j.nInvented)
	})
}

func askStale(ctx context.Context, s *Scene, v *Invariant) error {
	return s.truths(ctx, v, func(j *judgement) {
		v.Looked += j.records
		v.add(j.stale, j.nStale)
	})
}
