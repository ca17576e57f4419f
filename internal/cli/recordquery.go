package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"patra"
	"patra/internal/store"
)

// recordFilterFlags are what a person can say about records.
type recordFilterFlags struct {
	where, fields                    []string
	changedSince, from, to, idPrefix string
	recordType, repository           string
	deleted, missing, gone           bool
	limit                            int64
}

func (a *app) recordQueryCmd() *cobra.Command {
	var f recordFilterFlags
	var out format
	c := &cobra.Command{
		Use: "query [SOURCE]", Short: "Find records by what they say and when they changed", Args: atMostOne,
		Long: "Query finds stored records. Conditions on fields are field=value, field!=value, field~text (contains), and >=, <=, >, <,\nwhich compare numbers as numbers and everything else as text. A list is what any of its members is. All conditions must hold.",
		Example: `  patra records query crossref --where type=book-chapter --where 'published>=2026' --fields title,publisher
  patra records query --changed-since 2026-11-01 -o jsonl > changed.jsonl
  patra records query pubmed --where 'title~heart failure' --limit 20`,
		RunE: func(c *cobra.Command, args []string) error {
			q, err := f.query(args)
			if err != nil {
				return err
			}
			s, err := a.open(c.Context())
			if err != nil {
				return err
			}
			return a.showFound(c, s, q, out, f.fields)
		},
	}
	fl := c.Flags()
	fl.StringArrayVar(&f.where, "where", nil, "condition on a field, such as type=book or title~heart; may be given several times")
	fl.StringSliceVar(&f.fields, "fields", nil, "only these fields, such as title,doi")
	fl.StringVar(&f.changedSince, "changed-since", "", "only what changed here since: 2026-01-31 or 2026-01-31T09:30:00Z")
	fl.StringVar(&f.from, "updated-from", "", "only what the provider changed from then on")
	fl.StringVar(&f.to, "updated-to", "", "only what the provider changed before")
	fl.StringVar(&f.idPrefix, "id-prefix", "", "only ids that begin like this")
	fl.StringVar(&f.recordType, "type", "", "only this record type")
	fl.StringVar(&f.repository, "repository", "", "only records of this repository, of a source that has several")
	fl.BoolVar(&f.deleted, "deleted", false, "only what the provider deleted")
	fl.BoolVar(&f.missing, "missing", false, "only what the provider refused when asked by id, and what is not gone yet")
	fl.BoolVar(&f.gone, "gone", false, "only what the provider refused so often that it is gone; with --missing both")
	fl.Int64Var(&f.limit, "limit", 100, "at most this many, oldest first; 0 is all")
	formatFlag(c, &out)
	return c
}

// query turns the flags into what the store understands.
func (f recordFilterFlags) query(args []string) (q store.RecordQuery, err error) {
	q = store.RecordQuery{Type: f.recordType, IDPrefix: f.idPrefix, Repository: f.repository, Deleted: f.deleted, Missing: f.missing, Gone: f.gone, Limit: f.limit}
	if len(args) > 0 {
		q.Source = args[0]
	}
	if f.limit < 0 {
		return q, patra.Invalid("limit", "{limit} %d is less than nothing", f.limit)
	}
	for _, text := range f.where {
		t, err := patra.ParseFieldTest(text)
		if err != nil {
			return q, patra.Invalid("where", "{where}: %s", err)
		}
		q.Where = append(q.Where, t)
	}
	for _, at := range []struct {
		field, text string
		into        **patra.Instant
	}{{"changed_since", f.changedSince, &q.ChangedSince}, {"updated_from", f.from, &q.UpdatedFrom}, {"updated_to", f.to, &q.UpdatedTo}} {
		if *at.into, err = instantField(at.field, at.text); err != nil {
			return q, err
		}
	}
	return q, nil
}

// showFound prints records as they come. A table is printed when all of them are there; it never holds more than a person
// can read.
func (a *app) showFound(c *cobra.Command, s *store.Store, q store.RecordQuery, out format, fields []string) error {
	if out == "jsonl" {
		w := bufio.NewWriterSize(a.stdout, 1<<16)
		err := s.Find(c.Context(), q, func(r patra.Record) error { return printJSON(w, patra.SummarizeRecord(r, fields), "") })
		if err != nil {
			return err
		}
		return patra.Environment(w.Flush())
	}
	all := []patra.RecordSummary{}
	err := s.Find(c.Context(), q, func(r patra.Record) error {
		all = append(all, patra.SummarizeRecord(r, fields))
		return nil
	})
	if err != nil {
		return err
	}
	if len(all) == 0 && q.Source != "" {
		if _, err := a.target(c.Context(), s, q.Source); err != nil {
			return err
		}
	}
	if len(all) == 0 {
		if err := a.unmapped(c.Context(), s, q); err != nil {
			return err
		}
	}
	if len(fields) == 0 {
		fields = []string{"title"}
	}
	err = printRows(a.stdout, out, all, columns[patra.RecordSummary]{
		names: append([]string{"source", "id", "rev", "changed here", "provider's time", "standing"}, fields...),
		row: func(r patra.RecordSummary) []any {
			row := []any{r.Source, r.ID, r.Rev, seconds(r.ChangedAt), shortly(r.UpdatedAt), strings.Join(summaryFlags(r), ", ")}
			for _, name := range fields {
				row = append(row, shorten(plainText(r.Fields[name])))
			}
			return row
		},
		repository: func(r patra.RecordSummary) string { return r.Repository },
		empty:      "No records fit. patra records query SOURCE without conditions shows what there is; patra records why SOURCE ID tells about one.",
	})
	if err == nil && out == "table" && q.Limit > 0 && int64(len(all)) == q.Limit {
		_, err = fmt.Fprintf(a.stderr, "These are the first %s; --limit 0 shows all of them.\n", thousands(q.Limit))
	}
	return err
}

// summaryFlags is what is out of the ordinary about a record, in a word or two.
func summaryFlags(r patra.RecordSummary) (words []string) {
	for _, w := range []struct {
		word string
		is   bool
	}{{"deleted", r.Deleted && r.MergedInto == ""}, {"merged", r.MergedInto != ""}, {"retracted", r.Retracted}, {"missing", r.Missing != nil && r.GoneAt == nil}, {"gone", r.GoneAt != nil}} {
		if w.is {
			words = append(words, w.word)
		}
	}
	return words
}

// plainText is a field for a table: a text as it is, everything else as JSON.
func plainText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

// shortText is how much of a field a table shows.
const shortText = 60

func shorten(text string) string {
	runes := []rune(text)
	if len(runes) <= shortText {
		return text
	}
	return string(runes[:shortText-1]) + "…"
}

// unmapped remarks on conditions about fields that no present source has: that is why nothing fits.
func (a *app) unmapped(ctx context.Context, s *store.Store, q store.RecordQuery) error {
	sources := []string{q.Source}
	if q.Source == "" {
		var err error
		if sources, err = s.RecordSources(ctx); err != nil {
			return err
		}
	}
	known := map[string]bool{}
	for _, code := range sources {
		file, _, err := a.activeSource(ctx, code)
		if err != nil { // its file is gone, and nobody knows what it mapped
			return nil
		}
		for name := range file.Mapping {
			known[name] = true
		}
		for _, e := range file.Endpoints {
			for name := range e.Mapping {
				known[name] = true
			}
		}
	}
	for _, test := range q.Where {
		if len(known) > 0 && !known[test.Path[0]] {
			fmt.Fprintf(a.stderr, "No source maps %s now; mapped are %s.\n", test.Path[0], strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
	}
	return nil
}
