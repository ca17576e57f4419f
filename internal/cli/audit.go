package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"patra"
	"patra/internal/store"
)

// audited is a line of the audit log for something that the person at the terminal does.
func audited(ctx context.Context, action patra.AuditAction, target, reason string, detail map[string]any) patra.AuditEntry {
	b, err := json.Marshal(detail)
	if err != nil {
		panic(err) // our own values always marshal
	}
	return patra.AuditEntry{Actor: actor(ctx), Action: action, Target: target, Reason: reason, Detail: b}
}

func (a *app) auditCmd() *cobra.Command {
	c := &cobra.Command{
		Use: "audit", Short: "See who did what, and that nobody changed the log", Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.auditListCmd(), a.auditVerifyCmd())
	return c
}

func (a *app) auditListCmd() *cobra.Command {
	var f store.AuditFilter
	var out format
	var since, action string
	c := &cobra.Command{
		Use: "list", Short: "List what people did, newest first", Args: noArgs,
		Example: "  patra audit list --by ada --since 2026-11-01\n  patra audit list --target run:7 -o json",
		RunE: func(c *cobra.Command, _ []string) error {
			from, err := instantField("since", since)
			if err != nil {
				return err
			}
			if from != nil {
				f.Since = *from
			}
			if f.Action = patra.AuditAction(strings.ToUpper(action)); action != "" && !slices.Contains(patra.AuditActions, f.Action) {
				return patra.Invalid("action", "{action} %q is none of %s", action, joined(patra.AuditActions))
			}
			s, err := a.open(c.Context())
			if err != nil {
				return err
			}
			log, err := s.AuditLog(c.Context(), f)
			if err != nil {
				return err
			}
			empty := "Nobody did anything that is written down. Next: patra pause SOURCE, patra replay RUN"
			if f != (store.AuditFilter{Limit: f.Limit}) {
				empty = "Nothing fits. patra audit list without conditions lists all there is."
			}
			return printRows(a.stdout, out, log, columns[patra.AuditEntry]{
				names: []string{"seq", "when", "who", "did", "to", "why"}, fit: true,
				row: func(e patra.AuditEntry) []any {
					return []any{e.Seq, seconds(e.At), e.Actor, e.Action, e.Target, e.Reason}
				},
				empty: empty,
			})
		},
	}
	fl := c.Flags()
	fl.StringVar(&f.Actor, "by", "", "only what this person did")
	fl.StringVar(&action, "action", "", "only this: "+joined(patra.AuditActions))
	fl.StringVar(&f.Target, "target", "", "only what was done to this, such as run:7 or crossref")
	fl.StringVar(&since, "since", "", "only at this time or later")
	fl.IntVar(&f.Limit, "limit", 100, "at most this many")
	formatFlag(c, &out)
	return c
}

func (a *app) auditVerifyCmd() *cobra.Command {
	var out format
	c := &cobra.Command{
		Use: "verify", Short: "Follow the hashes of the log from its first entry to its last", Args: noArgs,
		Long: "Verify sees whether an entry was changed, taken out, put in or moved. It names the first one that does not fit; exit\ncode 1. Whoever can write the tables can also write a whole new log: note the last hash elsewhere now and then.",
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := a.open(c.Context())
			if err != nil {
				return err
			}
			n, broken, err := s.VerifyAudit(c.Context())
			if err != nil {
				return err
			}
			last, err := s.AuditLog(c.Context(), store.AuditFilter{Limit: 1})
			if err != nil {
				return err
			}
			found := struct {
				Entries int64             `json:"entries"`
				Last    string            `json:"last_hash,omitempty"`
				Broken  *patra.AuditBreak `json:"broken,omitempty"`
			}{Entries: n, Broken: broken}
			if len(last) > 0 {
				found.Last = last[0].Hash
			}
			switch {
			case out != "table":
				if err := printValue(a.stdout, out, found); err != nil {
					return err
				}
			case broken == nil && n == 0:
				fmt.Fprintln(a.stdout, "The log is empty.")
			case broken == nil:
				fmt.Fprintf(a.stdout, "The log holds together: %s %s.\nlast hash  %s\n", thousands(n), verb(n, "entry", "entries"), found.Last)
			}
			if broken != nil {
				return fmt.Errorf("entry %d does not fit: %s. The %d before it are as they were written; find out who changes the tables by hand, and compare with a copy of the store", broken.Seq, broken.Why, broken.Seq-1)
			}
			return nil
		},
	}
	formatFlag(c, &out)
	return c
}
