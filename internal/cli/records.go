package cli

import (
	"context"

	"github.com/spf13/cobra"

	"patra"
	"patra/internal/store"
	"patra/internal/view"
)

func (a *app) recordsCmd() *cobra.Command {
	c := &cobra.Command{
		Use: "records", Short: "Look at records and take them", Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.recordGetCmd(), a.recordHistoryCmd(), a.recordQueryCmd(), a.recordWhyCmd(), a.exportCmd())
	return c
}

// storedRecord is a record that must be there.
func (a *app) storedRecord(ctx context.Context, s *store.Store, name view.RecordName) (*patra.Record, error) {
	rec, err := view.FindRecord(ctx, s, name)
	if err == nil && rec == nil {
		if _, err := a.target(ctx, s, name.Source); err != nil { // the name of the source is the mistake
			return nil, err
		}
		err = patra.Invalid("", "%s has no record %q; patra records why %s %q tells what is known about it", name.Source, name.ID, name.Source, name.ID)
		if name.Repository != "" {
			err = patra.Invalid("repository", "%s has no record %q of {repository} %s", name.Source, name.ID, name.Repository)
		}
	}
	return rec, err
}

// addRecordFlags are the flags that say which record of an id is meant.
func addRecordFlags(c *cobra.Command, name *view.RecordName) {
	c.Flags().StringVar(&name.Type, "type", "", "record type, if the source has several")
	c.Flags().StringVar(&name.Repository, "repository", "", "repository of the record, if several behind the source have its id")
}

// addLineage fills in the line of work that a record's last change came along.
func addLineage(ctx context.Context, s *store.Store, r *patra.Record) (err error) {
	if r.Lineage, err = s.Lineage(ctx, r.BatchID); err == nil && r.Lineage != nil {
		r.Lineage.Spec, r.Lineage.Expr = r.SpecFingerprint, r.ExprHash
	}
	return err
}
