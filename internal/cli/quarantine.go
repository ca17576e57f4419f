package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"patra"
	"patra/internal/store"
)

// quarantineEmpty does not say more than was asked.
func quarantineEmpty(f store.QuarantineFilter) string {
	if f.Limit = 0; f != (store.QuarantineFilter{}) {
		return "Nothing in quarantine fits. patra quarantine list without conditions lists all there is."
	}
	return "Nothing is in quarantine: every item that came became a record."
}

func (a *app) quarantineCmd() *cobra.Command {
	c := &cobra.Command{
		Use: "quarantine", Short: "Look at items that could not become records, and mend them", Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.quarantineListCmd(), a.quarantineShowCmd(), a.quarantineRetryCmd(), a.quarantineDiscardCmd())
	return c
}

// quarantineFlags narrow what is meant.
type quarantineFlags struct {
	f      store.QuarantineFilter
	status string
}

func (q *quarantineFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&q.f.Source, "source", "", "only this source")
	c.Flags().StringVar(&q.f.Code, "code", "", "only this reason, such as MISSING_ID")
	c.Flags().StringVar(&q.f.RecordID, "id", "", "only the item of this record")
}

func (a *app) quarantineListCmd() *cobra.Command {
	var q quarantineFlags
	var each bool
	var out format
	c := &cobra.Command{
		Use: "list", Short: "List what is in quarantine, by source and reason", Args: noArgs,
		Example: "  patra quarantine list\n  patra quarantine list --each --code MISSING_ID",
		RunE: func(c *cobra.Command, _ []string) (err error) {
			if q.f.Status, err = knownStatus(q.status, patra.QuarantineMoves); err != nil {
				return err
			}
			s, err := a.open(c.Context())
			if err != nil {
				return err
			}
			if each {
				return a.listEach(c.Context(), s, q.f, out)
			}
			groups, err := s.QuarantineGroups(c.Context(), q.f)
			if err != nil {
				return err
			}
			if len(groups) == 0 && q.f.Source != "" {
				if _, err := a.target(c.Context(), s, q.f.Source); err != nil {
					return err
				}
			}
			return printRows(a.stdout, out, groups, columns[store.QuarantineGroup]{
				names: []string{"source", "reason", "field", "status", "items", "first seen", "last seen", "example"}, fit: true,
				row: func(g store.QuarantineGroup) []any {
					return []any{g.Source, g.Code, g.Path, g.Status, g.Count, seconds(g.FirstSeen), seconds(g.LastSeen), g.Example}
				},
				empty: quarantineEmpty(q.f),
			})
		},
	}
	q.add(c)
	c.Flags().StringVar(&q.status, "status", "", "only this state: OPEN, RETRYING, RESOLVED, DISCARDED")
	c.Flags().BoolVar(&each, "each", false, "one line for each item")
	c.Flags().IntVar(&q.f.Limit, "limit", 100, "at most this many, newest first (with --each)")
	formatFlag(c, &out)
	return c
}

func (a *app) listEach(ctx context.Context, s *store.Store, f store.QuarantineFilter, out format) error {
	items, err := s.Quarantine(ctx, f)
	if err != nil {
		return err
	}
	return printRows(a.stdout, out, items, columns[patra.QuarantineItem]{
		names: []string{"id", "source", "record", "reason", "field", "status", "met", "bytes", "first seen"}, fit: true,
		row: func(q patra.QuarantineItem) []any {
			return []any{q.ID, q.Source, q.RecordID, q.Code, q.Path, q.Status, q.Met, q.Size, seconds(q.FirstSeen)}
		},
		repository: func(q patra.QuarantineItem) string { return q.Repository },
		empty:      quarantineEmpty(f),
	})
}

func (a *app) quarantineShowCmd() *cobra.Command {
	var raw bool
	var out format
	c := &cobra.Command{
		Use: "show ID", Short: "Show one item with what the provider sent", Args: exactArgs("ID"),
		Example: "  patra quarantine show 3\n  patra quarantine show 3 --raw > item.json",
		RunE: func(c *cobra.Command, args []string) error {
			s, err := a.open(c.Context())
			if err != nil {
				return err
			}
			q, err := setAside(c.Context(), s, args[0])
			if err != nil {
				return err
			}
			switch {
			case raw:
				_, err := a.stdout.Write(q.Fragment)
				return err
			case out != "table":
				return printValue(a.stdout, out, struct {
					patra.QuarantineItem
					Fragment string `json:"fragment"`
				}{q, string(bytes.ToValidUTF8(q.Fragment, []byte("\ufffd")))})
			}
			printSetAside(a.stdout, q)
			return nil
		},
	}
	c.Flags().BoolVar(&raw, "raw", false, "only what the provider sent, byte for byte")
	formatFlag(c, &out)
	return c
}

// setAside finds an item by what a person typed.
func setAside(ctx context.Context, s *store.Store, word string) (patra.QuarantineItem, error) {
	id, err := strconv.ParseInt(word, 10, 64)
	if err != nil {
		return patra.QuarantineItem{}, patra.Invalid("", "%q is not the number of an item; patra quarantine list --each shows them", word)
	}
	q, err := s.QuarantineItem(ctx, id)
	if errors.Is(err, patra.ErrNotFound) {
		err = patra.Absent("there is no item %d in quarantine; patra quarantine list --each shows them", id)
	}
	return q, err
}

// What a terminal shows of a fragment.
const (
	shownBytes = 4000
	wideLine   = 200
)

func printSetAside(w io.Writer, q patra.QuarantineItem) {
	fmt.Fprintf(w, "Item      %d, %s, %s\n", q.ID, q.Source, q.Status)
	if q.RecordID != "" {
		fmt.Fprintf(w, "Record    %s\n", q.RecordID)
	}
	fmt.Fprintf(w, "Reason    %s", q.Code)
	if q.Path != "" {
		fmt.Fprintf(w, " at %s", q.Path)
	}
	if q.Reason != "" {
		fmt.Fprintf(w, "; %s", q.Reason)
	}
	fmt.Fprintf(w, "\nMet       %s, first %s, last %s\n", times(q.Met), seconds(q.FirstSeen), seconds(q.LastSeen))
	if l := q.Lineage; l != nil {
		fmt.Fprintf(w, "Lineage   plan %d, slice %d, task %d, run %d, batch %d\n", l.Plan, l.Slice, l.Task, l.Run, l.Batch)
	}
	fmt.Fprintf(w, "Fragment  %s\n%s", plural(q.Size, "byte"), readable(w, q.Fragment))
}

// readable is a fragment for a terminal: JSON indented, nothing that a terminal would take for a command, lines and the
// whole of it cut.
func readable(w io.Writer, fragment []byte) string {
	var b bytes.Buffer
	if json.Indent(&b, fragment, "", "  ") != nil {
		b.Reset()
		b.Write(fragment)
	}
	width, ok := terminalWidth(w)
	if !ok {
		width = wideLine
	}
	var out bytes.Buffer
	cut := b.Len() > shownBytes
	for line := range bytes.Lines(b.Bytes()[:min(b.Len(), shownBytes)]) {
		out.WriteString("  " + plainLine(line, width-3) + "\n")
	}
	if cut {
		out.WriteString("  … --raw shows all of it\n")
	}
	return out.String()
}

func plainLine(line []byte, width int) string {
	var out []rune
	for _, r := range string(bytes.ToValidUTF8(bytes.TrimRight(line, "\r\n"), []byte("\ufffd"))) {
		if r == '\t' {
			r = ' '
		}
		if r < ' ' || r == 0x7f || (r >= 0x80 && r < 0xa0) {
			r = utf8.RuneError
		}
		if out = append(out, r); len(out) == width {
			return string(out) + "…"
		}
	}
	return string(out)
}

func (a *app) quarantineDiscardCmd() *cobra.Command {
	var reason string
	var out format
	c := &cobra.Command{
		Use: "discard ID...", Short: "Give items up, with a reason", Args: atLeastOne("ID"),
		Example: `  patra quarantine discard 3 --reason "a test record of theirs"`,
		RunE: func(c *cobra.Command, args []string) error {
			if reason == "" {
				return patra.Invalid("reason", "say with {reason} why they are given up; it is kept")
			}
			s, err := a.open(c.Context())
			if err != nil {
				return err
			}
			all := []discardResult{}
			for _, word := range args {
				q, err := setAside(c.Context(), s, word)
				if err != nil {
					return err
				}
				done, err := discard(c.Context(), s, q, reason)
				if err != nil {
					return err
				}
				if all = append(all, done); out == "table" {
					fmt.Fprintln(a.stdout, done.Said)
				}
			}
			if out == "table" {
				return nil
			}
			return printRows(a.stdout, out, all, columns[discardResult]{})
		},
	}
	c.Flags().StringVar(&reason, "reason", "", "why")
	formatFlag(c, &out)
	return c
}

// discardResult is an item that was given up.
type discardResult struct {
	ID   int64  `json:"id"`
	Said string `json:"said"`
	Next string `json:"next,omitempty"`
}

// discard gives an item up, and writes down who did.
func discard(ctx context.Context, s *store.Store, q patra.QuarantineItem, reason string) (discardResult, error) {
	no := func(err error) error {
		return illegal(err, "item %d is %s; only what is open can be discarded", q.ID, q.Status)
	}
	if err := patra.QuarantineMoves.Check(q.Status, patra.Discarded); err != nil {
		return discardResult{}, no(err)
	}
	return discardResult{ID: q.ID, Said: fmt.Sprintf("Item %d is discarded.", q.ID)}, no(s.Discard(ctx, q.ID, reason, actor(ctx)))
}

// illegal turns a step that a state does not allow into a sentence.
func illegal(err error, format string, args ...any) error {
	if errors.Is(err, patra.ErrIllegalMove) {
		return patra.Invalid("", format, args...)
	}
	return err
}

// atLeastOne asks for one argument or more.
func atLeastOne(name string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			return nil
		}
		return patra.Invalid("", "%s needs: %s...", c.CommandPath(), name)
	}
}
