package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"patra"
	"patra/internal/store"
	"patra/internal/view"
)

// runTally is what this process saw happen.
type runTally struct {
	Slices   int64            `json:"slices_done"`
	Failed   int64            `json:"slices_failed"`
	Early    int64            `json:"slices_cut"` // that were too large and were cut again
	Pages    int64            `json:"pages"`
	Retries  int64            `json:"retries"`
	Restarts int64            `json:"scan_restarts"`
	Lost     int64            `json:"leases_lost"`
	Faults   map[string]int64 `json:"faults"`
	Counts   patra.Counts     `json:"records"`
}

// summary is the end of a harvest: what was done, and what is proved.
type summary struct {
	Plan        patra.Plan           `json:"plan"`
	Decision    patra.WindowDecision `json:"decision"`
	runTally    `json:"work"`
	Outcome     view.RunOutcome `json:"outcome"`
	Seconds     float64         `json:"seconds"`
	Stored      int64           `json:"stored_records"`
	Cursor      *patra.Cursor   `json:"cursor,omitempty"`
	Gaps        patra.Coverage  `json:"gaps"`    // of the window, and of a harvest also before it
	History     patra.Coverage  `json:"history"` // asked for, but before the origin of the cursor
	Disputed    patra.Coverage  `json:"disputed"`
	Unproved    patra.Coverage  `json:"unproved"` // read without a proof
	unfound     []string        // ids that put a window into dispute
	Later       patra.Coverage  `json:"later,omitempty"` // missing after the window: not what was asked for
	Interrupted bool            `json:"interrupted"`
	Probes      int             `json:"probes"`
	Missing     int64           `json:"missing_ids,omitempty"` // that were asked for, and that the provider does not have
	Patrol      *patra.Instant  `json:"last_patrol,omitempty"` // of an update of stale records: when the last one was finished
	Warnings    patra.Problems  `json:"warnings,omitempty"`    // of the planning
	Left        string          `json:"left,omitempty"`        // why the plan could not be cut to its end
	halt        *patra.Control
	quota       *patra.Control
	spoken      string // which quota has no room

	source  string
	several bool // the source has more than one watermark

	question  string // the flags that another command needs to ask for the same
	otherDate bool   // the source says that its windows are about another date than that of the change
	started   time.Time
	states    map[patra.Status]int // of work without a watermark
}

// measure reads back from the store how complete the plan's window is, and judges the run by it.
func (s *summary) measure(ctx context.Context, st *store.Store) error {
	err := s.read(ctx, st)
	s.Outcome = s.facts().Outcome()
	s.Outcome.Title = patra.Spell(s.Outcome.Title, flagName)
	return err
}

// facts are what the run is judged by.
func (s *summary) facts() view.RunFacts {
	f := view.RunFacts{Source: s.source, Operation: s.Plan.Operation, Fill: s.Decision.Fill, Decision: s.Decision,
		Pages: s.Pages, Slices: s.Slices, Failed: s.Failed, Interrupted: s.Interrupted, Left: s.Left, QuotaText: s.spoken, Halt: s.halt, Quota: s.quota,
		Cursor: s.Cursor, SeveralCursors: s.several, Gaps: s.Gaps, History: s.History, Disputed: s.Disputed, Unproved: s.Unproved, Missing: s.unfound, Question: s.question,
		OpenSlices: s.states[patra.Ready] + s.states[patra.Partial], FailedSlices: s.states[patra.Failed]}
	f.NothingToDo = (s.Decision.Window.IsEmpty() || s.Decision.Reason == patra.ReasonNobody) && s.Slices == 0 && s.Pages == 0 && s.Failed == 0
	return f
}

// read asks the store what is there now.
func (s *summary) read(ctx context.Context, st *store.Store) error {
	s.Seconds = time.Since(s.started).Seconds()
	s.Gaps, s.History, s.Disputed, s.Unproved, s.unfound = patra.Coverage{}, patra.Coverage{}, patra.Coverage{}, patra.Coverage{}, nil
	var err error
	if s.Stored, err = st.CountRecords(ctx, s.source); err != nil {
		return err
	}
	if s.Plan.CursorID == 0 {
		if s.Missing, err = st.MissingIDs(ctx, s.Plan.ID); err != nil {
			return err
		}
		if s.states, err = st.PlanStates(ctx, s.Plan.ID); err != nil {
			return err
		}
		return s.patrol(ctx, st)
	}
	return s.cover(ctx, st)
}

// patrol reads when the last update of stale records was finished.
func (s *summary) patrol(ctx context.Context, st *store.Store) error {
	if s.Plan.Campaign != (patra.RecordSelector{By: patra.PickStale}).Campaign() {
		return nil
	}
	patrols, err := st.RefreshProgress(ctx, s.source)
	for _, p := range patrols {
		if p.Endpoint == s.Plan.Endpoint {
			s.Patrol = &p.Last
		}
	}
	return err
}

// cover compares what was asked for with what is proved.
func (s *summary) cover(ctx context.Context, st *store.Store) error {
	cursor, covered, live, err := st.Need(ctx, s.Plan.CursorID)
	if err != nil {
		return err
	}
	s.Cursor = &cursor
	answers, err := st.CoverageEntries(ctx, s.Plan.CursorID)
	if err != nil {
		return err
	}
	cursors, err := st.Cursors(ctx, store.Filter{Source: s.source, Limit: 2})
	if err != nil {
		return err
	}
	s.several = len(cursors) > 1
	planned, err := st.PlannedWindow(ctx, s.Plan.CursorID)
	if err != nil {
		return err
	}
	asked := patra.NewCoverage(s.Decision.Asked())
	if s.Plan.Campaign != "" { // it is done when all is there that was ever asked of it
		asked = asked.Union(patra.NewCoverage(planned))
	}
	missing := asked.Union(view.Answerable(s.Decision, cursor.Origin, planned)).Minus(covered)
	if s.Plan.Operation == patra.Harvest { // which goes forward, and leaves what lies before its origin to a backfill
		s.History = append(s.History, missing.Clip(patra.Window{From: s.Decision.Asked().From, To: cursor.Origin})...)
		later := patra.Window{From: max(s.Decision.Asked().To, cursor.Origin), To: planned.To}
		s.Later = patra.NewCoverage(later).Minus(covered.Union(live))
	}
	s.Gaps = append(s.Gaps, missing.Minus(s.History)...)
	states := patra.CoverageByState(answers)
	disputed := states[patra.StateDisputed]
	s.Disputed = append(s.Disputed, disputed.Minus(disputed.Minus(asked))...)
	if read := states[patra.StateRead]; len(read) > 0 {
		accepted, err := st.ReadAccepted(ctx, s.source)
		if err != nil {
			return err
		}
		if accepted == nil {
			s.Unproved = append(s.Unproved, read.Minus(read.Minus(asked))...)
		}
	}
	s.unfound = unfoundIn(asked, patra.Disputes(answers))
	return nil
}

// unfoundIn are the ids that put windows of what was asked for into dispute.
func unfoundIn(asked patra.Coverage, disputes []patra.EffectiveEntry) (ids []string) {
	for _, d := range disputes {
		if len(asked.Clip(d.Window)) > 0 {
			ids = append(ids, d.Missing()...)
		}
	}
	return ids
}

// print tells a person.
func (s *summary) print(w io.Writer) {
	title := s.Outcome.Title
	if s.facts().NothingToDo && !s.Interrupted {
		fmt.Fprintf(w, "%s.\n", title)
		s.printCursor(w)
		s.printNext(w)
		return
	}
	n := s.Counts
	fmt.Fprintf(w, "%s %s %s\n", title, map[bool]string{true: "after", false: "in"}[s.Interrupted], time.Duration(s.Seconds*float64(time.Second)).Round(100*time.Millisecond))
	fmt.Fprintf(w, "  slices     %s done, %d failed%s\n", thousands(s.Slices), s.Failed, s.cut())
	fmt.Fprintf(w, "  pages      %s%s\n", thousands(s.Pages), s.healed())
	fmt.Fprintf(w, "  records    %s read: %s new, %s changed, %s unchanged, %s older than stored, %s quarantined\n",
		thousands(n.Total()), thousands(n.Insert), thousands(n.Update), thousands(n.Same+n.Dup), thousands(n.Stale), thousands(n.Quarantine))
	s.printOutside(w)
	fmt.Fprintf(w, "  stored     %s of %s\n", plural(s.Stored, "record"), s.source)
	s.printCursor(w)
	if s.Missing > 0 {
		fmt.Fprintf(w, "  missing    %s that the provider does not have\n", plural(s.Missing, "id"))
	}
	if n.Quarantine > 0 {
		fmt.Fprintln(w, "  set aside  patra quarantine list --source "+s.source+" shows what could not become a record")
	}
	s.printNext(w)
}

// printNext says what was seen while the plan was made, and names the command that comes next.
func (s *summary) printNext(w io.Writer) {
	for _, p := range s.Warnings {
		fmt.Fprintf(w, "  warning    %s (%s)\n", p.Text, p.Code)
	}
	if len(s.Later) > 0 {
		fmt.Fprintf(w, "  later      %s is missing too, after this window; see patra coverage gaps %s\n", days(s.Later, 5), s.source)
	}
	next := s.Outcome.Next
	if s.Outcome.Code == view.RunComplete {
		next = "patra records export --source " + s.source + " > " + s.source + ".jsonl"
	}
	if next != "" {
		fmt.Fprintln(w, "  next       "+next)
	}
}

// printOutside says, after the first harvest, that records came which changed at another time than was asked for. It is how a
// date filter shows that is off by a day. Where a source is asked by another date than that of the change it is always so, and
// whoever harvests it every night knows.
func (s *summary) printOutside(w io.Writer) {
	if s.Counts.Outside > 0 && s.Decision.OriginCode != "" && !s.otherDate {
		fmt.Fprintf(w, "  outside    %s of them changed outside of the window that they were asked by: right only if updatedAt is another date than window.field\n", thousands(s.Counts.Outside))
	}
}

// cut tells how many slices turned out to be too large.
func (s *summary) cut() string {
	if s.Early == 0 {
		return ""
	}
	return fmt.Sprintf(", %d cut again", s.Early)
}

func (s *summary) printCursor(w io.Writer) {
	if s.Patrol != nil {
		fmt.Fprintf(w, "  patrol     last finished %s\n", *s.Patrol)
	}
	if s.Cursor == nil {
		return
	}
	fmt.Fprintf(w, "  watermark  %s\n", view.Progress(*s.Cursor))
	s.printHistory(w)
}

// printHistory says, after the first harvest, how to get what lies before it.
func (s *summary) printHistory(w io.Writer) {
	if s.Plan.Operation != patra.Harvest || s.Decision.OriginCode == "" {
		return
	}
	from := "DAY"
	if s.Decision.Earliest != nil {
		if *s.Decision.Earliest >= s.Cursor.Origin {
			return
		}
		from = s.Decision.Earliest.Time().Format("2006-01-02")
	}
	fmt.Fprintf(w, "  history    begins at %s (%s); for what lies before: patra backfill %s%s --from %s\n", s.Cursor.Origin, originText[s.Decision.OriginCode], s.source, s.question, from)
}

// verdict is nil only when the whole window is proved.
func (s *summary) verdict() error {
	if s.Outcome.Open == "" {
		return nil
	}
	return patra.Incomplete("%s", s.Outcome.Open)
}

// healed lists what went wrong on the way and was mended.
func (s *summary) healed() string {
	var parts []string
	var codes []string
	for code := range s.Faults {
		codes = append(codes, code)
	}
	slices.Sort(codes)
	for _, code := range codes {
		parts = append(parts, fmt.Sprintf("%d× %s", s.Faults[code], strings.ToLower(strings.ReplaceAll(code, "_", " "))))
	}
	if s.Restarts > 0 {
		parts = append(parts, plural(s.Restarts, "scan")+" restarted")
	}
	if len(parts) == 0 {
		return ""
	}
	word := "healed"
	if s.Failed > 0 {
		word = "met"
	}
	return " (" + word + ": " + strings.Join(parts, ", ") + ")"
}
