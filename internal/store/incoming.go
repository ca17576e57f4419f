package store

import (
	"cmp"
	"slices"

	"patra"
)

// incomingRecord is an observation, and what can be said of it before anybody looks at what is stored: whoever waits for the only writer of
// a store finds that out meanwhile.
type incomingRecord struct {
	patra.Observation
	said  any  // what is remembered of it beside its content, as a column
	plain bool // if it is new, there is nothing to tell of it but that
}

// incomingOf are the observations of a page, the newest of each record.
func incomingOf(res patra.PageResult) []incomingRecord {
	newest := newestOfEach(res.Merge, res.Records)
	all := make([]incomingRecord, len(newest))
	for i, o := range newest {
		all[i] = asIncoming(o, res.Changes)
	}
	return all
}

// idsOf are the ids of some, in the same order.
func idsOf(some []incomingRecord) []string {
	ids := make([]string, len(some))
	for i, o := range some {
		ids[i] = o.ID
	}
	return ids
}

func asIncoming(o patra.Observation, rules patra.ChangeRules) incomingRecord {
	return incomingRecord{o, versionNotes(o, nil).column(), o.Event() == patra.EventUpserted && len(rules.Derive(false, nil, o.Facts)) == 0}
}

// saidWith is what is remembered of it where there was another version.
func (o incomingRecord) saidWith(have *storedRecord) any {
	stays := have.remarks.MissingSince != nil && !have.absenceEndsWith(o.Observation)
	if !o.Deleted && !stays {
		return o.said
	}
	notes := versionNotes(o.Observation, have)
	if stays {
		notes = notes.withAbsence(have.remarks.absence())
	}
	return notes.column()
}

// newestOfEach keeps one observation for each id, in id order: two workers that lock the same rows lock them in
// the same order.
func newestOfEach(merge patra.Merge, arriving []patra.Observation) []patra.Observation {
	order := make([]int, len(arriving)) // they are much smaller than what they stand for
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(arriving[a].ID, arriving[b].ID), cmp.Compare(a, b)) })
	unique := make([]patra.Observation, 0, len(arriving))
	for _, i := range order {
		o, last := arriving[i], len(unique)-1
		switch {
		case last < 0 || unique[last].ID != o.ID:
			unique = append(unique, o)
		case merge.Newer(o.Version(), unique[last].Version()):
			unique[last] = o
		}
	}
	return unique
}
