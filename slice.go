package patra

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Purpose says why a slice exists. Only NEED subtracts what is covered or under way.
type Purpose string

// The purposes.
const (
	PurposeNeed      Purpose = "NEED"      // neither covered nor live
	PurposeLookback  Purpose = "LOOKBACK"  // read again for late arrivals
	PurposeReconcile Purpose = "RECONCILE" // read again because somebody insists
	PurposeFill      Purpose = "FILL"      // a gap, a window in dispute or one with items that could not be read, because somebody asks for it
	PurposeRefresh   Purpose = "REFRESH"   // known records again
)

// sliceSpecVersion is the shape of SliceSpec; an executor refuses one that it does not know.
const sliceSpecVersion = 1

// SliceSpec is the boundary of a slice and the limits it runs under.
type SliceSpec struct {
	V        int          `json:"v"`
	Strategy Strategy     `json:"strategy"`
	Window   *SliceWindow `json:"window,omitempty"`
	Range    *SliceRange  `json:"range,omitempty"`
	Cursor   *SliceCursor `json:"cursor,omitempty"`
	Budget   *Budget      `json:"budget,omitempty"`
	Hints    *Hints       `json:"hints,omitempty"`
}

// SliceWindow is what a slice answers for.
type SliceWindow struct {
	From      Instant           `json:"from"`
	To        Instant           `json:"to"`
	Boundary  map[string]string `json:"boundary"`
	Timezone  string            `json:"timezone"`
	Precision Unit              `json:"precision"`
}

// RangeKind says what the numbers of a range are.
type RangeKind string

// The kinds of range.
const (
	RangeNumber RangeKind = "NUMBER" // values of a field that the provider can be asked for
	RangeBucket RangeKind = "BUCKET" // buckets of ids that are known already, see Bucket
)

// SliceRange is the ids that a slice answers for. A window that is cut by ids is covered when all its parts are closed:
// when their ranges tile Of.
type SliceRange struct {
	Kind RangeKind `json:"kind"`
	Key  string    `json:"key"` // the field of the query; of buckets, OwnIDs or the SOURCE or SOURCE.FIELD that the ids are from
	IDRange
	Of IDRange `json:"of"` // the whole space, or all buckets
}

// OwnIDs is the key of buckets of a source's own ids.
const OwnIDs = "provider_id"

// SliceCursor is a walk that is not bounded by a filter: from the provider's first position to its last.
type SliceCursor struct {
	Type string `json:"type"` // the kind of paging
	Stop string `json:"stop"` // EXHAUSTED: the end is where the provider has no more
}

// StopExhausted is the only way in which a walk without a filter ends.
const StopExhausted = "EXHAUSTED"

// Budget is a hard limit on one slice; zero is no limit. A slice that reaches it is closed with what it has, and the
// rest is planned again in smaller pieces.
type Budget struct {
	MaxRequests int64 `json:"maxRequests,omitempty"`
	MaxRecords  int64 `json:"maxRecords,omitempty"`
	MaxSeconds  int64 `json:"maxDurationSec,omitempty"`
	Priority    int   `json:"priority,omitempty"`
}

// Hints help the executor and change nothing about what a slice is.
type Hints struct {
	PageSize     int    `json:"expectedPageSize,omitempty"`
	Order        string `json:"order,omitempty"`
	SafetyLagSec int64  `json:"safetyLagSec,omitempty"`
	Explore      bool   `json:"explore,omitempty"` // nobody knows how much there is
	Whole        bool   `json:"whole,omitempty"`   // it cannot be cut any further: a budget must not stop it
	Heavy        bool   `json:"heavy,omitempty"`   // its pages are known to be large, and shorter slices did not help
}

// NewTimeSlice makes the spec of a slice that answers for w.
func NewTimeSlice(w Window, precision Unit, hints Hints) SliceSpec {
	return SliceSpec{V: sliceSpecVersion, Strategy: StrategyTime, Hints: &hints, Window: &SliceWindow{
		From: w.From, To: w.To, Boundary: map[string]string{"from": "CLOSED", "to": "OPEN"}, Timezone: "UTC", Precision: precision,
	}}
}

// NewRangeSlice makes the spec of a slice that answers for ids, whatever their time.
func NewRangeSlice(r SliceRange) SliceSpec {
	return SliceSpec{V: sliceSpecVersion, Strategy: StrategyIDRange, Range: &r}
}

// Signature identifies the slice within its plan. Budget, hints and telemetry never change identity.
func (s SliceSpec) Signature() string {
	boundary := map[string]any{"strategy": s.Strategy}
	if s.Window != nil {
		boundary["window"] = map[string]any{"from": s.Window.From.String(), "to": s.Window.To.String()}
	}
	if s.Range != nil {
		boundary["range"] = map[string]any{"kind": s.Range.Kind, "key": s.Range.Key, "from": s.Range.From, "to": s.Range.To, "of": s.Range.Of}
	}
	if s.Cursor != nil {
		boundary["cursor"] = map[string]any{"type": s.Cursor.Type, "stop": s.Cursor.Stop}
	}
	return Hash(boundary)
}

// parts are what the spec of a strategy must have, and may have.
var parts = map[Strategy]struct{ window, rng, cursor, budget bool }{
	StrategyTime:     {window: true},
	StrategyHybrid:   {window: true, rng: true},
	StrategyIDRange:  {rng: true},
	StrategyLandmark: {window: true, cursor: true},
	StrategyVolume:   {window: true, budget: true},
}

// Validate refuses a spec that could not be executed faithfully; it runs before anything is stored.
func (s SliceSpec) Validate() error {
	var errs []error
	if s.V != sliceSpecVersion {
		errs = append(errs, fmt.Errorf("slice spec version %d is not known", s.V))
	}
	need, ok := parts[s.Strategy]
	if !ok {
		return errors.Join(append(errs, fmt.Errorf("slice strategy %q is not known", s.Strategy))...)
	}
	check := func(name string, needed, there bool, problem func() error) {
		switch {
		case needed && !there:
			errs = append(errs, fmt.Errorf("a %s slice needs a %s", s.Strategy, name))
		case there:
			errs = append(errs, problem())
		}
	}
	check("window", need.window, s.Window != nil, func() error { return s.Window.validate() })
	check("range", need.rng, s.Range != nil, func() error { return s.Range.validate() })
	check("cursor", need.cursor, s.Cursor != nil, func() error { return s.Cursor.validate() })
	check("budget", need.budget, s.Budget != nil, func() error { return s.Budget.validate() })
	if s.Range != nil && !need.rng {
		errs = append(errs, fmt.Errorf("a %s slice has no range of ids", s.Strategy))
	}
	return errors.Join(errs...)
}

func (w SliceWindow) validate() error {
	var errs []error
	if w.From >= w.To {
		errs = append(errs, fmt.Errorf("slice window %s~%s is empty", w.From, w.To))
	}
	if w.From%Millisecond != 0 || w.To%Millisecond != 0 {
		errs = append(errs, errors.New("slice bounds have millisecond precision"))
	}
	if w.Timezone != "UTC" || w.Boundary["from"] != "CLOSED" || w.Boundary["to"] != "OPEN" {
		errs = append(errs, errors.New("a slice window is UTC, closed at from and open at to"))
	}
	return errors.Join(errs...)
}

func (r SliceRange) validate() error {
	switch {
	case r.Kind != RangeNumber && r.Kind != RangeBucket:
		return fmt.Errorf("slice range kind %q is not known", r.Kind)
	case r.Key == "":
		return errors.New("a slice range names what its numbers are of")
	case r.IsEmpty():
		return fmt.Errorf("slice range %s is empty", r.IDRange)
	case r.From < r.Of.From || r.To > r.Of.To:
		return fmt.Errorf("slice range %s lies outside %s", r.IDRange, r.Of)
	}
	return nil
}

func (c SliceCursor) validate() error {
	if c.Type == "" || c.Stop != StopExhausted {
		return errors.New("a walk without a filter has a kind of paging and ends when it is exhausted")
	}
	return nil
}

func (b Budget) validate() error {
	if b.MaxRequests < 0 || b.MaxRecords < 0 || b.MaxSeconds < 0 || b.Priority < 0 || b.Priority > 9 {
		return errors.New("no limit of a budget is below zero, and a priority is between 1 and 9")
	}
	return nil
}

// Slice is the smallest unit of parallel work: the window it answers for and the window it asks for.
type Slice struct {
	ID        int64           `json:"id"`
	PlanID    int64           `json:"plan_id"`
	ParentID  int64           `json:"parent_slice_id,omitempty"` // the slice that was cut into this one and others
	CursorID  int64           `json:"cursor_id"`
	No        int64           `json:"slice_no"`
	Purpose   Purpose         `json:"purpose"`
	PartNo    int64           `json:"part_no,omitempty"` // where a window is cut by ids, which of PartCount
	PartCount int64           `json:"part_count,omitempty"`
	Spec      SliceSpec       `json:"slice_spec"`
	Signature string          `json:"signature"`
	Expr      json.RawMessage `json:"expr"`
	ExprHash  string          `json:"expr_hash"`
	Window    Window          `json:"window"`
	Fetch     Window          `json:"fetch"`
	Confirmed *Window         `json:"confirmed,omitempty"` // of one that ended early: what it proved all the same
	Estimate  *Estimate       `json:"estimate,omitempty"`
	Reslice   *Reslice        `json:"reslice,omitempty"` // of one that ended early: why
	Shown     ShownIDs        `json:"-"`                 // what the provider has shown of it before it was read; only new slices have it
	Status    Status          `json:"status"`
	ClosedAt  *Instant        `json:"closed_at,omitempty"`
}

// Check refuses a slice that would answer for more than it asks for, or for something else than it says.
func (s Slice) Check() error {
	err := s.Spec.Validate()
	if w := s.Spec.Window; w != nil && (w.From != s.Window.From || w.To != s.Window.To) {
		err = errors.Join(err, fmt.Errorf("slice %s says that it is %s~%s", s.Window, w.From, w.To))
	}
	if s.Fetch.From > s.Window.From || s.Fetch.To < s.Window.To {
		err = errors.Join(err, fmt.Errorf("slice %s asks only for %s", s.Window, s.Fetch))
	}
	if s.Signature != s.Spec.Signature() {
		err = errors.Join(err, fmt.Errorf("slice %s has the signature of another", s.Window))
	}
	return err
}

// IsPart reports whether the slice answers for only some ids of its window, and so covers nothing alone.
func (s Slice) IsPart() bool { return s.Spec.Range != nil && s.Spec.Window != nil }
