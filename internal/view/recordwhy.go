package view

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"patra"
	"patra/internal/store"
)

// RecordWhy is what is known about one record, also about one that is not stored. A stored record is explained by the work
// that brought it; its own date says nothing about windows, because a source may be asked by another one.
type RecordWhy struct {
	Source     string                 `json:"source"`
	ID         string                 `json:"id"`
	Repository string                 `json:"repository,omitempty" doc:"which of the providers behind the source it is of; nothing where the source is one provider"`
	Date       *patra.Instant         `json:"date,omitempty"` // that the question named
	Record     *patra.Record          `json:"record,omitempty"`
	Versions   []store.VersionEntry   `json:"versions,omitempty"`
	Absences   []patra.AbsenceEpisode `json:"absences,omitempty"`
	Quarantine []patra.QuarantineItem `json:"quarantine"`
	Signals    []store.SignalRow      `json:"signals"`
	Windows    []RecordWindow         `json:"windows"`
	Verdict    string                 `json:"verdict"`

	origin *recordOrigin
}

// RecordWindow is a window that has to do with a record, and why.
type RecordWindow struct {
	By      string               `json:"by"` // LINEAGE, NAMED or DATE
	Cursor  patra.Cursor         `json:"cursor"`
	SliceID int64                `json:"slice_id,omitempty"` // that brought the record or named its id
	Window  *patra.Window        `json:"window,omitempty"`   // of that slice
	State   string               `json:"state"`
	Answer  *patra.CoverageEntry `json:"answer,omitempty"`
	Item    patra.Status         `json:"item,omitempty"` // where ids come before records: what became of this one
	Text    string               `json:"text"`
}

// Why a window has to do with a record.
const (
	ByLineage = "LINEAGE" // its slice brought the stored version
	ByName    = "NAMED"   // its search named the id
	ByDate    = "DATE"    // it holds the date of the question
)

// What a window can be.
const (
	WindowRead   = "READ"   // it was read to its end
	WindowLive   = "LIVE"   // it is planned or being read
	WindowBefore = "BEFORE" // it lies before the beginning
	WindowAfter  = "AFTER"  // it lies after the watermark
	WindowGap    = "GAP"    // it is missing
)

// How many cursors and searches of a source are looked at.
const (
	mostCursors  = 1000
	mostSearches = 20
)

// ExplainRecord tells where a record came from, or what is known about one that is not stored. at is a date that the question
// names, by the date that the source is asked by.
func ExplainRecord(ctx context.Context, s *store.Store, name RecordName, at *patra.Instant) (w RecordWhy, err error) {
	w = RecordWhy{Source: name.Source, ID: name.ID, Repository: name.Repository, Date: at, Windows: []RecordWindow{}}
	if w.Record, err = FindRecord(ctx, s, name); err != nil {
		return w, err
	}
	if w.Record != nil {
		w.Repository = w.Record.Repository
	}
	if w.Quarantine, err = s.Quarantine(ctx, store.QuarantineFilter{Source: w.Source, RecordID: w.ID, Repository: w.Repository}); err != nil {
		return w, err
	}
	if w.Signals, err = s.SignalsOf(ctx, w.Source, w.ID); err != nil {
		return w, err
	}
	w.Signals = slices.DeleteFunc(w.Signals, func(r store.SignalRow) bool { return w.Repository != "" && r.Repository != w.Repository })
	cursors, err := s.Cursors(ctx, store.Filter{Source: w.Source, Limit: mostCursors})
	if err != nil {
		return w, err
	}
	cursors = slices.DeleteFunc(cursors, func(c patra.Cursor) bool { return w.Repository != "" && c.Repository != w.Repository })
	if w.Record != nil {
		err = w.follow(ctx, s, cursors)
	} else {
		err = w.named(ctx, s, cursors)
	}
	if err == nil && at != nil {
		err = w.dated(ctx, s, cursors, *at)
	}
	w.Verdict = w.verdict(len(cursors) > 0)
	return w, err
}

// recordOrigin is the work that brought the stored version of a record.
type recordOrigin struct {
	lineage *patra.Lineage // nil: the ledger does not have its batch
	slice   *patra.Slice
	cursor  *patra.Cursor // nil: of an update by id, which answers for no window
}

// follow goes from a stored record to its batch, its slice and the window of that.
func (w *RecordWhy) follow(ctx context.Context, s *store.Store, cursors []patra.Cursor) (err error) {
	if w.Versions, err = s.VersionHistory(ctx, *w.Record); err != nil {
		return err
	}
	if w.Absences, err = s.Absences(ctx, w.Record.ID); err != nil {
		return err
	}
	w.origin = &recordOrigin{}
	if w.origin.lineage, err = s.Lineage(ctx, w.Record.BatchID); err != nil || w.origin.lineage == nil {
		return err
	}
	found, err := s.Slices(ctx, store.Filter{Slice: w.origin.lineage.Slice, Limit: 1})
	if err != nil || len(found) == 0 {
		return err
	}
	slice := found[0]
	w.origin.slice = &slice
	at := slices.IndexFunc(cursors, func(c patra.Cursor) bool { return c.ID == slice.CursorID })
	if slice.CursorID == 0 || at < 0 {
		return nil
	}
	w.origin.cursor = &cursors[at]
	facts, err := factsOf(ctx, s, cursors[at], slice.Window)
	if err != nil {
		return err
	}
	p := RecordWindow{By: ByLineage, Cursor: cursors[at], SliceID: slice.ID, Window: &slice.Window}
	p.State, p.Answer, p.Text = stateOf(cursors[at], facts, slice.Window.From)
	p.Text = fmt.Sprintf("%s. It came with slice %d, in batch %d", p.Text, slice.ID, w.origin.lineage.Batch)
	w.Windows = append(w.Windows, p)
	return nil
}

// named finds the searches that named an id whose record is not stored.
func (w *RecordWhy) named(ctx context.Context, s *store.Store, cursors []patra.Cursor) error {
	searches, err := s.NamedBy(ctx, w.Source, w.ID, mostSearches)
	if err != nil {
		return err
	}
	for _, n := range searches {
		at := slices.IndexFunc(cursors, func(c patra.Cursor) bool { return c.ID == n.CursorID })
		if at < 0 {
			continue
		}
		facts, err := factsOf(ctx, s, cursors[at], n.Window)
		if err != nil {
			return err
		}
		p := RecordWindow{By: ByName, Cursor: cursors[at], SliceID: n.SliceID, Window: &n.Window, Item: n.Status}
		p.State, p.Answer, p.Text = stateOf(cursors[at], facts, n.Window.From)
		p.Text = fmt.Sprintf("%s. The search of slice %d named it", p.Text, n.SliceID)
		w.Windows = append(w.Windows, p)
	}
	return nil
}

// dated asks every cursor of the source about a moment.
func (w *RecordWhy) dated(ctx context.Context, s *store.Store, cursors []patra.Cursor, at patra.Instant) error {
	for _, c := range cursors {
		facts, err := factsOf(ctx, s, c, patra.Window{From: at, To: at + 1})
		if err != nil {
			return err
		}
		p := RecordWindow{By: ByDate, Cursor: c}
		p.State, p.Answer, p.Text = stateOf(c, facts, at)
		if p.State == WindowAfter {
			planned, err := s.PlannedWindow(ctx, c.ID)
			if err != nil {
				return err
			}
			if at < planned.To { // the watermark waits before a hole, and this is in it
				p.State, p.Text = WindowGap, fmt.Sprintf("it lies in a gap; patra coverage fill %s reads it", c.Source)
			}
		}
		if p.Answer != nil {
			if p.Item, err = s.ItemOf(ctx, p.Answer.SliceID, w.ID); err != nil {
				return err
			}
		}
		w.Windows = append(w.Windows, p)
	}
	return nil
}

// factsOf is what is known of a stretch of a cursor's time, with the counts of what was read.
func factsOf(ctx context.Context, s *store.Store, c patra.Cursor, w patra.Window) (patra.CoverageFacts, error) {
	facts, _, err := s.MapFacts(ctx, c.ID, w)
	if err != nil {
		return facts.CoverageFacts, err
	}
	for i, a := range facts.Answers { // a map is drawn without the counts
		whole, err := s.CoverageEntry(ctx, a.ID)
		if err != nil {
			return facts.CoverageFacts, err
		}
		if whole != nil {
			facts.Answers[i] = *whole
		}
	}
	return facts.CoverageFacts, nil
}

// stateOf says what is known of a moment, from all that is known of it.
func stateOf(c patra.Cursor, known patra.CoverageFacts, at patra.Instant) (state string, answer *patra.CoverageEntry, text string) {
	for i, a := range known.Answers {
		if a.Window.Contains(at) && (answer == nil || a.ClosedAt >= answer.ClosedAt) {
			answer = &known.Answers[i]
		}
	}
	waived := slices.ContainsFunc(known.Waivers, func(w patra.Waiver) bool { return w.Window.Contains(at) })
	command := runWords[c.Operation].do
	switch a := answer; {
	case a != nil:
		return WindowRead, a, fmt.Sprintf("%s was read to its end by slice %d (%s): %s seen, %d in quarantine, %d known missing",
			a.Window, a.SliceID, a.State, number(a.IDsSeen, "id", "ids"), a.Quarantined, a.KnownMissing)
	case waived:
		return WindowGap, nil, "it was not read, and a person has waived the gap"
	case known.Live.Contains(at):
		return WindowLive, nil, "it is planned or being read; see patra tasks"
	}
	if why := failureAt(known, at); why != nil {
		return WindowGap, nil, fmt.Sprintf("reading it failed: %s. patra coverage gaps %s says what to do", strings.TrimSuffix(why.Error(), "."), c.Source)
	}
	switch {
	case at < c.Origin:
		return WindowBefore, nil, fmt.Sprintf("it lies before the beginning, %s; patra backfill %s --from DAY reads it", seconds(c.Origin), c.Source)
	case at >= c.Value:
		return WindowAfter, nil, fmt.Sprintf("it lies after the watermark, %s; patra %s %s goes on", seconds(c.Value), command, c.Source)
	}
	return WindowGap, nil, fmt.Sprintf("it lies in a gap; patra %s %s reads it", command, c.Source)
}

// failureAt is why a moment could not be read, if it was tried.
func failureAt(known patra.CoverageFacts, at patra.Instant) *patra.Fault {
	for _, g := range patra.Gaps(patra.Window{From: at, To: at + 1}, known) {
		if g.Kind == patra.GapFailed || g.Kind == patra.GapUncut {
			return g.Fault
		}
	}
	return nil
}

func seconds(i patra.Instant) string { return i.Time().Format("2006-01-02 15:04:05") }

// verdict says in a few sentences what the evidence shows.
func (w RecordWhy) verdict(read bool) string {
	open := slices.IndexFunc(w.Quarantine, func(q patra.QuarantineItem) bool { return q.Status == patra.Open || q.Status == patra.Retrying })
	switch {
	case w.Record != nil && open >= 0:
		return "It is stored, and a newer copy of it could not be read: see patra quarantine list. " + w.came()
	case w.Record != nil && w.Record.GoneAt != nil:
		return "It is stored, and gone: the provider no longer gives it. An update by id asks for it again, and revives it when it comes. " + w.came()
	case w.Record != nil && w.Record.MissingSince != nil:
		return "It is stored, and missing: the provider refused it by its id. Next: patra update " + w.Source + " --ids " + w.ID + " asks again. " + w.came()
	case w.Record != nil:
		return "It is stored. " + w.came()
	case open >= 0:
		return fmt.Sprintf("It came and could not be read: it is in quarantine. Next: patra quarantine show %d", w.Quarantine[open].ID)
	case w.item(patra.ItemMissing) != nil:
		return "It was named by the search, and the provider has no record for it: asked for it alone, it gave none."
	case w.item(patra.ItemBad) != nil:
		return "It was named by the search, and asking for it failed, also alone. Next: patra quarantine list --source " + w.Source
	case w.item(patra.ItemPending) != nil:
		return fmt.Sprintf("It was named by the search of slice %d, and its record was not fetched yet.", w.item(patra.ItemPending).SliceID)
	case !read:
		return "It is not stored. Nothing of this source was ever read. Next: patra harvest " + w.Source
	case w.Date == nil:
		return "It is not stored. Say with --date when the provider changed it, by the date that the source is asked by, to learn whether that was read."
	}
	return w.absent()
}

// came says by which window a stored record came.
func (w RecordWhy) came() string {
	o := w.origin
	switch {
	case o == nil || o.lineage == nil:
		return fmt.Sprintf("The ledger does not have batch %d, which brought version %d, so its window is not known.", w.Record.BatchID, w.Record.Rev)
	case o.slice == nil:
		return fmt.Sprintf("Version %d came with slice %d, which the store does not have any more.", w.Record.Rev, o.lineage.Slice)
	case o.cursor == nil:
		return fmt.Sprintf("Version %d came with slice %d, which asked for ids and answers for no window.", w.Record.Rev, o.slice.ID)
	case o.cursor.Operation == patra.Update:
		return fmt.Sprintf("Version %d came with the window %s of an update: slice %d asked for %s.", w.Record.Rev, o.slice.Window, o.slice.ID, o.slice.Fetch)
	}
	return fmt.Sprintf("Version %d came with the window %s: slice %d asked for %s by %s.",
		w.Record.Rev, o.slice.Window, o.slice.ID, o.slice.Fetch, o.cursor.Key)
}

// absent says what the windows of a date show about a record that is not stored.
func (w RecordWhy) absent() string {
	for _, p := range w.Windows {
		if p.State == WindowRead && p.By == ByDate {
			return fmt.Sprintf("It is not stored. By that date %s would have held it, which was read to its end: the provider did not give it then, "+
				"or dates it otherwise, or the query does not ask for it.", p.Answer.Window)
		}
	}
	for _, p := range w.Windows {
		if p.State == WindowLive && p.By == ByDate {
			return "It is not stored: the window that would hold it by that date is being read."
		}
	}
	return "It is not stored, and no window that would hold it by that date has been read."
}

// item is a window whose search named the record, when this became of it.
func (w RecordWhy) item(status patra.Status) *RecordWindow {
	if i := slices.IndexFunc(w.Windows, func(p RecordWindow) bool { return p.Item == status }); i >= 0 {
		return &w.Windows[i]
	}
	return nil
}
