package patra

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// MapState is what is true of a stretch of a watermark's time.
type MapState string

// The states. The worst comes first: of a day it is the one that counts.
const (
	MapGap      MapState = "GAP"    // nobody has read it, and nobody is at it
	MapFailed   MapState = "FAILED" // it was tried as often as is permitted
	MapWaived   MapState = "WAIVED" // somebody signed it off as missing
	MapOpen     MapState = "OPEN"   // it is to be cut again
	MapAhead    MapState = "AHEAD"  // nobody has come to it yet: the next harvest begins there
	MapQueued   MapState = "QUEUED" // its task waits
	MapRunning  MapState = "RUNNING"
	MapDisputed MapState = "DISPUTED"
	MapRead     MapState = "READ"
	MapShort    MapState = "SHORT" // it was read to its end, and the provider counts more: an estimate, or a dispute that a person accepted
	MapSealed   MapState = "SEALED"
)

// mapStates are all of them, the worst first.
var mapStates = []MapState{MapGap, MapFailed, MapWaived, MapOpen, MapAhead, MapQueued, MapRunning, MapDisputed, MapRead, MapShort, MapSealed}

// LiveSlice is a slice that somebody is at, or will be.
type LiveSlice struct {
	SliceID, TaskID int64
	Windows         []Window // what it still has to answer for
	Running         bool
	Recut           bool   // it ended early, and its rest is to be cut
	Expected        *int64 // what the provider says that there is
}

// MapFacts is all that a map is drawn from.
type MapFacts struct {
	CoverageFacts
	Slices []LiveSlice // those of CoverageFacts.Live
}

// Segment is a stretch of which one thing is true.
type Segment struct {
	From     Instant  `json:"from"`
	To       Instant  `json:"to"`
	State    MapState `json:"state" enum:"GAP,FAILED,WAIVED,OPEN,AHEAD,QUEUED,RUNNING,DISPUTED,READ,SHORT,SEALED"`
	SliceID  int64    `json:"slice_id,omitempty"`
	TaskID   int64    `json:"task_id,omitempty"`
	Records  *int64   `json:"records,omitempty"`  // that were read of it
	Expected *int64   `json:"expected,omitempty"` // what the provider says that there is
	Said     string   `json:"said,omitempty"`
}

// MapDay is a day of a map.
type MapDay struct {
	Day     string   `json:"day"`
	State   MapState `json:"state" enum:"GAP,FAILED,WAIVED,OPEN,AHEAD,QUEUED,RUNNING,DISPUTED,READ,SHORT,SEALED"`
	Records int64    `json:"records"`
	Gaps    int64    `json:"gaps"` // stretches of it that are missing
}

// Segments say of each moment of a window what is true of it, in the order of time, without overlap and without a hole. What
// was read stays read, also while somebody reads it again; of the rest the rules of Gaps say what is missing.
func Segments(w Window, f MapFacts) []Segment {
	if w.IsEmpty() {
		return []Segment{}
	}
	all := make([]Segment, 0, len(f.Answers)+1)
	add := func(c Coverage, s Segment) {
		for _, part := range c {
			s.From, s.To = part.From, part.To
			all = append(all, s)
		}
	}
	read := f.spoken(w, func(part Window, a *CoverageEntry) { all = append(all, a.segment(part)) })
	told := slices.Clone(read)
	tasks := map[int64]int64{}
	for _, e := range f.Ended {
		tasks[e.SliceID] = e.TaskID
	}
	for _, g := range missing(w, f.CoverageFacts, read) {
		told = append(told, g.Window)
		all = append(all, Segment{From: g.Window.From, To: g.Window.To, State: gapStates[g.Kind], SliceID: g.SliceID, TaskID: tasks[g.SliceID], Said: g.Reason()})
	}
	rest := NewCoverage(w).Minus(NewCoverage(told...))
	for _, s := range slices.SortedFunc(slices.Values(f.Slices), func(a, b LiveSlice) int { return cmp.Compare(b.SliceID, a.SliceID) }) {
		own := NewCoverage(s.Windows...)
		for _, part := range own {
			add(rest.Clip(part), Segment{State: s.state(), SliceID: s.SliceID, TaskID: s.TaskID, Expected: s.Expected})
		}
		rest = rest.Minus(own)
	}
	add(rest, Segment{State: MapOpen}) // somebody is at it, and whoever it is has changed since we looked
	slices.SortFunc(all, func(a, b Segment) int { return cmp.Compare(a.From, b.From) })
	return all
}

// spoken tells in the order of time which answer speaks for which part of a window, and gives what all of them cover of it.
func (f MapFacts) spoken(w Window, tell func(Window, *CoverageEntry)) (read Coverage) {
	var part Window // of one answer, as far as it goes without another between
	var by *CoverageEntry
	done := func() {
		if part.From, part.To = max(part.From, w.From), min(part.To, w.To); by != nil && !part.IsEmpty() {
			read = extend(read, part)
			tell(part, by)
		}
	}
	sweep(f.Answers, func(next Window, a *CoverageEntry) {
		if a == by && part.To == next.From {
			part.To = next.To
			return
		}
		done()
		part, by = next, a
	})
	done()
	return read
}

// segment is what an answer says of a part of its window.
func (e *CoverageEntry) segment(part Window) Segment {
	records := e.share(part)
	s := Segment{From: part.From, To: part.To, State: MapState(e.State), SliceID: e.SliceID, Records: &records}
	if e.Window == part {
		s.Expected = e.CountAfter
	}
	if e.State == StateSealed && e.CountAfter != nil && e.IDsSeen < *e.CountAfter {
		s.State = MapShort
		s.Said = fmt.Sprintf("%s of %s were read: %s fewer than the provider's count", thousands(e.IDsSeen), thousands(*e.CountAfter), thousands(*e.CountAfter-e.IDsSeen))
	}
	if e.State == StateDisputed && e.CountAfter != nil {
		s.Said = fmt.Sprintf("the provider counts %d, %d were read", *e.CountAfter, e.IDsSeen)
	}
	return s
}

var gapStates = map[GapKind]MapState{GapUnplanned: MapGap, GapCancelled: MapGap, GapFailed: MapFailed, GapUncut: MapFailed, GapWaived: MapWaived}

func (s LiveSlice) state() MapState {
	switch {
	case s.Recut:
		return MapOpen
	case s.Running:
		return MapRunning
	}
	return MapQueued
}

// share is how many of an answer's records fall to a part of its window, if they lie evenly. The shares of parts that tile it
// add up to all of them.
func (e CoverageEntry) share(part Window) int64 {
	upTo := func(at Instant) int64 {
		return int64(math.Floor(float64(e.IDsSeen) * float64(at-e.Window.From) / float64(e.Window.To-e.Window.From)))
	}
	return upTo(part.To) - upTo(part.From)
}

// SplitAhead tells apart what was left out, which is a gap, and what nobody has come to yet: what is missing from a moment on at which
// all that was ever planned ends.
func SplitAhead(all []Segment, planned Instant) []Segment {
	out := make([]Segment, 0, len(all)+1)
	for _, s := range all {
		if s.State != MapGap || s.To <= planned {
			out = append(out, s)
			continue
		}
		if s.From < planned {
			before := s
			before.To, s.From = planned, planned
			out = append(out, before)
		}
		s.State, s.Said = MapAhead, ""
		out = append(out, s)
	}
	return out
}

// CoalesceSegments joins segments until there are at most so many, and tells how many went: first neighbours of the same state, then, if
// there are still too many, any two, of which the worse counts.
func CoalesceSegments(all []Segment, most int) (fewer []Segment, merged int) {
	if len(all) <= most {
		return all, 0
	}
	for _, s := range all {
		if n := len(fewer) - 1; n >= 0 && fewer[n].State == s.State {
			fewer[n] = fewer[n].with(s)
			continue
		}
		fewer = append(fewer, s)
	}
	for len(fewer) > max(most, 1) {
		half := make([]Segment, 0, (len(fewer)+1)/2)
		for pair := range slices.Chunk(fewer, 2) {
			s := pair[0]
			if len(pair) == 2 {
				s = s.with(pair[1])
			}
			half = append(half, s)
		}
		fewer = half
	}
	return fewer, len(all) - len(fewer)
}

// with is a segment and the next one as one.
func (s Segment) with(next Segment) Segment {
	if slices.Index(mapStates, next.State) < slices.Index(mapStates, s.State) {
		s.State = next.State
	}
	if s.Records != nil || next.Records != nil {
		sum := valueOf(s.Records) + valueOf(next.Records)
		s.Records = &sum
	}
	if s.Said != next.Said {
		s.Said = ""
	}
	s.To, s.SliceID, s.TaskID, s.Expected = next.To, 0, 0, nil
	return s
}

func valueOf(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

// MapDays are the days that segments touch, at most so many, the last ones. The worst that is true of any part of a day is
// what the day is.
func MapDays(all []Segment, most int) []MapDay {
	days := []MapDay{}
	if len(all) == 0 {
		return days
	}
	last := all[len(all)-1].To
	first := max(UnitDay.Floor(all[0].From), UnitDay.Ceil(last)-Instant(most)*Day)
	i := 0
	for at := first; at < last; at += Day {
		for i < len(all) && all[i].To <= at {
			i++
		}
		d := MapDay{Day: at.Time().Format("2006-01-02"), State: MapSealed}
		for j := i; j < len(all) && all[j].From < at+Day; j++ {
			s := all[j]
			if slices.Index(mapStates, s.State) < slices.Index(mapStates, d.State) {
				d.State = s.State
			}
			if s.State == MapGap || s.State == MapFailed {
				d.Gaps++
			}
			if s.Records != nil {
				own := CoverageEntry{Window: Window{From: s.From, To: s.To}, IDsSeen: *s.Records}
				d.Records += own.share(Window{From: max(s.From, at), To: min(s.To, at+Day)})
			}
		}
		days = append(days, d)
	}
	return days
}
