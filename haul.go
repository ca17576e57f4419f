package patra

// Settling is how long what changed is left alone before an export takes it. A record carries the time at which its row was
// written; the transaction may end later, and only then does anybody see it. Whoever read up to now would pass by rows that
// are not there yet, and never come back.
const Settling = 2 * Minute

// ExportWindow is what changed after From and up to To. Hauls that follow one another share no change and leave none out.
type ExportWindow struct {
	From Instant `json:"from"` // exclusive
	To   Instant `json:"to"`   // inclusive
}

// NextExportWindow follows what was taken before: up to what has settled by now, and never backwards, whatever clocks do.
func NextExportWindow(taken, now Instant) ExportWindow {
	return ExportWindow{From: taken, To: max(taken, now-Settling)}
}

// ExportPosition is a place in an export: the last record that was taken. Records come in the order of their arrival, or, when a
// haul is taken, by source, time of change and arrival.
type ExportPosition struct {
	Source    string  `json:"source,omitempty"`
	ChangedAt Instant `json:"changed_at,omitzero"`
	ID        int64   `json:"id"`
}

// PositionOf is the place behind a record.
func PositionOf(r Record) ExportPosition { return ExportPosition{r.Source, r.ChangedAt, r.ID} }
