package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"patra"
	"patra/internal/store"
)

// versionLine is one line of a biography.
type versionLine struct {
	store.Change
	Why     string         `json:"why"`
	Lineage *patra.Lineage `json:"lineage,omitempty"`
}

func (a *app) recordHistoryCmd() *cobra.Command {
	var recordType string
	var out format
	c := &cobra.Command{
		Use: "history SOURCE ID", Short: "Show every version of a record and the work that brought it", Args: exactly("SOURCE", "ID"),
		Example: "  patra records history crossref 10.5555/abc",
		RunE: func(c *cobra.Command, args []string) error {
			s, err := a.open(c.Context())
			if err != nil {
				return err
			}
			rec, err := storedRecord(c.Context(), s, args[0], recordType, args[1])
			if err != nil {
				return err
			}
			versions, err := biography(c.Context(), s, *rec)
			if err != nil {
				return err
			}
			return printRows(a.stdout, out, versions, columns[versionLine]{
				names: []string{"rev", "change", "asked at", "provider's time", "content", "plan", "slice", "task", "run", "batch", "why"},
				row: func(v versionLine) []any {
					l := v.Lineage
					if l == nil {
						l = &patra.Lineage{}
					}
					return []any{v.Rev, v.Change.Change, seconds(v.ObservedAt), shortly(v.UpdatedAt), v.SHA256[:8], unlessZero(l.Plan), unlessZero(l.Slice), unlessZero(l.Task), unlessZero(l.Run), v.BatchID, v.Why}
				},
			})
		},
	}
	c.Flags().StringVar(&recordType, "type", "", "record type, if the source has several")
	formatFlag(c, &out)
	return c
}

func shortly(at *patra.Instant) string {
	if at == nil {
		return ""
	}
	return seconds(*at)
}

// biography is the versions of a record, each with the work that brought it and the reason for which it stayed.
func biography(ctx context.Context, s *store.Store, rec patra.Record) ([]versionLine, error) {
	changes, err := s.Changes(ctx, rec.ID)
	if err != nil {
		return nil, err
	}
	var all []versionLine
	for i, c := range changes {
		v := versionLine{Change: c, Why: "never seen before"}
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
func whyStayed(before, now store.Change) string {
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
