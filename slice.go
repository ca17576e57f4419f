package patra

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Strategy is how a plan's window becomes slices.
type Strategy string

// StrategyTime cuts by time.
const StrategyTime Strategy = "TIME"

// Purpose says why a slice exists. Only NEED subtracts what is covered or under way.
type Purpose string

// The purposes.
const (
	PurposeNeed      Purpose = "NEED"      // neither covered nor live
	PurposeLookback  Purpose = "LOOKBACK"  // read again for late arrivals
	PurposeReconcile Purpose = "RECONCILE" // read again because somebody insists
)

// sliceSpecVersion is the shape of SliceSpec; an executor refuses one that it does not know.
const sliceSpecVersion = 1

// SliceSpec is the boundary of a slice and the limits it runs under.
type SliceSpec struct {
	V        int          `json:"v"`
	Strategy Strategy     `json:"strategy"`
	Window   *SliceWindow `json:"window,omitempty"`
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

// Budget is a hard limit on one slice; zero is no limit.
type Budget struct {
	MaxRequests int64 `json:"maxRequests,omitempty"`
	MaxRecords  int64 `json:"maxRecords,omitempty"`
}

// Hints help the executor and change nothing about what a slice is.
type Hints struct {
	PageSize int    `json:"expectedPageSize,omitempty"`
	Order    string `json:"order,omitempty"`
}

// NewTimeSlice makes the spec of a slice that answers for w.
func NewTimeSlice(w Window, precision Unit, hints Hints) SliceSpec {
	return SliceSpec{V: sliceSpecVersion, Strategy: StrategyTime, Hints: &hints, Window: &SliceWindow{
		From: w.From, To: w.To, Boundary: map[string]string{"from": "CLOSED", "to": "OPEN"}, Timezone: "UTC", Precision: precision,
	}}
}

// Signature identifies the slice within its plan. Budget, hints and telemetry never change identity.
func (s SliceSpec) Signature() string {
	boundary := map[string]any{"strategy": s.Strategy}
	if s.Window != nil {
		boundary["window"] = map[string]any{"from": s.Window.From.String(), "to": s.Window.To.String()}
	}
	return Hash(boundary)
}

// Validate refuses a spec that could not be executed faithfully; it runs before anything is stored.
func (s SliceSpec) Validate() error {
	var errs []error
	if s.V != sliceSpecVersion {
		errs = append(errs, fmt.Errorf("slice spec version %d is not known", s.V))
	}
	if s.Strategy != StrategyTime {
		errs = append(errs, fmt.Errorf("slice strategy %q is not known", s.Strategy))
	}
	if s.Window == nil {
		return errors.Join(append(errs, errors.New("a TIME slice needs a window"))...)
	}
	if s.Window.From >= s.Window.To {
		errs = append(errs, fmt.Errorf("slice window %s~%s is empty", s.Window.From, s.Window.To))
	}
	if s.Window.From%Millisecond != 0 || s.Window.To%Millisecond != 0 {
		errs = append(errs, errors.New("slice bounds have millisecond precision"))
	}
	if s.Window.Timezone != "UTC" || s.Window.Boundary["from"] != "CLOSED" || s.Window.Boundary["to"] != "OPEN" {
		errs = append(errs, errors.New("a slice window is UTC, closed at from and open at to"))
	}
	return errors.Join(errs...)
}

// Slice is the smallest unit of parallel work: the window it answers for and the window it asks for.
type Slice struct {
	ID        int64           `json:"id"`
	PlanID    int64           `json:"plan_id"`
	CursorID  int64           `json:"cursor_id"`
	No        int64           `json:"slice_no"`
	Purpose   Purpose         `json:"purpose"`
	Spec      SliceSpec       `json:"slice_spec"`
	Signature string          `json:"signature"`
	Expr      json.RawMessage `json:"expr"`
	ExprHash  string          `json:"expr_hash"`
	Window    Window          `json:"window"`
	Fetch     Window          `json:"fetch"`
	Status    Status          `json:"status"`
	ClosedAt  *Instant        `json:"closed_at,omitempty"`
}
