package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"patra"
	"patra/internal/store"
)

func (a *app) controlsCmd() *cobra.Command {
	var out format
	c := &cobra.Command{
		Use: "controls", Short: "List what holds work back: pauses, breakers, halts, used-up quotas and limits", Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := a.open(c.Context())
			if err != nil {
				return err
			}
			all, err := s.Controls(c.Context())
			if err != nil {
				return err
			}
			return printRows(a.stdout, out, all, controlColumns)
		},
	}
	formatFlag(c, &out)
	return c
}

var controlColumns = columns[patra.Control]{
	names: []string{"target", "kind", "state", "since", "until", "by", "why"}, fit: true,
	row: func(c patra.Control) []any {
		until := "it is resumed"
		if c.Until != 0 {
			until = seconds(c.Until)
		}
		return []any{c.Target, c.Kind, c.State, seconds(c.Detail.Since), until, c.Actor, controlReason(c)}
	},
	empty: "Nothing is held back.",
}

func controlReason(c patra.Control) string {
	switch c.Kind {
	case patra.KindLimit:
		return fmt.Sprintf("%d of %d at once: %s", c.Detail.Limit, c.Detail.Of, strings.ToLower(strings.ReplaceAll(c.Reason, "_", " ")))
	case patra.KindBreaker:
		if last := c.Detail.Recent; int64(last.Failures()) > c.Failures {
			return fmt.Sprintf("%d of the last %d requests failed: %s", last.Failures(), last.Seen, c.Reason)
		}
		return fmt.Sprintf("%s in a row: %s", plural(c.Failures, "failure"), c.Reason)
	}
	return c.Reason
}

func (a *app) healingCmd() *cobra.Command {
	var out format
	var limit int
	var task int64
	c := &cobra.Command{
		Use: "healing [SOURCE]", Short: "List what was done to go on when something went wrong, newest first", Args: atMostOne,
		RunE: func(c *cobra.Command, args []string) error {
			s, err := a.open(c.Context())
			if err != nil {
				return err
			}
			source := strings.Join(args, "")
			if source != "" {
				if _, err := a.target(c.Context(), s, source); err != nil {
					return err
				}
			}
			all, err := s.Healings(c.Context(), source, task, limit)
			if err != nil {
				return err
			}
			if all == nil {
				all = []patra.Healing{}
			}
			return printRows(a.stdout, out, all, healingColumns)
		},
	}
	c.Flags().Int64Var(&task, "task", 0, "only of this task")
	c.Flags().IntVar(&limit, "limit", 100, "at most this many")
	formatFlag(c, &out)
	return c
}

var healingColumns = columns[patra.Healing]{
	names: []string{"at", "source", "operation", "action", "because of", "task", "detail"}, fit: true,
	row: func(h patra.Healing) []any {
		return []any{seconds(h.At), h.Source + "/" + h.Endpoint, h.Operation, h.Action, h.Reason, unlessZero(h.TaskID), healingText(h)}
	},
	empty: "Nothing had to be healed.",
}

// healingText is what is kept of a healing action, in words.
func healingText(h patra.Healing) string {
	var d struct {
		Text     string        `json:"text"`
		ID       string        `json:"id"`
		Path     string        `json:"path"`
		Status   int           `json:"status"`
		Scan     int64         `json:"scan"`
		Failures int64         `json:"failures"`
		Recent   int64         `json:"recent"`
		Lately   int64         `json:"of_recent"`
		Wait     *float64      `json:"retry_after_seconds"`
		To       int64         `json:"to"`
		Of       int64         `json:"of"`
		Until    patra.Instant `json:"until"`
	}
	switch {
	case h.Action == patra.HealHalfOpen:
		return "one request tries whether it answers again"
	case h.Action == patra.HealClose:
		return "it answers again"
	case len(h.Detail) == 0:
		return ""
	case json.Unmarshal(h.Detail, &d) != nil || (d.Of == 0 && d.Text == ""):
		return string(h.Detail) // of a kind that has no words here
	}
	var said []string
	add := func(when bool, format string, args ...any) {
		if when {
			said = append(said, fmt.Sprintf(format, args...))
		}
	}
	add(d.ID != "", "%s", d.ID)
	add(d.Path != "", "at %s", d.Path)
	add(d.Status != 0, "status %d", d.Status)
	add(d.Text != "", "%s", d.Text)
	add(d.Failures > 0 && d.Failures >= d.Recent, "%s in a row", plural(d.Failures, "failure"))
	add(d.Recent > d.Failures, "%d of the last %d requests failed", d.Recent, d.Lately)
	add(d.Scan > 0, "scan %d begins", d.Scan)
	add(d.Of > 0, "%d of %d at once", d.To, d.Of)
	add(d.Wait != nil && *d.Wait > 0, "asked to wait %s", wait(d.Wait))
	add(d.Until != 0, "until %s", d.Until.Time().Format("15:04:05"))
	return strings.Join(said, ", ")
}

func wait(seconds *float64) time.Duration {
	if seconds == nil {
		return 0
	}
	return time.Duration(*seconds * float64(time.Second)).Round(100 * time.Millisecond)
}

// afterHalt is what a person does about a halt.
func afterHalt(c *patra.Control) string { return "mend that, then patra resume " + shell(c.Target) }

// waitsFor says why a foreground command has to wait, or has to end because it would wait for a person.
func waitsFor(ctx context.Context, s *store.Store, at patra.WorkScope) (hold patra.Admission, line string, err error) {
	hold, err = s.PeekAdmission(ctx, at)
	if err != nil || hold.Code != patra.WaitBreaker && hold.Code != patra.WaitQuota {
		return hold, "", err
	}
	c := hold.Control
	if hold.Code == patra.WaitQuota {
		return hold, capital(c.Reason), nil
	}
	if c.State == patra.HalfOpen {
		return hold, fmt.Sprintf("%s: one request tries whether it answers again", c.Target), nil
	}
	return hold, fmt.Sprintf("%s does not answer and is left alone until %s: %s", c.Target, c.Until.Time().Format("15:04:05"), controlReason(*c)), nil
}
