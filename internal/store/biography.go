package store

import (
	"context"
	"fmt"

	"patra"
)

// Version is one line of a biography: a version of a record, why it stayed, and the work that brought it.
type Version struct {
	Change
	Why     string         `json:"why"`
	Lineage *patra.Lineage `json:"lineage,omitempty"`
}

// Biography is the versions of a record, each with the work that brought it and the reason for which it stayed.
func (s *Store) Biography(ctx context.Context, rec patra.Record) ([]Version, error) {
	changes, err := s.Changes(ctx, rec.ID)
	if err != nil {
		return nil, err
	}
	all := []Version{}
	for i, c := range changes {
		v := Version{Change: c, Why: "never seen before"}
		if i > 0 {
			v.Why = whyStayed(changes[i-1], c)
		}
		if v.Lineage, err = s.Lineage(ctx, c.BatchID); err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}

// whyStayed says what decided for a version against the one before.
func whyStayed(before, now Change) string {
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
