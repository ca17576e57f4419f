package patra

// CursorCoverage is what gaps and verdicts of one cursor are made of: the time that it answers for, and all that is known about it.
type CursorCoverage struct {
	Cursor  Cursor
	Span    Window  // that it answers for, or the part of it in which anything can be missing
	Planned Instant // where its last plan ends
	CoverageFacts
	Plans []Plan // that are not cut to their end, or could not be cut; newest first
}

// ScheduleState is what came of the last fires of a schedule.
type ScheduleState struct {
	Name      string    `json:"name"`
	Source    string    `json:"source"`
	Endpoint  string    `json:"endpoint,omitempty"`
	Operation Operation `json:"operation"`
	Fired     *Instant  `json:"fired,omitempty"`   // the last time
	Due       *Instant  `json:"due,omitempty"`     // when it should have fired last, long enough ago; nil where schedules are not known
	Refused   int64     `json:"refused,omitempty"` // how many fires in a row were refused, the last one among them
	Since     *Instant  `json:"since,omitempty"`   // the first of them
	Why       string    `json:"why,omitempty"`     // the reason of the last one
	Capped    bool      `json:"capped,omitempty"`  // it may be more than Refused, and earlier than Since
}

// RefusalNext is what to do about a schedule that is refused.
func (s ScheduleState) RefusalNext() string {
	return "correct what the reason names, then patra triggers --source " + s.Source
}

// Refusal says how often a schedule was refused, since when and why.
func (s ScheduleState) Refusal() string {
	since := ""
	if s.Since != nil && s.Refused > 1 {
		since = ", since " + s.Since.String()
	}
	times := number(s.Refused, "time", "times in a row")
	if s.Capped {
		times = "more than " + times
	}
	return "The schedule " + s.Name + " of " + s.Source + " " + string(s.Operation) + " was refused " + times + since + ": " + ended(s.Why)
}

// Missed reports whether a schedule did not fire when it should have. One that never fired may be new.
func (s ScheduleState) Missed() bool { return s.Due != nil && s.Fired != nil && *s.Fired < *s.Due }
