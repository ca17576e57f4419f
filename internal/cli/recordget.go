package cli

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"patra"
	"patra/internal/view"
)

func (a *app) recordGetCmd() *cobra.Command {
	var name view.RecordName
	var raw, lineage bool
	var out format
	c := &cobra.Command{
		Use: "get SOURCE ID", Short: "Show one record", Args: exactArgs("SOURCE", "ID"),
		Example: "  patra records get crossref 10.5555/abc --lineage\n  patra records get pubmed 12345678 --raw > article.xml",
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
			if lineage {
				if err := addLineage(c.Context(), s, rec); err != nil {
					return err
				}
			}
			switch {
			case raw:
				return printRaw(a.stdout, rec.Raw)
			case out != "table":
				return printValue(a.stdout, out, rec)
			}
			return printRecord(a.stdout, *rec)
		},
	}
	addRecordFlags(c, &name)
	c.Flags().BoolVar(&raw, "raw", false, "only what the provider sent last, as it was")
	c.Flags().BoolVar(&lineage, "lineage", false, "add the ids of the work that brought it")
	formatFlag(c, &out)
	return c
}

// printRaw writes what the provider sent: JSON as JSON, and other formats as the text that they are.
func printRaw(w io.Writer, raw json.RawMessage) error {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		_, err := fmt.Fprintln(w, text)
		return err
	}
	_, err := fmt.Fprintf(w, "%s\n", raw)
	return err
}

func printRecord(w io.Writer, r patra.Record) error {
	fmt.Fprintf(w, "Record    %s/%s/%s\n", r.Source, r.Type, r.ProviderID)
	if r.Repository != "" {
		fmt.Fprintf(w, "From      %s\n", r.Repository)
	}
	fmt.Fprintf(w, "Version   %d, changed by the provider %s\n", r.Rev, sometime(r.UpdatedAt))
	fmt.Fprintf(w, "Seen      first %s, last %s\n", seconds(r.FirstSeen), seconds(r.LastSeen))
	for _, line := range recordFlags(r) {
		fmt.Fprintf(w, "Standing  %s\n", line)
	}
	if l := r.Lineage; l != nil {
		fmt.Fprintf(w, "Lineage   trigger %d, plan %d, slice %d, task %d, run %d, batch %d\n          spec %.8s, query %.8s\n", l.Instance, l.Plan, l.Slice, l.Task, l.Run, l.Batch, l.Spec, l.Expr)
	}
	return printIndented(w, r.Fields)
}

// recordFlags is what is out of the ordinary about a record.
func recordFlags(r patra.Record) (lines []string) {
	switch {
	case r.MergedInto != "":
		lines = append(lines, "the provider merged it into "+r.MergedInto+"; its last content is kept")
	case r.Deleted:
		lines = append(lines, "the provider deleted it; its last content is kept")
	}
	if r.Retracted {
		lines = append(lines, "the work was retracted")
	}
	switch {
	case r.GoneAt != nil:
		lines = append(lines, fmt.Sprintf("gone since %s: the provider has refused it by its id %s since %s; its last content is kept", seconds(*r.GoneAt), times(r.Refusals), seconds(*r.MissingSince)))
	case r.MissingSince != nil:
		lines = append(lines, fmt.Sprintf("missing since %s: the provider has refused it by its id %s; it is not gone yet", seconds(*r.MissingSince), times(r.Refusals)))
	}
	return lines
}

func sometime(at *patra.Instant) string {
	if at == nil {
		return "at a time that it does not tell"
	}
	return seconds(*at)
}
