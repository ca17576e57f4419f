package cli

import (
	"context"

	"github.com/spf13/cobra"

	"patra"
	"patra/internal/store"
)

func (a *app) recordsCmd() *cobra.Command {
	c := &cobra.Command{
		Use: "records", Short: "Look at records and take them", Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.recordGetCmd(), a.recordHistoryCmd(), a.recordQueryCmd(), a.recordWhyCmd(), a.exportCmd())
	return c
}

// findRecord looks a record up by its source and id. Without a type, every type that the source has is tried.
func findRecord(ctx context.Context, s *store.Store, source, recordType, id string) (*patra.Record, error) {
	types := []string{recordType}
	if recordType == "" {
		var err error
		if types, err = s.RecordTypes(ctx, source); err != nil {
			return nil, err
		}
	}
	for _, t := range types {
		if rec, err := s.Record(ctx, source, t, id); err != nil || rec != nil {
			return rec, err
		}
	}
	return nil, nil
}

// storedRecord is a record that must be there.
func (a *app) storedRecord(ctx context.Context, s *store.Store, source, recordType, id string) (*patra.Record, error) {
	rec, err := findRecord(ctx, s, source, recordType, id)
	if err == nil && rec == nil {
		if _, err := a.target(ctx, s, source); err != nil { // the name of the source is the mistake
			return nil, err
		}
		err = patra.Invalid("", "%s has no record %q; patra records why %s %q tells what is known about it", source, id, source, id)
	}
	return rec, err
}

// addLineage fills in the line of work that a record's last change came along.
func addLineage(ctx context.Context, s *store.Store, r *patra.Record) (err error) {
	if r.Lineage, err = s.Lineage(ctx, r.BatchID); err == nil && r.Lineage != nil {
		r.Lineage.Spec, r.Lineage.Expr = r.SpecFingerprint, r.ExprHash
	}
	return err
}
