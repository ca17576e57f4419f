package cli

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"patra"
	"patra/internal/store"
	"patra/internal/view"
)

func (a *app) signalCmd() *cobra.Command {
	c := &cobra.Command{
		Use: "signal", Short: "Ask for records to be looked at again", Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.signalAddCmd(), listCmd(a, "list", "List signals", []string{"plan"}, patra.SignalMoves,
		func(ctx context.Context, s *store.Store, f store.Filter) ([]store.SignalRow, error) {
			return s.Signals(ctx, f)
		},
		columns[store.SignalRow]{
			names: []string{"id", "source", "record", "reason", "because of", "status", "plan", "since"},
			row: func(r store.SignalRow) []any {
				return []any{r.ID, r.Source, r.RecordID, r.Reason, r.By, r.Status, unlessZero(r.PlanID), seconds(r.CreatedAt)}
			},
			repository: func(r store.SignalRow) string { return r.Repository },
			empty:      "No signals. Next: patra signal add SOURCE ID --reason MANUAL",
		}))
	return c
}

func (a *app) signalAddCmd() *cobra.Command {
	var reason, file, recordType, repository string
	var out format
	c := &cobra.Command{
		Use: "add SOURCE [ID...]", Short: "Ask for records to be fetched again by their ids", Args: atLeastOne("SOURCE"),
		Long:    "Add notes that records should be looked at again. patra update SOURCE --signals works through what is noted. At most one\nsignal is open for each record and reason.",
		Example: "  patra signal add crossref 10.5555/abc --reason RETRACTED\n  patra signal add pubmed --file pmids.txt --reason MANUAL",
		RunE: func(c *cobra.Command, args []string) error {
			why := patra.SignalReason(strings.ToUpper(reason))
			if !slices.Contains(patra.SignalReasons, why) {
				return patra.Invalid("reason", "{reason} %q is not known; write one of %s", reason, joined(patra.SignalReasons))
			}
			ids, err := readIDs(args[1:], file)
			if err != nil {
				return err
			}
			if len(ids) == 0 {
				return patra.Invalid("", "name at least one id, or a file of ids with {file}")
			}
			if _, _, err := a.activeSource(c.Context(), args[0]); err != nil { // before a store is made for nothing
				return err
			}
			s, err := a.openOrCreate(c.Context())
			if err != nil {
				return err
			}
			done, err := a.addSignals(c.Context(), s, view.RecordName{Source: args[0], Type: recordType, Repository: repository}, ids, why)
			if err != nil {
				return err
			}
			if out != "table" {
				return printValue(a.stdout, out, done)
			}
			fmt.Fprintln(a.stdout, done.Said)
			if done.Next != "" {
				fmt.Fprintln(a.stdout, "Next: "+done.Next)
			}
			return nil
		},
	}
	c.Flags().StringVar(&reason, "reason", string(patra.SignalManual), "why: "+joined(patra.SignalReasons))
	c.Flags().StringVar(&file, "file", "", "file with one id a line")
	c.Flags().StringVar(&recordType, "type", "", "record type, if the source has several")
	c.Flags().StringVar(&repository, "repository", "", "repository of the records, where the source has several")
	formatFlag(c, &out)
	return c
}

// signalResult is what came of asking for records to be fetched again.
type signalResult struct {
	Source string             `json:"source"`
	Reason patra.SignalReason `json:"reason"`
	IDs    int                `json:"ids"`
	Added  int                `json:"added"`
	Open   int                `json:"open_already"`
	ByID   bool               `json:"by_id"` // the source can be asked by id
	Said   string             `json:"said"`
	Next   string             `json:"next,omitempty"`
}

// addSignals notes that records should be looked at again, and who said so.
func (a *app) addSignals(ctx context.Context, s *store.Store, of view.RecordName, ids []string, why patra.SignalReason) (done signalResult, err error) {
	f, _, err := a.activeSource(ctx, of.Source)
	if err != nil {
		return done, err
	}
	if f.HasRepositories() != (of.Repository != "") {
		if of.Repository != "" {
			return done, patra.Invalid("repository", "%s is one provider and has no repositories", of.Source)
		}
		return done, patra.Invalid("repository", "%s has many repositories, and their ids may be the same; say which one with {repository}", of.Source)
	}
	added, err := s.AddSignals(ctx, now(), f.Code, cmp.Or(of.Type, f.RecordType), of.Repository, ids, why, "", actor(ctx))
	done = signalResult{Source: f.Code, Reason: why, IDs: len(ids), Added: added, Open: len(ids) - added, ByID: f.ByID() != "",
		Said: fmt.Sprintf("%s noted, %d were open already.", plural(int64(added), "signal"), len(ids)-added), Next: fmt.Sprintf("patra update %s --signals", f.Code)}
	if !done.ByID {
		done.Next = ""
		done.Said += fmt.Sprintf("\n%s cannot be asked by id, so nobody will work through them.", f.Code)
	}
	return done, err
}

func joined[T ~string](words []T) string {
	var all []string
	for _, w := range words {
		all = append(all, string(w))
	}
	return strings.Join(all, ", ")
}

// longestID is what the store keeps of an id.
const longestID = 512

// readIDs are ids that are named and those of a file, one a line; empty lines and those that begin with # are left out.
func readIDs(named []string, file string) ([]string, error) {
	ids := slices.Clone(named)
	if file != "" {
		f, err := os.Open(file)
		if err != nil {
			return nil, patra.Environment(err)
		}
		defer f.Close()
		lines := bufio.NewScanner(f)
		for lines.Scan() {
			if id := strings.TrimSpace(lines.Text()); id != "" && !strings.HasPrefix(id, "#") {
				ids = append(ids, id)
			}
		}
		if err := lines.Err(); err != nil {
			return nil, patra.Invalid("", "%s: %s", file, err)
		}
	}
	for _, id := range ids {
		if id == "" || len(id) > longestID {
			return nil, patra.Invalid("", "an id has between 1 and %d bytes; %q has %d", longestID, shorten(id), len(id))
		}
	}
	return ids, nil
}
