package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"patra"
	"patra/internal/store"
	"patra/internal/view"
)

func (a *app) recordHistoryCmd() *cobra.Command {
	var name view.RecordName
	var out format
	c := &cobra.Command{
		Use: "history SOURCE ID", Short: "Show every version of a record and the work that brought it", Args: exactArgs("SOURCE", "ID"),
		Example: "  patra records history crossref 10.5555/abc",
		RunE: func(c *cobra.Command, args []string) error {
			s, err := a.open(c.Context())
			if err != nil {
				return err
			}
			name.Source, name.ID = args[0], args[1]
			rec, err := a.storedRecord(c.Context(), s, name)
			if err != nil {
				return err
			}
			versions, err := s.VersionHistory(c.Context(), *rec)
			if err != nil {
				return err
			}
			err = printRows(a.stdout, out, versions, columns[store.VersionEntry]{
				names: []string{"rev", "change", "asked at", "provider's time", "content", "plan", "slice", "task", "run", "batch", "why"},
				row: func(v store.VersionEntry) []any {
					l := v.Lineage
					if l == nil {
						l = &patra.Lineage{}
					}
					return []any{v.Rev, v.RecordVersion.Change, seconds(v.ObservedAt), shortly(v.UpdatedAt), v.SHA256[:8], unlessZero(l.Plan), unlessZero(l.Slice), unlessZero(l.Task), unlessZero(l.Run), v.BatchID, v.Why}
				},
			})
			if err != nil || out != "table" {
				return err
			}
			return printAbsences(a.stdout, versions)
		},
	}
	addRecordFlags(c, &name)
	formatFlag(c, &out)
	return c
}

// printAbsences tells when the provider refused the record, and how that ended.
func printAbsences(w io.Writer, versions []store.VersionEntry) error {
	for _, v := range versions {
		for _, e := range v.Absences {
			if _, err := fmt.Fprintf(w, "Version %d: %s\n", v.Rev, absenceText(e)); err != nil {
				return err
			}
		}
	}
	return nil
}

// absenceText is one absence in a line.
func absenceText(e patra.AbsenceEpisode) string {
	text := fmt.Sprintf("%s, refused %s from %s to %s, last in batch %d", strings.ToLower(string(e.Status)), times(e.Refusals), seconds(e.MissingSince), seconds(e.RefusedAt), e.BatchID)
	if e.GoneAt != nil {
		text += ", gone since " + seconds(*e.GoneAt)
	}
	if e.EndedAt != nil {
		text += fmt.Sprintf(", over at %s in batch %d", seconds(*e.EndedAt), e.EndedBy)
	}
	return text
}

func shortly(at *patra.Instant) string {
	if at == nil {
		return ""
	}
	return seconds(*at)
}
