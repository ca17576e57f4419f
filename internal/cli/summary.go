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
	Seconds     float64        `json:"seconds"`
	Stored      int64          `json:"stored_records"`
	Cursor      *patra.Cursor  `json:"cursor,omitempty"`
	Gaps        patra.Coverage `json:"gaps"`
	History     patra.Coverage `json:"history"` // asked for, but before the origin of the cursor
	Disputed    patra.Coverage `json:"disputed"`
	Interrupted bool           `json:"interrupted"`
	Probes      int            `json:"probes"`
	Missing     int64          `json:"missing_ids,omitempty"` // that were asked for, and that the provider does not have
	Patrol      *patra.Instant `json:"last_patrol,omitempty"` // of an update of stale records: when the last one was finished
	Left        string         `json:"left,omitempty"`        // why the plan could not be cut to its end
	halt        *patra.Control
	quota       *patra.Control
	spoken      string // which quota has no room

	source  string
	started time.Time
	states  map[patra.Status]int // of work without a watermark
}

// measure reads back from the store how complete the plan's window is.
func (s *summary) measure(ctx context.Context, st *store.Store) error {
	s.Seconds = time.Since(s.started).Seconds()
	s.Gaps, s.History, s.Disputed = patra.Coverage{}, patra.Coverage{}, patra.Coverage{}
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
	cursor, covered, _, err := st.Need(ctx, s.Plan.CursorID)
	if err != nil {
		return err
	}
	s.Cursor = &cursor
	answers, err := st.CoverageEntries(ctx, s.Plan.CursorID)
	if err != nil {
		return err
	}
	asked := patra.NewCoverage(s.Decision.Asked())
	if s.Plan.Campaign != "" { // it is done when all is there that was ever asked of it
		extent, err := st.PlannedWindow(ctx, s.Plan.CursorID)
		if err != nil {
			return err
		}
		asked = asked.Union(patra.NewCoverage(extent))
	}
	missing := asked.Minus(covered)
	if s.Plan.Operation == patra.Harvest { // which goes forward, and leaves what lies before its origin to a backfill
		s.History = append(s.History, missing.Clip(patra.Window{From: s.Decision.Asked().From, To: cursor.Origin})...)
	}
	s.Gaps = append(s.Gaps, missing.Minus(s.History)...)
	disputed := patra.CoverageByState(answers)[patra.StateDisputed]
	s.Disputed = append(s.Disputed, disputed.Minus(disputed.Minus(asked))...)
	return nil
}

// print tells a person.
func (s *summary) print(w io.Writer) {
	if (s.Decision.Window.IsEmpty() || s.Decision.Reason == patra.ReasonNobody) && s.Slices == 0 && s.Pages == 0 && s.Failed == 0 {
		fmt.Fprintf(w, "Nothing to %s from %s: %s.\n", strings.ToLower(string(s.Plan.Operation)), s.source, reasonText[s.Decision.Reason])
		s.printCursor(w)
		return
	}
	n := s.Counts
	fmt.Fprintf(w, "%s %s %s in %s\n", s.verb(), s.source, s.Plan.Window, time.Duration(s.Seconds*float64(time.Second)).Round(100*time.Millisecond))
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
	if s.verdict() == nil {
		fmt.Fprintln(w, "  next       patra records export --source "+s.source+" > "+s.source+".jsonl")
	}
}

// printOutside says, after the first harvest, that records came which changed at another time than was asked for. It is how a
// date filter shows that is off by a day. Where a source is asked by another date than that of the change it is always so, and
// whoever harvests it every night knows.
func (s *summary) printOutside(w io.Writer) {
	if s.Counts.Outside > 0 && s.Decision.OriginCode != "" {
		fmt.Fprintf(w, "  outside    %s of them changed outside of the window that they were asked by: right only if updatedAt is another date than window.field\n", thousands(s.Counts.Outside))
	}
}

var doneText = map[patra.Operation]string{patra.Harvest: "Harvested", patra.Backfill: "Backfilled", patra.Update: "Updated"}

func (s *summary) verb() string {
	if s.Decision.Fill {
		return "Filled"
	}
	return doneText[s.Plan.Operation]
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
	fmt.Fprintf(w, "  watermark  %s, complete through %s\n", s.Cursor.Value, s.Cursor.SealedThrough)
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
	fmt.Fprintf(w, "  history    begins at %s (%s); for what lies before: patra backfill %s --from %s\n", s.Cursor.Origin, originText[s.Decision.OriginCode], s.source, from)
}

// verdict is nil only when the whole window is proved.
func (s *summary) verdict() error {
	switch {
	case s.Interrupted:
		return patra.Incomplete("stopped before the end; the same command goes on where this one stopped")
	case s.halt != nil:
		return patra.Incomplete("%s is halted: %s Mend that, and let it go on with: patra resume %s", s.halt.Target, stopped(s.halt.Reason), s.halt.Target)
	case s.quota != nil:
		return patra.Incomplete("not all of it could be read: %s; the same command goes on from %s on, and patra serve does so by itself", s.quota.Reason, s.quota.Until.Time().Format(time.RFC3339))
	case s.Left == patra.ReasonPaused:
		return patra.Incomplete("not all of it could be read: %s", partialText[s.Left])
	case s.Left == patra.ReasonQuota:
		return patra.Incomplete("not all of it could be planned: %s", s.spoken)
	case s.Left != "":
		return patra.Incomplete("not all of it could be planned: %s", partialText[s.Left])
	case len(s.History) > 0:
		return patra.Incomplete("%s lies before %s, where this %s began, and was not read; patra backfill %s --from %s reads it", days(s.History, 5), s.Cursor.Origin, strings.ToLower(string(s.Plan.Operation)), s.source, short(s.History[0].From))
	case len(s.Gaps) > 0:
		return patra.Incomplete("not everything could be read: %s missing. patra coverage gaps %s tells why", days(s.Gaps, 5), s.source)
	case len(s.Disputed) > 0:
		return patra.Incomplete("the provider's own count disagrees for %s. See patra coverage gaps %s", days(s.Disputed, 5), s.source)
	case s.Plan.CursorID != 0 && s.Failed > 0: // of a look-back: its window is covered all the same
		return patra.Incomplete("%s failed. See patra tasks --status FAILED", plural(s.Failed, "slice"))
	case s.states[patra.Failed] > 0:
		return patra.Incomplete("%s failed. See patra tasks --status FAILED", plural(int64(s.states[patra.Failed]), "slice"))
	case s.states[patra.Ready]+s.states[patra.Partial] > 0:
		return patra.Incomplete("%s still open; another process is at work on them, or patra serve will be", plural(int64(s.states[patra.Ready]+s.states[patra.Partial]), "slice"))
	}
	return nil
}

func short(i patra.Instant) string { return i.Time().Format("2006-01-02") }

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
