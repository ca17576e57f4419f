package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"patra"
	"patra/internal/store"
)

// recordExplanation is all that is known about one record, also about one that nobody has seen.
type recordExplanation struct {
	Source     string                 `json:"source"`
	ID         string                 `json:"id"`
	Date       *patra.Instant         `json:"date,omitempty"`
	Record     *patra.Record          `json:"record,omitempty"`
	Versions   []store.VersionEntry   `json:"versions,omitempty"`
	Quarantine []patra.QuarantineItem `json:"quarantine"`
	Signals    []store.SignalRow      `json:"signals"`
	Windows    []windowStatus         `json:"windows"`
	Verdict    string                 `json:"verdict"`
}

// windowStatus is what one watermark knows about a moment.
type windowStatus struct {
	Cursor patra.Cursor         `json:"cursor"`
	State  string               `json:"state"`
	Answer *patra.CoverageEntry `json:"answer,omitempty"`
	Item   patra.Status         `json:"item,omitempty"` // where ids come before records: what became of this one
	Text   string               `json:"text"`
}

// What a moment can be for a watermark.
const (
	placeRead   = "READ"   // a window that holds it was read to its end
	placeLive   = "LIVE"   // one is planned or being read
	placeBefore = "BEFORE" // before the beginning
	placeAfter  = "AFTER"  // after the watermark
	placeGap    = "GAP"    // missing
)

func (a *app) recordWhyCmd() *cobra.Command {
	var recordType, date string
	var out format
	c := &cobra.Command{
		Use: "why SOURCE ID", Short: "Tell what is known about one record, also about one that was never seen", Args: exactArgs("SOURCE", "ID"),
		Long:    "Why tells the biography of a record: its versions, what is in quarantine under its id, who wants it to be looked at again,\nand which windows should hold it. For a record that was never seen say with --date when the provider changed it, by the\ndate that the source is asked by.",
		Example: "  patra records why crossref 10.5555/abc --date 2026-11-03",
		RunE: func(c *cobra.Command, args []string) error {
			at, err := instantField("date", date)
			if err != nil {
				return err
			}
			s, err := a.open(c.Context())
			if err != nil {
				return err
			}
			acc, err := a.explainRecord(c.Context(), s, args[0], recordType, args[1], at)
			if err != nil {
				return err
			}
			if out != "table" {
				return printValue(a.stdout, out, acc)
			}
			acc.print(a.stdout)
			return nil
		},
	}
	c.Flags().StringVar(&recordType, "type", "", "record type, if the source has several")
	c.Flags().StringVar(&date, "date", "", "when the provider changed it: 2026-01-31 or 2026-01-31T09:30:00Z")
	formatFlag(c, &out)
	return c
}

// explainRecord is what is known about a record of a source that somebody knows.
func (a *app) explainRecord(ctx context.Context, s *store.Store, source, recordType, id string, at *patra.Instant) (recordExplanation, error) {
	acc, err := accountOf(ctx, s, source, recordType, id, at)
	if err == nil && acc.Record == nil {
		_, err = a.target(ctx, s, source)
	}
	return acc, err
}

func accountOf(ctx context.Context, s *store.Store, source, recordType, id string, at *patra.Instant) (acc recordExplanation, err error) {
	acc = recordExplanation{Source: source, ID: id, Date: at, Windows: []windowStatus{}}
	if acc.Record, err = findRecord(ctx, s, source, recordType, id); err != nil {
		return acc, err
	}
	if rec := acc.Record; rec != nil {
		if acc.Versions, err = s.VersionHistory(ctx, *rec); err != nil {
			return acc, err
		}
		if at == nil {
			acc.Date = rec.UpdatedAt
		}
	}
	if acc.Quarantine, err = s.Quarantine(ctx, store.QuarantineFilter{Source: source, RecordID: id}); err != nil {
		return acc, err
	}
	if acc.Signals, err = s.SignalsOf(ctx, source, id); err != nil {
		return acc, err
	}
	if acc.Date != nil {
		if acc.Windows, err = placesOf(ctx, s, source, id, *acc.Date); err != nil {
			return acc, err
		}
	}
	acc.Verdict = acc.verdict()
	return acc, nil
}

// placesOf asks every watermark of a source about a moment.
func placesOf(ctx context.Context, s *store.Store, source, id string, at patra.Instant) ([]windowStatus, error) {
	cursors, err := s.Cursors(ctx, store.Filter{Source: source, Limit: most})
	if err != nil {
		return nil, err
	}
	places := []windowStatus{}
	for _, c := range cursors {
		facts, _, err := s.MapFacts(ctx, c.ID, patra.Window{From: at, To: at + 1})
		if err != nil {
			return nil, err
		}
		for i, a := range facts.Answers { // a map is drawn without the counts that are told here
			whole, err := s.CoverageEntry(ctx, a.ID)
			if err != nil {
				return nil, err
			}
			if whole != nil {
				facts.Answers[i] = *whole
			}
		}
		p := placeOf(c, facts.CoverageFacts, at)
		if p.Answer != nil {
			if p.Item, err = s.ItemOf(ctx, p.Answer.SliceID, id); err != nil {
				return nil, err
			}
		}
		places = append(places, p)
	}
	return places, nil
}

// placeOf says what is known of a moment, from all that is known of it.
func placeOf(c patra.Cursor, known patra.CoverageFacts, at patra.Instant) windowStatus {
	p := windowStatus{Cursor: c}
	for i, ans := range known.Answers {
		if ans.Window.Contains(at) && (p.Answer == nil || ans.ClosedAt >= p.Answer.ClosedAt) {
			p.Answer = &known.Answers[i]
		}
	}
	waived := slices.ContainsFunc(known.Waivers, func(w patra.Waiver) bool { return w.Window.Contains(at) })
	switch a := p.Answer; {
	case a != nil:
		p.State = placeRead
		p.Text = fmt.Sprintf("%s was read to its end by slice %d (%s): %s seen, %d in quarantine, %d known missing", a.Window, a.SliceID, a.State, plural(a.IDsSeen, "id"), a.Quarantined, a.KnownMissing)
	case waived:
		p.State, p.Text = placeRead, "somebody has waived this gap"
	case known.Live.Contains(at):
		p.State, p.Text = placeLive, "it is planned or being read; see patra tasks"
	case failedAt(known, at) != nil:
		p.State, p.Text = placeGap, fmt.Sprintf("reading it failed: %s. patra coverage gaps %s says what to do", strings.TrimSuffix(failedAt(known, at).Error(), "."), c.Source)
	case at < c.Origin:
		p.State, p.Text = placeBefore, fmt.Sprintf("it lies before the beginning, %s; patra backfill %s --from DAY reads it", seconds(c.Origin), c.Source)
	case at >= c.Value:
		p.State, p.Text = placeAfter, fmt.Sprintf("it lies after the watermark, %s; patra %s %s goes on", seconds(c.Value), commandOf(c.Operation), c.Source)
	default:
		p.State, p.Text = placeGap, fmt.Sprintf("it lies in a gap; patra %s %s reads it", commandOf(c.Operation), c.Source)
	}
	return p
}

// failedAt is why a moment could not be read, if somebody tried.
func failedAt(known patra.CoverageFacts, at patra.Instant) *patra.Fault {
	for _, g := range patra.Gaps(patra.Window{From: at, To: at + 1}, known) {
		if g.Kind == patra.GapFailed || g.Kind == patra.GapUncut {
			return g.Fault
		}
	}
	return nil
}

func commandOf(op patra.Operation) string {
	return map[patra.Operation]string{patra.Harvest: "harvest", patra.Backfill: "backfill", patra.Update: "update"}[op]
}

// verdict says in a sentence what to make of it.
func (a recordExplanation) verdict() string {
	has := func(state string) bool {
		for _, p := range a.Windows {
			if p.State == state {
				return true
			}
		}
		return false
	}
	open := 0
	for _, q := range a.Quarantine {
		if q.Status == patra.Open || q.Status == patra.Retrying {
			open++
		}
	}
	switch {
	case a.Record != nil && open > 0:
		return "It is stored, and a newer copy of it could not be read: see patra quarantine list."
	case a.Record != nil:
		return "It is stored."
	case open > 0:
		return "It came and could not be read: it is in quarantine. Next: patra quarantine show " + fmt.Sprint(a.Quarantine[0].ID)
	case a.Date == nil:
		return "It was never seen. Say with --date when the provider changed it, to learn whether that was read."
	case a.named(patra.ItemMissing):
		return "It was named by the search, and the provider has no record for it: asked for it alone, it gave none."
	case a.named(patra.ItemBad):
		return "It was named by the search, and asking for it failed, also alone. Next: patra quarantine list --source " + a.Source
	case has(placeRead):
		return "It was never seen, although a window that should hold it was read to its end: the provider did not give it then, or the query does not ask for it."
	case has(placeLive):
		return "It was not seen yet: the window that should hold it is being read."
	case len(a.Windows) == 0:
		return "Nothing of this source was ever read. " + emptyNext
	}
	return "It was never seen: no window that would hold it has been read."
}

// named reports whether a search named the record, and this became of it.
func (a recordExplanation) named(status patra.Status) bool {
	return slices.ContainsFunc(a.Windows, func(p windowStatus) bool { return p.Item == status })
}

func (a recordExplanation) print(w io.Writer) {
	if a.Record != nil {
		fmt.Fprintf(w, "Record     %s/%s/%s, version %d, first seen %s\n", a.Record.Source, a.Record.Type, a.Record.ProviderID, a.Record.Rev, seconds(a.Record.FirstSeen))
		for _, line := range recordFlags(*a.Record) {
			fmt.Fprintf(w, "           %s\n", line)
		}
	} else {
		fmt.Fprintf(w, "Record     %s %s is not stored\n", a.Source, a.ID)
	}
	for _, v := range a.Versions {
		fmt.Fprintf(w, "Version    %d %s at %s in batch %d: %s\n", v.Rev, v.RecordVersion.Change, seconds(v.ObservedAt), v.BatchID, v.Why)
	}
	for _, q := range a.Quarantine {
		fmt.Fprintf(w, "Quarantine %d %s %s at %s, met %s\n", q.ID, q.Status, q.Code, seconds(q.FirstSeen), times(q.Met))
	}
	for _, sig := range a.Signals {
		fmt.Fprintf(w, "Signal     %d %s %s, since %s\n", sig.ID, sig.Reason, sig.Status, seconds(sig.CreatedAt))
	}
	for _, p := range a.Windows {
		fmt.Fprintf(w, "Window     %s %s by %s: %s\n", p.Cursor.Operation, p.Cursor.Endpoint, p.Cursor.Key, p.Text)
	}
	fmt.Fprintf(w, "\n%s\n", a.Verdict)
}

func times(n int64) string {
	if n == 1 {
		return "once"
	}
	return thousands(n) + " times"
}
