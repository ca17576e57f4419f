package view

import (
	"fmt"
	"strings"
	"time"

	"patra"
)

// RunFacts is what is known when a harvest, backfill, update or fill ends.
type RunFacts struct {
	Source    string
	Operation patra.Operation
	Fill      bool
	Decision  patra.WindowDecision

	Pages, Slices, Failed int64 // of this run
	Interrupted           bool
	Left                  string // why the plan could not be cut to its end, one of the reasons of a PARTIAL plan
	QuotaText             string // of a plan that the quota left PARTIAL
	Halt, Quota           *patra.Control

	Cursor         *patra.Cursor // nil: the work has no watermark
	SeveralCursors bool          // the source has several watermarks
	Gaps           patra.Coverage
	History        patra.Coverage
	Disputed       patra.Coverage
	Unproved       patra.Coverage // read without a proof, which is not accepted for the source
	Missing        []string       // ids that put a window into dispute: the provider has shown them, and they were not found
	OpenSlices     int            // of work without a watermark
	FailedSlices   int            // of work without a watermark
	NothingToDo    bool
	Question       string // the flags that another command needs to ask for the same
}

// The ends of a run.
const (
	RunComplete   = "COMPLETE"   // all that was asked for is proved
	RunNothing    = "NOTHING"    // there was nothing to do, and nothing is missing
	RunStopped    = "STOPPED"    // a person or a signal ended it
	RunIncomplete = "INCOMPLETE" // something is missing or in dispute
)

// RunOutcome is what a run came to.
type RunOutcome struct {
	Code  string `json:"code"`
	Title string `json:"title"`          // what happened, in a few words
	Open  string `json:"open,omitempty"` // what is missing, and what to do about it
	Next  string `json:"next,omitempty"` // the command that reads it
}

// Outcome judges a run by what is proved, never by what was planned.
func (f RunFacts) Outcome() RunOutcome {
	open, next := f.open()
	o := RunOutcome{Code: RunComplete, Title: f.title(), Open: open, Next: next}
	switch {
	case f.Interrupted:
		o.Code = RunStopped
	case open != "":
		o.Code = RunIncomplete
	case f.NothingToDo:
		o.Code = RunNothing
	}
	return o
}

// title is the head of a summary. Only what was read to its end is called harvested.
func (f RunFacts) title() string {
	word := runWords[f.Operation]
	if f.Fill {
		word = runWord{"fill", "Filled", "filling"}
	}
	of := f.Source
	if w := f.Decision.Window; !w.IsEmpty() {
		of += " " + w.String()
	}
	switch {
	case f.Interrupted:
		return "Stopped " + word.doing + " " + of
	case f.NothingToDo:
		return fmt.Sprintf("Nothing to %s from %s: %s", word.do, f.Source, EmptyReason(f.Decision, f.Cursor))
	case f.Pages == 0:
		return "Read no page of " + of
	case f.Failed > 0 || f.Left != "" || f.Halt != nil || f.Quota != nil || f.missesOwn():
		return word.done + " a part of " + of
	}
	return word.done + " " + of
}

// missesOwn reports whether a part of the run's own window is missing; what is missing before it, was so already.
func (f RunFacts) missesOwn() bool {
	return len(f.Gaps.Clip(f.Decision.Window)) > 0 || f.OpenSlices+f.FailedSlices > 0
}

type runWord struct{ do, done, doing string }

var runWords = map[patra.Operation]runWord{
	patra.Harvest:  {"harvest", "Harvested", "harvesting"},
	patra.Backfill: {"backfill", "Backfilled", "backfilling"},
	patra.Update:   {"update", "Updated", "updating"},
}

// open says what is missing and names the next command; nothing if all that was asked for is proved.
func (f RunFacts) open() (text, next string) {
	switch {
	case f.Interrupted:
		return "stopped before the end; the same command goes on where this one stopped", ""
	case f.Halt != nil:
		next = "patra resume " + patra.ShellWord(f.Halt.Target.String())
		return fmt.Sprintf("%s is halted: %s Mend that, and let it go on with: %s", f.Halt.Target, sentenceEnd(f.Halt.Reason), next), next
	case f.Quota != nil:
		return fmt.Sprintf("not all of it could be read: %s; the same command goes on from %s on, and patra serve does so by itself",
			f.Quota.Reason, f.Quota.Until.Time().Format(time.RFC3339)), ""
	case f.Left == patra.ReasonPaused:
		return "not all of it could be read: " + PartialReason(f.Left), "patra controls"
	case f.Left == patra.ReasonQuota:
		return "not all of it could be planned: " + f.QuotaText, ""
	case f.Left != "":
		return "not all of it could be planned: " + PartialReason(f.Left), ""
	case len(f.History) > 0:
		next = fmt.Sprintf("patra backfill %s%s --from %s", f.Source, f.Question, f.History[0].From.Time().Format("2006-01-02"))
		return fmt.Sprintf("%s lies before %s, where this %s began, and was not read; %s reads it",
			Windows(f.History, shownWindows), f.Cursor.Origin, strings.ToLower(string(f.Operation)), next), next
	}
	return f.gaps()
}

// gaps is open for what the coverage says.
func (f RunFacts) gaps() (text, next string) {
	const failed = "%s failed. See patra tasks --status FAILED"
	switch {
	case len(f.Gaps) > 0:
		next = f.fill(f.Gaps)
		return fmt.Sprintf("not everything could be read: %s missing. patra coverage gaps %s tells why; %s reads it",
			Windows(f.Gaps, shownWindows), f.Source, next), next
	case len(f.Disputed) > 0:
		next = f.fill(f.Disputed) + " --disputed"
		if len(f.Missing) > 0 {
			return fmt.Sprintf("the provider has shown %s, which the scan did not find; in dispute: %s. See patra coverage gaps %s; %s reads it again",
				patra.NameSome(f.Missing), Windows(f.Disputed, shownWindows), f.Source, next), next
		}
		return fmt.Sprintf("the provider's own count disagrees for %s. See patra coverage gaps %s; %s reads it again",
			Windows(f.Disputed, shownWindows), f.Source, next), next
	case len(f.Unproved) > 0:
		next = f.fill(f.Unproved) + " --read"
		return fmt.Sprintf("read to the end, and nothing proves that no record was missed: %s. See patra coverage gaps %s; %s reads it again",
			Windows(f.Unproved, shownWindows), f.Source, next), next
	case f.Cursor != nil && f.Failed > 0: // of a look-back: its window is covered all the same
		return fmt.Sprintf(failed, number(f.Failed, "slice", "slices")), "patra tasks --status FAILED"
	case f.FailedSlices > 0:
		return fmt.Sprintf(failed, number(int64(f.FailedSlices), "slice", "slices")), "patra tasks --status FAILED"
	case f.OpenSlices > 0:
		return number(int64(f.OpenSlices), "slice", "slices") + " still open; another process is at work on them, or patra serve will be", "patra serve"
	}
	return "", ""
}

// fill is the command that reads some stretches of the cursor, and whatever is missing between them.
func (f RunFacts) fill(c patra.Coverage) string {
	from, to, _ := strings.Cut(patra.Window{From: c[0].From, To: c[len(c)-1].To}.String(), "~")
	command := fmt.Sprintf("patra coverage fill %s --from %s --to %s", f.Source, from, to)
	if f.SeveralCursors && f.Cursor != nil {
		command += fmt.Sprintf(" --cursor %d", f.Cursor.ID)
	}
	return command
}

// Answerable is the time that a run is measured by: what it was asked for, and of a harvest also what lies between the origin
// of its cursor and its window, because its watermark cannot pass a hole there. planned is what was ever planned of the cursor.
// A fill answers only for the stretch that it was given.
func Answerable(d patra.WindowDecision, origin patra.Instant, planned patra.Window) patra.Coverage {
	asked := d.Asked()
	all := patra.NewCoverage(asked)
	if d.Operation != patra.Harvest || d.Fill {
		return all
	}
	before := patra.Window{From: origin, To: asked.From}
	if asked.IsEmpty() {
		before.To = min(asked.To, planned.To)
	}
	return all.Union(patra.NewCoverage(before))
}

// EmptyReason says why a window is empty, and no more than the dates show.
func EmptyReason(d patra.WindowDecision, c *patra.Cursor) string {
	switch d.Reason {
	case patra.ReasonInverted:
		return "{from} does not lie before {to}"
	case patra.ReasonTooShort:
		return "both ends fall into the same day, month or hour to which this source is aligned"
	case patra.ReasonNotYet:
		return "it begins after now minus the safety lag"
	case patra.ReasonNobody:
		return "no record is to be fetched again"
	case patra.ReasonNoHistory:
		return "it begins where the harvest has been already"
	}
	if c != nil && c.Value >= d.Window.To {
		return fmt.Sprintf("its watermark, %s, has reached the end of the window", c.Value)
	}
	return fmt.Sprintf("the window would begin at %s and end at %s", d.Window.From, d.Window.To)
}

var partialReasons = map[string]string{
	patra.ReasonInventory: "the queue is full (planner.inventory)",
	patra.ReasonQuota:     "the provider's quota is used up or spoken for; see patra controls, and give the same command when it has begun anew",
	patra.ReasonPaused:    "it is paused; see patra controls",
	patra.ReasonHalted:    "its endpoint is halted; see patra controls",
	patra.ReasonFailing:   "its last slices all failed; see patra tasks --status FAILED, and ask again when that is mended",
}

// PartialReason says why a plan is not cut to its end.
func PartialReason(reason string) string { return partialReasons[reason] }

// Progress says how far a cursor is. Where nothing is complete, it does not speak of completeness.
func Progress(c patra.Cursor) string {
	switch {
	case c.SealedThrough > c.Origin:
		return fmt.Sprintf("%s, complete through %s", c.Value, c.SealedThrough)
	case c.Value > c.Origin:
		return fmt.Sprintf("%s; nothing is complete yet", c.Value)
	}
	return fmt.Sprintf("%s, where it began; nothing is complete yet", c.Value)
}

// shownWindows is how many stretches a sentence names.
const shownWindows = 5

// Windows is a set of windows in a sentence: `2026-01-01~2026-01-04, ...`.
func Windows(c patra.Coverage, most int) string {
	var parts []string
	for i, w := range c {
		if i == most {
			parts = append(parts, fmt.Sprintf("and %d more", len(c)-most))
			break
		}
		parts = append(parts, w.String())
	}
	return strings.Join(parts, ", ")
}

// number is `1 slice`, `2 slices`.
func number(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// sentenceEnd ends with a full stop, unless it ends a sentence already.
func sentenceEnd(text string) string {
	if strings.HasSuffix(text, ".") || strings.HasSuffix(text, "?") || strings.HasSuffix(text, "!") {
		return text
	}
	return text + "."
}
