package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"patra"
	"patra/internal/alert"
	"patra/internal/api"
	"patra/internal/config"
	"patra/internal/store"
)

func (a *app) alertsCmd() *cobra.Command {
	var out format
	var all bool
	var limit int
	c := &cobra.Command{
		Use: "alerts", Short: "Show what needs a person now, and who was told", Args: noArgs,
		Long:    "Alerts shows what needs a person: as a process that plans remembers it, or, where none looks, what is so at this moment.\nWhat is pending must last a while before anybody is told. docs/alerts.md has what each kind means and what to do.",
		Example: "  patra alerts\n  patra alerts --all                        also those that are over\n  patra alerts ack 7 --for 4h --reason 'the provider knows'\n  patra alerts test                         send a test to every receiver",
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := a.open(c.Context())
			if err != nil {
				return err
			}
			return a.showAlerts(c.Context(), s, out, all, limit)
		},
	}
	c.Flags().BoolVar(&all, "all", false, "also those that are over, newest first")
	c.Flags().IntVar(&limit, "limit", 100, "at most this many of those that are over")
	formatFlag(c, &out)
	c.AddCommand(a.alertsAckCmd(), a.alertsTestCmd())
	return c
}

// alertReport is everything about alerts, for programs.
type alertReport struct {
	alert.Status
	History   []patra.StoredAlert   `json:"history,omitempty"`
	Receivers []patra.ReceiverState `json:"receivers"`
}

func (a *app) showAlerts(ctx context.Context, s *store.Store, out format, all bool, limit int) error {
	cfg, err := a.load()
	if err != nil {
		return err
	}
	r := alertReport{}
	if r.Status, err = a.alertEvaluator(cfg, s).Status(ctx, time.Duration(cfg.Alerts.Every)); err != nil {
		return err
	}
	if r.Receivers, err = a.alertEvaluator(cfg, s).ReceiverStates(ctx); err != nil {
		return err
	}
	if all {
		if r.History, err = s.AlertHistory(ctx, store.ListPage{Limit: limit}); err != nil {
			return err
		}
	}
	if out != "table" {
		return printValue(a.stdout, out, r)
	}
	if err := printRows(a.stdout, out, append(slices.Clone(r.Items), r.History...), alertColumns); err != nil {
		return err
	}
	if !r.Watched {
		fmt.Fprintln(a.stdout, wrapped(r.Said+" Next: patra serve", 0))
	}
	for _, st := range r.Receivers {
		if said := receiverTrouble(st); said != "" {
			fmt.Fprintln(a.stdout, wrapped(said, 0))
		}
	}
	if len(r.Items) > 0 {
		fmt.Fprintln(a.stdout, wrapped("Next: "+r.Items[0].Next, 0))
	}
	return nil
}

// receiverTrouble is what is wrong with a receiver; empty if nothing is.
func receiverTrouble(st patra.ReceiverState) string {
	switch {
	case st.Gone && st.Waiting > 0:
		return fmt.Sprintf("%s is not in patra.yaml any more (%s waiting for it).", st.Name, plural(st.Waiting, "notice"))
	case st.Failures > 0 && !st.Gone:
		return fmt.Sprintf("Notices do not reach %s (%s, %s since %s): %s Next: patra alerts test %s", st.Name, plural(st.Waiting, "notice"), plural(st.Failures, "attempt"), seconds(*st.FailedAt), stopped(st.Error), st.Name)
	}
	return ""
}

var alertColumns = columns[patra.StoredAlert]{
	names: []string{"id", "state", "severity", "kind", "target", "since", "told", "says"}, fit: true,
	row: func(h patra.StoredAlert) []any {
		state := strings.ToLower(string(h.State))
		if h.Silenced {
			state = "acked"
		}
		since := h.FirstAt
		if h.ID == 0 && h.Since != nil {
			since = *h.Since
		}
		said := h.Said
		if h.ResolvedAt != nil {
			said += " Over at " + seconds(*h.ResolvedAt) + "."
		}
		if h.Ack != nil {
			said += fmt.Sprintf(" Acknowledged by %s", h.Ack.By)
			if h.Ack.Until != nil {
				said += " until " + seconds(*h.Ack.Until)
			}
			if h.Ack.Reason != "" {
				said += ": " + h.Ack.Reason
			}
		}
		return []any{unlessZero(h.ID), state, h.Severity, h.Kind, h.Target, seconds(since), toldOf(h), alert.OneLine(said, 800)}
	},
	empty: "Nothing needs a person.",
}

// toldOf names those who were told that an alert fires.
func toldOf(h patra.StoredAlert) string {
	var names []string
	for _, n := range h.Notices {
		if n.State == patra.NoticeSent && !slices.Contains(names, n.Receiver) {
			names = append(names, n.Receiver)
		}
	}
	return strings.Join(names, " ")
}

func (a *app) alertsAckCmd() *cobra.Command {
	var reason, lasts string
	var out format
	c := &cobra.Command{
		Use: "ack ID", Short: "Say that you have seen an alert: nobody is told of it again", Args: exactArgs("ID"),
		Long:    "Ack notes that somebody sees to an alert. It is shown as such, and not told again: for as long as --for says, also if it ends\nand comes back; without it until it is over. Whoever was told that it fires is told when it is over.",
		Example: "  patra alerts ack 7 --for 4h --reason 'the provider knows'",
		RunE: func(c *cobra.Command, args []string) error {
			id, err := strconv.ParseInt(args[0], 10, 64)
			if err != nil || id <= 0 {
				return patra.Invalid("", "%q is not the id of an alert; see patra alerts", args[0])
			}
			if strings.TrimSpace(reason) == "" {
				return patra.Invalid("reason", "patra alerts ack needs {reason}: those who were told want to know")
			}
			var length config.Duration
			if lasts != "" {
				if err := length.UnmarshalText([]byte(lasts)); err != nil || length == 0 {
					return patra.Invalid("for", "{for} %q is no length of time; write one such as 4h or 2d", lasts)
				}
			}
			s, err := a.open(c.Context())
			if err != nil {
				return err
			}
			done, err := api.Acknowledge(c.Context(), s, id, time.Duration(length), actor(c.Context()), reason)
			switch {
			case errors.Is(err, patra.ErrNotFound):
				return patra.Absent("there is no alert %d; see patra alerts", id)
			case errors.Is(err, patra.ErrIllegalMove):
				return patra.Invalid("", "alert %d is over already; see patra alerts --all", id)
			case err != nil:
				return err
			}
			if out != "table" {
				return printValue(a.stdout, out, done)
			}
			fmt.Fprintf(a.stdout, "%s\n%s\n", wrapped(done.Said, 0), wrapped("Next: "+done.Next, 0))
			return nil
		},
	}
	c.Flags().StringVar(&lasts, "for", "", "how long nobody is told again, such as 4h; without it until it is over")
	reasonFlag(c, &reason)
	formatFlag(c, &out)
	return c
}

// receiverTest is what became of a test message.
type receiverTest struct {
	Receiver string `json:"receiver"`
	Arrived  bool   `json:"arrived"`
	Answer   string `json:"answer,omitempty"`
	Error    string `json:"error,omitempty"`
}

func (a *app) alertsTestCmd() *cobra.Command {
	var out format
	c := &cobra.Command{
		Use: "test [RECEIVER]", Short: "Send a test message to a receiver of alerts, or to all, and show what comes back", Args: atMostOne,
		RunE: func(c *cobra.Command, args []string) error {
			done, err := a.testReceivers(c.Context(), args)
			if err != nil {
				return err
			}
			if err := printRows(a.stdout, out, done, columns[receiverTest]{
				names: []string{"receiver", "arrived", "says"}, fit: true,
				row: func(t receiverTest) []any {
					if t.Arrived {
						return []any{t.Receiver, "yes", t.Answer}
					}
					return []any{t.Receiver, "no", t.Error}
				}}); err != nil {
				return err
			}
			var missed []string
			for _, t := range done {
				if !t.Arrived {
					missed = append(missed, t.Receiver)
				}
			}
			if len(missed) > 0 {
				return patra.Environment(fmt.Errorf("the test did not reach %s; see url, template and secret under alerts.notify in patra.yaml", strings.Join(missed, ", ")))
			}
			return nil
		},
	}
	formatFlag(c, &out)
	return c
}

func (a *app) testReceivers(ctx context.Context, names []string) ([]receiverTest, error) {
	cfg, err := a.load()
	if err != nil {
		return nil, err
	}
	var known []string
	for _, n := range cfg.Alerts.Notify {
		known = append(known, n.Name)
	}
	if len(known) == 0 {
		return nil, patra.Invalid("", "there are no receivers of alerts; write some under alerts.notify in patra.yaml")
	}
	if len(names) > 0 && !slices.Contains(known, names[0]) {
		return nil, patra.Absent("there is no receiver %q in patra.yaml; there are: %s", names[0], strings.Join(known, ", "))
	}
	var done []receiverTest
	for _, n := range cfg.Alerts.Notify {
		if len(names) > 0 && n.Name != names[0] {
			continue
		}
		t := receiverTest{Receiver: n.Name}
		h, err := a.hook(n)
		if err == nil {
			t.Answer, err = h.Post(ctx, alert.TestMessage(now()))
		}
		if t.Arrived = err == nil; err != nil {
			t.Error = err.Error()
		}
		done = append(done, t)
	}
	return done, nil
}

// examineAlerts looks whether somebody looks for alerts, and whether those who are told can be reached.
func (a *app) examineAlerts(ctx context.Context) (found []finding, err error) {
	cfg, err := a.load()
	if err != nil || cfg.Alerts.Every == 0 {
		return nil, err
	}
	at, _, err := a.store.LastAlertEvaluation(ctx)
	if err != nil {
		return nil, err
	}
	if len(cfg.Alerts.Notify) > 0 && now().Sub(at) > alert.StaleAfter(time.Duration(cfg.Alerts.Every)) {
		found = append(found, warn("alerts", "Start patra serve, with the role planner", "There are receivers of alerts, and nobody looks for any"))
	}
	all, err := a.alertEvaluator(cfg, a.store).ReceiverStates(ctx)
	for _, st := range all {
		if st.Failures > 0 && !st.Gone {
			found = append(found, warn("alerts", "Say patra alerts test "+st.Name, "Notices do not reach %s: %s", st.Name, st.Error))
		}
	}
	return found, err
}
