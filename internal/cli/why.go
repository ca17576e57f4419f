package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"patra"
	"patra/internal/config"
	"patra/internal/store"
)

// taskExplanation is why a task is where it is: a code for programs, a sentence and the next step for people, and the facts.
type taskExplanation struct {
	Task patra.Task `json:"task"`
	Code string     `json:"code"`
	Said string     `json:"said"`
	Next string     `json:"next,omitempty"`

	Control   *patra.Control  `json:"control,omitempty"`
	Gate      *gateWait       `json:"gate,omitempty"`
	Running   int64           `json:"partition_running"`
	Limit     int64           `json:"partition_limit,omitempty"`
	Before    int64           `json:"before_it"`
	LastClaim *patra.Instant  `json:"last_claim,omitempty"` // of anybody
	Run       *patra.Run      `json:"run,omitempty"`
	Page      *patra.Batch    `json:"page,omitempty"` // the last one that was asked for
	Fault     *patra.Fault    `json:"fault,omitempty"`
	Healing   []patra.Healing `json:"healing,omitempty"`
}

// The codes of a task that nothing holds back.
const (
	whyWorkers = "WORKERS" // nobody takes tasks
	whyTurn    = "TURN"    // it is its turn soon
	whyLost    = "LEASE_EXPIRED"
)

func (a *app) whyCmd() *cobra.Command {
	var out format
	c := &cobra.Command{
		Use: "why TASK", Short: "Say why a task waits, what it does, or how it ended", Args: exactArgs("TASK"),
		Example: "  patra why 17",
		RunE: func(c *cobra.Command, args []string) error {
			id, err := strconv.ParseInt(strings.TrimPrefix(args[0], "task:"), 10, 64)
			if err != nil {
				return patra.Invalid("", "%q is not the id of a task; see patra tasks", args[0])
			}
			s, err := a.open(c.Context())
			if err != nil {
				return err
			}
			cfg, err := a.load()
			if err != nil {
				return err
			}
			r, err := a.why(c.Context(), s, cfg, id)
			if err != nil {
				return err
			}
			if out != "table" {
				return printValue(a.stdout, out, r)
			}
			r.print(a.stdout)
			return nil
		},
	}
	formatFlag(c, &out)
	return c
}

// why gathers the facts and says what follows from them.
func (a *app) why(ctx context.Context, s *store.Store, cfg config.Config, id int64) (*taskExplanation, error) {
	found, err := s.Tasks(ctx, store.Filter{Task: id})
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, patra.Absent("there is no task %d; see patra tasks", id)
	}
	r := &taskExplanation{Task: found[0], Code: string(found[0].Status)}
	if err := r.facts(ctx, s); err != nil {
		return nil, err
	}
	switch r.Task.Status {
	case patra.Queued:
		err = r.waits(ctx, a, s, cfg)
	case patra.Running:
		err = r.runs(ctx, a, s)
	default:
		r.ended()
		err = r.halted(ctx, s)
	}
	return r, err
}

// facts are read whatever the state is.
func (r *taskExplanation) facts(ctx context.Context, s *store.Store) (err error) {
	if len(r.Task.LastError) > 0 {
		r.Fault = &patra.Fault{}
		if err := json.Unmarshal(r.Task.LastError, r.Fault); err != nil {
			return err
		}
	}
	runs, err := s.Runs(ctx, store.Filter{Task: r.Task.ID, Limit: 1})
	if err != nil {
		return err
	}
	pages, err := s.Batches(ctx, store.Filter{Task: r.Task.ID, Limit: 1})
	if err != nil {
		return err
	}
	if len(runs) > 0 {
		r.Run = &runs[0]
	}
	if len(pages) > 0 {
		r.Page = &pages[0]
	}
	if r.Healing, err = s.Healings(ctx, "", r.Task.ID, 10); err != nil {
		return err
	}
	if r.LastClaim, err = s.LastClaim(ctx); err != nil {
		return err
	}
	r.Running, r.Before, err = s.QueuePosition(ctx, r.Task)
	return err
}

// waits says why a queued task is not taken.
func (r *taskExplanation) waits(ctx context.Context, a *app, s *store.Store, cfg config.Config) error {
	at := r.Task.WorkScope()
	hold, err := s.PeekAdmission(ctx, at)
	if err != nil {
		return err
	}
	controls, err := s.Controls(ctx)
	if err != nil {
		return err
	}
	r.Limit = patra.AdmissionControls(controls).Limit(at, int64(cfg.Executor.PerPartition), now())
	if r.Gate, err = a.gateOf(ctx, s, r.Task); err != nil {
		return err
	}
	switch {
	case !hold.Allowed(): // also one for a used-up quota: it holds a little longer than the quota does, and can be ended by hand
		r.heldBack(hold)
	case r.Gate != nil && r.Gate.Code == patra.WaitQuota:
		r.gate()
	case r.Task.ScheduledAt > now() && r.Task.WaitCode == patra.WaitQuota:
		r.say(patra.WaitQuota, "It is due at %s, after the provider's quota has begun anew.", r.Task.ScheduledAt)
	case r.Task.ScheduledAt > now():
		r.say(patra.WaitScheduled, "It is due at %s%s.", r.Task.ScheduledAt, r.after())
	case r.Limit > 0 && r.Running > r.Limit:
		r.say(patra.WaitPartition, "%s are running at %s, by a command that uses all its workers there (patra serve lets %d run at once): it waits for one of them to end.", tasks(r.Running), at.PartitionTarget(), r.Limit)
	case r.Limit > 0 && r.Running == r.Limit:
		r.say(patra.WaitPartition, "At most %s may run at once at %s, and %s: it waits for one of them to end.", tasks(r.Limit), at.PartitionTarget(), verb(r.Running, "1 is running", thousands(r.Running)+" are running"))
	case r.Gate != nil:
		r.gate()
	case r.LastClaim == nil || now().Sub(*r.LastClaim) > idleFor:
		r.nobody()
	default:
		r.say(whyTurn, "It is due, and %s of its partition %s before it.", tasks(r.Before), verb(r.Before, "goes", "go"))
		r.Next = fmt.Sprintf("patra priority 1 task:%d, if it should be sooner", r.Task.ID)
	}
	return nil
}

// gate says that the gate is what a task waits for.
func (r *taskExplanation) gate() {
	r.say(r.Gate.Code, "%s", r.Gate.Text)
	r.Next = "patra gate status " + quoted(r.Gate.Key)
}

// idleFor is how long nobody takes a task before one wonders whether there is anybody.
const idleFor = time.Minute

func (r *taskExplanation) nobody() {
	r.Next = "patra serve, or patra harvest " + r.Task.Source
	if r.LastClaim == nil {
		r.say(whyWorkers, "It is due, and no worker has ever taken a task. Is patra serve running?")
		return
	}
	r.say(whyWorkers, "It is due, but nobody has taken a task for %s. Is patra serve running?", now().Sub(*r.LastClaim).Round(time.Second))
}

// after tells what went wrong before a task was queued again.
func (r *taskExplanation) after() string {
	if r.Fault == nil {
		return ""
	}
	return fmt.Sprintf(", after attempt %d of %d ended with %s", r.Task.Attempts, r.Task.MaxAttempts, r.Fault)
}

func (r *taskExplanation) heldBack(hold patra.Admission) {
	c := hold.Control
	r.Control, r.Next = c, "patra resume "+shell(c.Target)
	switch {
	case hold.Code == patra.WaitPaused:
		because := ""
		if c.Reason != "" {
			because = " (" + c.Reason + ")"
		}
		r.say(hold.Code, "%s is paused by %s since %s%s.", c.Target, c.Actor, c.Detail.Since, because)
	case hold.Code == patra.WaitHalted:
		r.say(hold.Code, "%s is halted since %s, because only a person can mend this: %s", c.Target, c.Detail.Since, stopped(c.Reason))
		r.Next = "mend that, then patra resume " + shell(c.Target)
	case hold.Code == patra.WaitQuota:
		r.say(hold.Code, "%s, and %s waits until %s.", capital(c.Reason), c.Target, seconds(c.Until))
		r.Next = "wait, it goes on by itself; or, if the provider permits more, write that into the source, and patra resume " + shell(c.Target)
	case c.Until != 0 && c.Until < now():
		r.say(hold.Code, "%s did not answer and was left alone until %s: %s The next worker that comes tries it with one request.", c.Target, c.Until, stopped(controlReason(*c)))
		r.Next = "patra serve, or patra harvest " + r.Task.Source
	default:
		r.say(hold.Code, "%s does not answer and is left alone until %s: %s", c.Target, c.Until, stopped(controlReason(*c)))
		r.Next = "wait, one request tries then; or patra resume " + shell(c.Target) + ", after which everybody tries"
	}
}

// runs says what a running task does.
func (r *taskExplanation) runs(ctx context.Context, a *app, s *store.Store) (err error) {
	if r.Task.LeasedUntil < now() {
		r.say(whyLost, "Its worker %s was last heard of before %s. The next idle worker takes it over.", r.Task.LeaseOwner, r.Task.LeasedUntil)
		r.Next = "patra serve, or patra harvest " + r.Task.Source
		return nil
	}
	doing := "It has not asked for a page yet"
	if p := r.Page; p != nil && r.Run != nil && p.RunID == r.Run.ID {
		doing = fmt.Sprintf("Page %d of scan %d (%s) was announced at %s and is %s", p.Ordinal, p.ScanNo, strings.ToLower(string(p.Phase)), p.StartedAt, p.Status)
	}
	r.say(string(patra.Running), "Worker %s works on it, attempt %d of %d, lease until %s. %s.", r.Task.LeaseOwner, r.Task.Attempts, r.Task.MaxAttempts, r.Task.LeasedUntil, doing)
	hold, err := s.PeekAdmission(ctx, r.Task.WorkScope())
	if err != nil {
		return err
	}
	if hold.Code == patra.HoldCancelled {
		r.Said += " Somebody called it off: it stops before its next request."
	} else if !hold.Allowed() {
		r.Control = hold.Control
		r.Said += fmt.Sprintf(" %s is %s: it stops before its next request.", hold.Control.Target, hold.Control.State)
	}
	if r.Gate, err = a.gateOf(ctx, s, r.Task); r.Gate != nil {
		r.Said += " " + sentence(r.Gate.Text)
		r.Next = "patra gate status " + quoted(r.Gate.Key)
	}
	return err
}

// ended says how a task ended.
func (r *taskExplanation) ended() {
	id := r.Task.ID
	switch r.Task.Status {
	case patra.Succeeded:
		r.say(string(patra.Succeeded), "It read %s to its end.", r.Task.Window)
		r.Next = fmt.Sprintf("patra lineage task/%d", id)
	case patra.Partial:
		r.say(string(patra.Partial), "It was left before its end, because it was too large; what was left of it is cut into smaller ones.")
		r.Next = fmt.Sprintf("patra slices --plan %d", r.Task.PlanID)
	case patra.Cancelled:
		r.say(string(patra.Cancelled), "It was %s. Its window %s is a gap until somebody retries it.", r.faultText("called off"), r.Task.Window)
		r.Next = fmt.Sprintf("patra retry task:%d", id)
	case patra.Failed:
		r.say(string(patra.Failed), "It failed after attempt %d of %d: %s", r.Task.Attempts, r.Task.MaxAttempts, stopped(r.faultText("nobody wrote down why")))
		r.Next = fmt.Sprintf("mend that, then patra retry task:%d; patra lineage task/%d shows every page", id, id)
	}
}

// halted says of a failed task that it takes more than another attempt.
func (r *taskExplanation) halted(ctx context.Context, s *store.Store) error {
	if r.Task.Status != patra.Failed {
		return nil
	}
	controls, err := s.Controls(ctx)
	if halt := patra.HaltAt(controls, r.Task.WorkScope()); halt != nil {
		r.Control = halt
		r.Said += fmt.Sprintf(" %s is halted since %s.", halt.Target, halt.Detail.Since)
		r.Next = afterHalt(halt)
	}
	return err
}

func (r *taskExplanation) faultText(otherwise string) string {
	switch {
	case r.Fault == nil:
		return otherwise
	case r.Fault.Code == patra.HoldCancelled:
		return r.Fault.Text
	}
	return r.Fault.Error()
}

func (r *taskExplanation) say(code, format string, args ...any) {
	r.Code, r.Said = code, fmt.Sprintf(format, args...)
}

func (r *taskExplanation) print(w io.Writer) {
	t := r.Task
	state := string(t.Status)
	if r.Code != state { // a task that waits also says what for
		state += ": " + r.Code
	}
	fmt.Fprintf(w, "Task %d (%s, %s) is %s\n%s\n", t.ID, t.WorkScope().Partition(), t.Window, state, r.Said)
	for _, h := range r.Healing {
		fmt.Fprintf(w, "  %s %s because of %s: %s\n", seconds(h.At), h.Action, h.Reason, healingText(h))
	}
	if r.Next != "" {
		fmt.Fprintln(w, "Next: "+r.Next)
	}
}
