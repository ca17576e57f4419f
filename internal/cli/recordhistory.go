package cli

import (
	"github.com/spf13/cobra"

	"patra"
	"patra/internal/store"
)

func (a *app) recordHistoryCmd() *cobra.Command {
	var recordType string
	var out format
	c := &cobra.Command{
		Use: "history SOURCE ID", Short: "Show every version of a record and the work that brought it", Args: exactArgs("SOURCE", "ID"),
		Example: "  patra records history crossref 10.5555/abc",
		RunE: func(c *cobra.Command, args []string) error {
			s, err := a.open(c.Context())
			if err != nil {
				return err
			}
			rec, err := a.storedRecord(c.Context(), s, args[0], recordType, args[1])
			if err != nil {
				return err
			}
			versions, err := s.VersionHistory(c.Context(), *rec)
			if err != nil {
				return err
			}
			return printRows(a.stdout, out, versions, columns[store.VersionEntry]{
				names: []string{"rev", "change", "asked at", "provider's time", "content", "plan", "slice", "task", "run", "batch", "why"},
				row: func(v store.VersionEntry) []any {
					l := v.Lineage
					if l == nil {
						l = &patra.Lineage{}
					}
					return []any{v.Rev, v.RecordVersion.Change, seconds(v.ObservedAt), shortly(v.UpdatedAt), v.SHA256[:8], unlessZero(l.Plan), unlessZero(l.Slice), unlessZero(l.Task), unlessZero(l.Run), v.BatchID, v.Why}
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
