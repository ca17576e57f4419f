package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"patra"
	"patra/internal/store"
	"patra/internal/view"
)

func (a *app) recordWhyCmd() *cobra.Command {
	var name view.RecordName
	var date string
	var out format
	c := &cobra.Command{
		Use: "why SOURCE ID", Short: "Tell what is known about one record, also about one that is not stored", Args: exactArgs("SOURCE", "ID"),
		Long:    "Why tells the biography of a record: its versions, what is in quarantine under its id, who wants it to be looked at again,\nand the window that it came by. For a record that is not stored it tells which searches named its id, and with --date which\nwindows would hold it: say when the provider changed it, by the date that the source is asked by.",
		Example: "  patra records why crossref 10.5555/abc --date 2026-11-03",
		RunE: func(c *cobra.Command, args []string) error {
			at, err := instantField("date", date)
			if err != nil {
				return err
			}
			s, err := a.open(c.Context())
			if err != nil {
				return err
			}
			name.Source, name.ID = args[0], args[1]
			acc, err := a.explainRecord(c.Context(), s, name, at)
			if err != nil {
				return err
			}
			if out != "table" {
				return printValue(a.stdout, out, acc)
			}
			printRecordWhy(a.stdout, acc)
			return nil
		},
	}
	addRecordFlags(c, &name)
	c.Flags().StringVar(&date, "date", "", "when the provider changed it: 2026-01-31 or 2026-01-31T09:30:00Z")
	formatFlag(c, &out)
	return c
}

// explainRecord is what is known about a record of a source that exists.
func (a *app) explainRecord(ctx context.Context, s *store.Store, name view.RecordName, at *patra.Instant) (view.RecordWhy, error) {
	why, err := view.ExplainRecord(ctx, s, name, at)
	if err == nil && why.Record == nil {
		_, err = a.target(ctx, s, name.Source)
	}
	return why, err
}

func printRecordWhy(w io.Writer, a view.RecordWhy) {
	if a.Record != nil {
		fmt.Fprintf(w, "Record     %s/%s/%s, version %d, first seen %s\n", a.Record.Source, a.Record.Type, a.Record.ProviderID, a.Record.Rev, seconds(a.Record.FirstSeen))
		for _, line := range recordFlags(*a.Record) {
			fmt.Fprintf(w, "           %s\n", line)
		}
	} else {
		fmt.Fprintf(w, "Record     %s %s is not stored\n", a.Source, a.ID)
	}
	if a.Repository != "" {
		fmt.Fprintf(w, "           of %s\n", a.Repository)
	}
	for _, v := range a.Versions {
		fmt.Fprintf(w, "Version    %d %s at %s in batch %d: %s\n", v.Rev, v.RecordVersion.Change, seconds(v.ObservedAt), v.BatchID, v.Why)
	}
	for _, e := range a.Absences {
		fmt.Fprintf(w, "Absence    %s\n", absenceText(e))
	}
	for _, q := range a.Quarantine {
		fmt.Fprintf(w, "Quarantine %d %s %s at %s, met %s\n", q.ID, q.Status, q.Code, seconds(q.FirstSeen), times(q.Met))
	}
	for _, sig := range a.Signals {
		fmt.Fprintf(w, "Signal     %d %s %s, since %s\n", sig.ID, sig.Reason, sig.Status, seconds(sig.CreatedAt))
	}
	for _, p := range a.Windows {
		of := ""
		if a.Repository == "" && p.Cursor.Repository != "" { // several may hold it
			of = " of " + p.Cursor.Repository
		}
		fmt.Fprintf(w, "Window     %s %s by %s%s: %s\n", p.Cursor.Operation, p.Cursor.Endpoint, p.Cursor.Key, of, p.Text)
	}
	fmt.Fprintf(w, "\n%s\n", a.Verdict)
}

func times(n int64) string {
	if n == 1 {
		return "once"
	}
	return thousands(n) + " times"
}
