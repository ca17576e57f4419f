package store

import (
	"context"
	"fmt"

	"patra"
)

// VersionEntry is one line of a biography: a version of a record, why it stayed, and the work that brought it.
type VersionEntry struct {
	RecordVersion
	Why     string         `json:"why"`
	Lineage *patra.Lineage `json:"lineage,omitempty"`

	Absences []patra.AbsenceEpisode `json:"absences,omitempty"` // that began while it was the newest version
}

// VersionHistory is the versions of a record, each with the work that brought it and the reason for which it stayed.
func (s *Store) VersionHistory(ctx context.Context, rec patra.Record) ([]VersionEntry, error) {
	changes, err := s.RecordVersions(ctx, rec.ID)
	if err != nil {
		return nil, err
	}
	absences, err := s.Absences(ctx, rec.ID)
	if err != nil {
		return nil, err
	}
	all := []VersionEntry{}
	for i, c := range changes {
		v := VersionEntry{RecordVersion: c, Why: "never seen before"}
		if i > 0 {
			v.Why = whyStayed(changes[i-1], c)
		}
		for _, a := range absences {
			if a.Rev == c.Rev {
				v.Absences = append(v.Absences, a)
			}
		}
		if v.Lineage, err = s.Lineage(ctx, c.BatchID); err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}

// whyStayed says what decided for a version against the one before.
func whyStayed(before, now RecordVersion) string {
	switch now.Change {
	case patra.ChangeRemapped:
		return "the same content, read by a new mapping"
	case patra.ChangeMerged, patra.ChangeTakenOver:
		return "the provider says that another record has taken its place"
	case patra.ChangeDeleted:
		return "the provider says that it is gone"
	}
	text := "different content"
	switch {
	case now.UpdatedAt == nil || before.UpdatedAt == nil:
		text += ", asked for later"
	case *now.UpdatedAt > *before.UpdatedAt:
		text += ", newer by the provider's time"
	case *now.UpdatedAt == *before.UpdatedAt:
		text += " of the same time, as the source merges those"
	default:
		text += ", seen again after it was gone"
	}
	if now.Change == patra.ChangeRetracted {
		text = fmt.Sprintf("retracted: %s", text)
	}
	return text
}
