package query

import (
	"bytes"
	"encoding/json"
	"fmt"

	"patra"
)

// RangeType says what a range compares. In the stored form an absent type means DATETIME, which is what the window of
// a slice is.
type RangeType string

// The kinds of range. A DATE bound means its whole day, so a range closed at 31 January includes that evening; a
// DATETIME bound means that very moment.
const (
	RangeDate     RangeType = "DATE"
	RangeDateTime RangeType = "DATETIME"
	RangeNumber   RangeType = "NUMBER"
)

// ranges is the kind of a RANGE, with the default filled in.
func (n Node) ranges() RangeType {
	if n.Range == "" {
		return RangeDateTime
	}
	return n.Range
}

// BoundKind says whether a bound belongs to its range.
type BoundKind string

// The kinds of bound.
const (
	Closed BoundKind = "CLOSED"
	Open   BoundKind = "OPEN"
)

// Bound is one end of a range: a moment, or in a NUMBER range a number.
type Bound struct {
	Value  patra.Instant
	Number *float64
	Kind   BoundKind
}

// At is a bound at a moment.
func At(i patra.Instant, k BoundKind) *Bound { return &Bound{Value: i, Kind: k} }

// AtNumber is a bound at a number.
func AtNumber(f float64, k BoundKind) *Bound { return &Bound{Number: &f, Kind: k} }

// MarshalJSON writes {"value": moment} or {"number": n}, and the kind.
func (b Bound) MarshalJSON() ([]byte, error) {
	if b.Number != nil {
		return json.Marshal(struct {
			Number float64   `json:"number"`
			Kind   BoundKind `json:"kind"`
		}{*b.Number, b.Kind})
	}
	return json.Marshal(struct {
		Value patra.Instant `json:"value"`
		Kind  BoundKind     `json:"kind"`
	}{b.Value, b.Kind})
}

// UnmarshalJSON reads what MarshalJSON writes and nothing else.
func (b *Bound) UnmarshalJSON(data []byte) error {
	var w struct {
		Value  *patra.Instant `json:"value"`
		Number *float64       `json:"number"`
		Kind   BoundKind      `json:"kind"`
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&w); err != nil {
		return err
	}
	if (w.Value == nil) == (w.Number == nil) {
		return fmt.Errorf("a bound has either a value or a number")
	}
	*b = Bound{Number: w.Number, Kind: w.Kind}
	if w.Value != nil {
		b.Value = *w.Value
	}
	return nil
}
