package cli

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"patra"
	"patra/internal/store"
)

// controlOutcome is what became of one target, for people and programs.
type controlOutcome struct {
	Target string `json:"target"`
	patra.ControlResult
	Said string `json:"said"`
	Next string `json:"next"`
}

// controlAction is one step of steering one target.
type controlAction func(ctx context.Context, s *store.Store, t patra.Target) (controlOutcome, error)

// to steers one target.
func (do controlAction) to(ctx context.Context, s *store.Store, t patra.Target) (controlOutcome, error) {
	st, err := do(ctx, s, t)
	st.Target = t.String()
	return st, noSuchWork(err, t)
}

const targetHelp = `A target is a place at a provider or a piece of work:

  crossref                    a source
  crossref/works              an endpoint of it
  crossref/works/HARVEST      an operation there: HARVEST, BACKFILL or UPDATE
  crossref/*/BACKFILL         an operation at every endpoint
  plan:3  slice:7  task:9     a plan, a slice or a task by its id
  cursor:2                    all work of a watermark; of a campaign it is its id`

// steerCmd is a command that steers targets, one after the other.
func (a *app) steerCmd(c *cobra.Command, do controlAction) *cobra.Command {
	var out format
	c.Args = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return patra.Invalid("", "%s needs a TARGET: %s", c.CommandPath(), patra.TargetForms)
		}
		return nil
	}
	c.Long = strings.TrimSpace(c.Long) + "\n\n" + targetHelp
	c.RunE = func(c *cobra.Command, args []string) error { return a.steerAll(c.Context(), args, out, do) }
	formatFlag(c, &out)
	return c
}

// steerAll reads all targets before it steers the first: a slip in the last must not leave half of it done.
func (a *app) steerAll(ctx context.Context, args []string, out format, do controlAction) error {
	s, err := a.open(ctx)
	if err != nil {
		return err
	}
	var targets []patra.Target
	for _, arg := range args {
		t, err := a.target(ctx, s, arg)
		if err != nil {
			return err
		}
		targets = append(targets, t)
	}
	all := []controlOutcome{}
	for _, t := range targets {
		st, err := do.to(ctx, s, t)
		if err != nil {
			return err
		}
		all = append(all, st)
	}
	if out != "table" {
		return printRows(a.stdout, out, all, columns[controlOutcome]{})
	}
	for _, st := range all {
		if err := a.done(out, st, st.Said, st.Next); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) pauseCmd() *cobra.Command {
	var reason string
	c := a.steerCmd(&cobra.Command{
		Use: "pause TARGET...", Short: "Hold work back: nothing more of it is planned or begun",
		Long:    "Pause holds work back. What is queued waits, what is running stops before its next request and goes on there later,\nand nothing more is planned. It stays so until somebody resumes it.",
		Example: "  patra pause crossref --reason 'maintenance until noon'\n  patra pause 'crossref/*/BACKFILL' plan:3",
	}, pausing(&reason))
	reasonFlag(c, &reason)
	return c
}

func pausing(reason *string) controlAction {
	return func(ctx context.Context, s *store.Store, t patra.Target) (controlOutcome, error) {
		if err := refuseFinished(ctx, s, t, "hold back"); err != nil {
			return controlOutcome{}, err
		}
		done, err := s.Pause(ctx, t, *reason, actor(ctx))
		said := fmt.Sprintf("%s is paused. %s now", t, counted(done.Queued, "waits", "wait"))
		if done.Running > 0 {
			said += fmt.Sprintf(", %s before the next request", counted(done.Running, "stops", "stop"))
		}
		return controlOutcome{ControlResult: done, Said: said + ".", Next: "patra resume " + shell(t)}, err
	}
}

func reasonFlag(c *cobra.Command, reason *string) {
	c.Flags().StringVar(reason, "reason", "", "why, for those who ask later")
}

// shell is a target as it can be typed.
func shell(t patra.Target) string {
	if strings.Contains(t.String(), "*") {
		return "'" + t.String() + "'"
	}
	return t.String()
}

func (a *app) resumeCmd() *cobra.Command {
	var reason string
	c := a.steerCmd(&cobra.Command{
		Use: "resume TARGET...", Short: "Let work go on that was paused, or that stopped by itself",
		Long: "Resume ends a pause of exactly this target. Of a source or an endpoint it also ends halts, after which the tasks that\nfailed because of them are queued again, and closes breakers.",
	}, a.resuming(&reason))
	reasonFlag(c, &reason)
	return c
}

func (a *app) resuming(reason *string) controlAction {
	return func(ctx context.Context, s *store.Store, t patra.Target) (controlOutcome, error) {
		done, err := s.Resume(ctx, t, *reason, actor(ctx))
		if err != nil {
			return controlOutcome{}, err
		}
		st := controlOutcome{ControlResult: done, Said: resumed(t, done), Next: resumeHint(t)}
		still, err := stillHeld(ctx, s, t)
		if len(still) > 0 {
			st.Said += "\nStill held back: " + strings.Join(still, "; ") + "."
			st.Next = "patra controls"
		}
		if old := a.outdated(ctx, s, t); err == nil && len(old) > 0 {
			st.Said += fmt.Sprintf("\n%s has changed since %s was planned, and what is planned goes by the source as it was. To read it by the source as it is, call it off and fill the gap.", sourceOf(t), strings.Join(old, " and "))
			st.Next = fmt.Sprintf("patra cancel %s; patra coverage fill %s", strings.Join(old, " "), sourceOf(t))
		}
		return st, err
	}
}

// resumeHint is how work of a target is taken up again.
func resumeHint(t patra.Target) string {
	return "patra serve, or patra harvest " + sourceOf(t)
}

func resumed(t patra.Target, done patra.ControlResult) string {
	if len(done.Changed) == 0 {
		return fmt.Sprintf("Nothing held %s back.", t)
	}
	var over []string
	for _, c := range done.Changed {
		over = append(over, ended(c))
	}
	said := fmt.Sprintf("%s goes on: %s. %s to be taken", t, strings.Join(over, ", "), counted(done.Queued+done.Revived, "is", "are"))
	if done.Revived > 0 {
		said += fmt.Sprintf(", of which %s had failed", verb(done.Revived, "1", thousands(done.Revived)))
	}
	return said + "."
}

// ended says which control is over.
func ended(c patra.Control) string {
	at := ""
	if c.Scope == patra.ScopeEndpoint {
		at = " of " + c.Target.String()
	}
	switch c.Kind {
	case patra.KindPause:
		return "the pause by " + c.Actor + " is over"
	case patra.KindHalt:
		return "the halt" + at + " is over (" + c.Reason + ")"
	case patra.KindQuota:
		return "nobody waits for the quota of " + c.Target.String() + " any more, until a request finds it used up"
	}
	return "the breaker" + at + " is closed"
}

// stillHeld are the controls that hold a part of a place back all the same. Pauses of single pieces of work are named whatever
// their place is: there are few of them.
func stillHeld(ctx context.Context, s *store.Store, t patra.Target) ([]string, error) {
	all, err := s.Controls(ctx)
	var still []string
	for _, c := range all {
		if c.Kind != patra.KindLimit && t.IsScope() && (!c.IsScope() || overlap(t.WorkScope(), c.WorkScope())) {
			still = append(still, fmt.Sprintf("%s is %s", c.Target, c.State))
		}
	}
	return still, err
}

func overlap(a, b patra.WorkScope) bool {
	same := func(x, y string) bool { return x == "" || y == "" || x == y }
	return a.Source == b.Source && same(a.Endpoint, b.Endpoint) && same(string(a.Operation), string(b.Operation))
}

func (a *app) cancelCmd() *cobra.Command {
	var reason string
	var sure bool
	c := a.steerCmd(&cobra.Command{
		Use: "cancel TARGET...", Short: "Call off a plan, a slice or a task",
		Long: "Cancel ends what waits at once, and asks what runs to stop before its next request. What was read stays. The windows are\ngaps until somebody retries them or plans them again. A place cannot be called off: pause it, or cancel its plans.",
	}, a.cancelling(&reason, &sure))
	reasonFlag(c, &reason)
	c.Flags().BoolVar(&sure, "yes", false, "do not ask")
	return c
}

func (a *app) cancelling(reason *string, sure *bool) controlAction {
	return func(ctx context.Context, s *store.Store, t patra.Target) (controlOutcome, error) {
		if t.IsScope() || t.Scope == patra.ScopeCursor {
			return controlOutcome{}, patra.Invalid("", "%s cannot be called off; cancel its plans (patra plans), or hold it back with patra pause %s", t, shell(t))
		}
		if err := refuseFinished(ctx, s, t, "call off"); err != nil {
			return controlOutcome{}, err
		}
		if err := a.confirm(ctx, s, t, *sure); err != nil {
			return controlOutcome{}, err
		}
		done, err := s.Cancel(ctx, t, *reason, actor(ctx))
		said := fmt.Sprintf("%s: %s called off", t, counted(done.Ended, "is", "are"))
		if done.Running > 0 {
			said += fmt.Sprintf(", %s before the next request", counted(done.Running, "stops", "stop"))
		}
		st := controlOutcome{ControlResult: done, Said: said + ".", Next: "patra retry " + t.String() + " takes it up again; patra coverage gaps shows what is missing"}
		if done.Ended+done.Running == 0 {
			st.Said = fmt.Sprintf("%s: nothing of it waits or runs.", t)
		}
		return st, err
	}
}

// confirm asks at a terminal before more than one task is called off.
func (a *app) confirm(ctx context.Context, s *store.Store, t patra.Target, sure bool) error {
	if sure || !term.IsTerminal(int(os.Stdin.Fd())) {
		return nil
	}
	work, err := s.TaskCounts(ctx, t)
	if err != nil || work.Queued+work.Running <= 1 {
		return err
	}
	fmt.Fprintf(a.stderr, "%s of %s will be called off. Go on? [y/N] ", tasks(work.Queued+work.Running), t)
	var answer string
	if _, err := fmt.Fscanln(os.Stdin, &answer); err != nil {
		answer = "" // nothing was said, or too much: that is no yes
	}
	if !strings.HasPrefix(strings.ToLower(answer), "y") {
		return patra.Invalid("", "nothing was called off")
	}
	return nil
}

func (a *app) retryCmd() *cobra.Command {
	var reason string
	c := a.steerCmd(&cobra.Command{
		Use: "retry TARGET...", Short: "Queue failed and cancelled tasks again",
		Long: "Retry queues failed and cancelled tasks again, with all their attempts, unless somebody else has read their windows\nmeanwhile or is at it. A plan that was called off is also planned to its end.",
	}, retrying(&reason))
	reasonFlag(c, &reason)
	return c
}

func retrying(reason *string) controlAction {
	return func(ctx context.Context, s *store.Store, t patra.Target) (controlOutcome, error) {
		done, err := s.RetryTarget(ctx, t, *reason, actor(ctx))
		if err != nil {
			return controlOutcome{}, err
		}
		st := controlOutcome{ControlResult: done, Said: revivedText(t, done), Next: resumeHint(t)}
		halt, err := haltOver(ctx, s, t)
		if halt != nil {
			st.Said += fmt.Sprintf("\nNothing of it is begun: %s is halted (%s).", halt.Target, halt.Reason)
			st.Next = afterHalt(halt)
		}
		return st, err
	}
}

func revivedText(t patra.Target, done patra.ControlResult) string {
	if done.Revived+done.Covered+done.Uncut == 0 {
		return fmt.Sprintf("%s: nothing of it has failed or was called off.", t)
	}
	said := fmt.Sprintf("%s: %s queued again.", t, counted(done.Revived, "is", "are"))
	if done.Covered > 0 {
		said += fmt.Sprintf(" %s not needed any more: the windows were read by others, or are being read.", counted(done.Covered, "is", "are"))
	}
	if done.Uncut > 0 {
		said += fmt.Sprintf(" %s as they were: %s too large and could not be cut (patra tasks --status FAILED says why). The next patra harvest, backfill or update plans their windows anew.",
			counted(done.Uncut, "stays", "stay"), verb(done.Uncut, "its slice is", "their slices are"))
	}
	return said
}

func (a *app) priorityCmd() *cobra.Command {
	var out format
	c := &cobra.Command{
		Use: "priority N TARGET...", Short: "Give work another place in the queue: 1 is first, 9 is last",
		Long:    "Priority moves what waits, and what is still to be planned of it. Harvests have 2, updates 5 and backfills 8.\n\n" + targetHelp,
		Example: "  patra priority 1 plan:3",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) < 2 {
				return patra.Invalid("", "%s needs: N TARGET...", c.CommandPath())
			}
			n, err := strconv.Atoi(args[0])
			if err != nil || n < 1 || n > 9 {
				return patra.Invalid("", "%q is no priority; write a number from 1, which is first, to 9", args[0])
			}
			return a.steerAll(c.Context(), args[1:], out, prioritising(n))
		},
	}
	formatFlag(c, &out)
	return c
}

func prioritising(n int) controlAction {
	return func(ctx context.Context, s *store.Store, t patra.Target) (controlOutcome, error) {
		done, err := s.Prioritise(ctx, t, n, actor(ctx))
		return controlOutcome{ControlResult: done, Said: fmt.Sprintf("%s: %s priority %d now.", t, counted(done.Queued+done.Running, "has", "have"), n), Next: "patra tasks"}, err
	}
}
