package cli

import (
	"encoding/json"
	"strings"

	"github.com/spf13/cobra"

	"patra"
	"patra/internal/store"
)

func (a *app) eventsCmd() *cobra.Command {
	c := &cobra.Command{
		Use: "events", Short: "Look at what is told to sinks", Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.eventsListCmd())
	return c
}

func (a *app) eventsListCmd() *cobra.Command {
	var since, source, kind string
	var limit int
	var out format
	c := &cobra.Command{
		Use: "list", Short: "List events, newest first", Args: noArgs,
		Long:    "List shows the events that sinks get, whether there are sinks or not. With -o jsonl they are the CloudEvents themselves.",
		Example: "  patra events list --type record.deleted --since 2026-11-01\n  patra events list --source pubmed -o jsonl",
		RunE: func(c *cobra.Command, _ []string) error {
			q := store.EventQuery{Source: source, Limit: limit}
			if since != "" {
				at, err := patra.ParseInstant(since)
				if err != nil {
					return patra.Invalid("since", "{since} %q is no time; write 2026-11-01 or 2026-11-01T12:00:00Z", since)
				}
				q.Since = at
			}
			if kind != "" {
				if !patra.EventPattern(kind).Known() {
					return patra.Invalid("type", "{type} %q is no type of event; write record.*, plan.*, task.* or cursor.*, or one of them such as %s", kind, strings.TrimPrefix(string(patra.EventUpserted), "patra."))
				}
				q.Type = "patra." + strings.ReplaceAll(strings.TrimPrefix(kind, "patra."), "*", "%")
			}
			s, err := a.open(c.Context())
			if err != nil {
				return err
			}
			for n := 1; n > 0; { // what was never sent has no number yet
				if n, _, err = s.AssignSequence(c.Context()); err != nil {
					return err
				}
			}
			events, err := s.Events(c.Context(), q)
			if err != nil {
				return err
			}
			cols := eventColumns
			if since+source+kind != "" {
				cols.empty = "Nothing fits. patra events list without conditions lists all there is."
			}
			return printRows(a.stdout, out, events, cols)
		},
	}
	fl := c.Flags()
	fl.StringVar(&since, "since", "", "only what happened since then")
	fl.StringVar(&source, "source", "", "only this source")
	fl.StringVar(&kind, "type", "", "only this type, such as record.upserted or task.*")
	fl.IntVar(&limit, "limit", 100, "at most this many, newest first")
	formatFlag(c, &out)
	return c
}

var eventColumns = columns[patra.Event]{
	names: []string{"no", "time", "type", "subject", "says"}, fit: true,
	row: func(e patra.Event) []any {
		return []any{e.Seq, seconds(e.Time), strings.TrimPrefix(string(e.Type), "patra."), shortened(e.Subject, 20), eventText(e)}
	},
	empty: "No events. " + emptyNext,
}

// shortened fits a text into a column: of a long one the end tells more.
func shortened(text string, width int) string {
	if r := []rune(text); len(r) > width {
		return "…" + string(r[len(r)-width+1:])
	}
	return text
}

// eventText is what an event says, in a word or two.
func eventText(e patra.Event) string {
	var d struct {
		Rev     int64    `json:"rev"`
		Changes []string `json:"changes"`
		Status  string   `json:"status"`
		To      string   `json:"to"`
	}
	if json.Unmarshal(e.Data, &d) != nil {
		return ""
	}
	switch {
	case d.Rev > 0:
		return strings.TrimSpace("rev " + thousands(d.Rev) + " " + strings.Join(d.Changes, " "))
	case e.Type == patra.EventCursorAdvanced:
		return "to " + strings.TrimSuffix(d.To, "T00:00:00.000Z")
	}
	return d.Status
}
