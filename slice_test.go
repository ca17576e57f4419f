package patra_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"patra"
)

func newYear() patra.SliceSpec {
	day := patra.Date(2026, time.January, 1)
	return patra.NewTimeSlice(patra.Window{From: day, To: day + patra.Day}, patra.UnitDay, patra.Hints{PageSize: 200, Order: "ASC"})
}

// The signature is stored and unique within a plan, so it must mean the same for ever. It was computed with sha256sum from
// {"strategy":"TIME","window":{"from":"2026-01-01T00:00:00.000Z","to":"2026-01-02T00:00:00.000Z"}}.
func TestTheSignatureOfASliceNeverChanges(t *testing.T) {
	const want = "4a74282f71ac90785f8b8a3b765bfc2752c3703df0c74bf4f099c40b43de9fa1"
	if got := newYear().Signature(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestBudgetAndHintsAreNotPartOfASlicesIdentity(t *testing.T) {
	want := newYear().Signature()
	for name, change := range map[string]func(*patra.SliceSpec){
		"no hints":      func(s *patra.SliceSpec) { s.Hints = nil },
		"other hints":   func(s *patra.SliceSpec) { s.Hints = &patra.Hints{PageSize: 7, Order: "DESC"} },
		"a budget":      func(s *patra.SliceSpec) { s.Budget = &patra.Budget{MaxRequests: 10, MaxRecords: 1000} },
		"precision":     func(s *patra.SliceSpec) { s.Window.Precision = patra.UnitHour },
		"no boundaries": func(s *patra.SliceSpec) { s.Window.Boundary = nil },
	} {
		s := newYear()
		change(&s)
		if got := s.Signature(); got != want {
			t.Errorf("%s: the signature became %s", name, got)
		}
	}
}

func TestTheBoundsAreASlicesIdentity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawPlanWindow(t), drawPlanWindow(t)
		switch rapid.IntRange(0, 2).Draw(t, "same") {
		case 0:
			b.From = a.From
		case 1:
			b.To = a.To
		}
		same := patra.NewTimeSlice(a, patra.UnitDay, patra.Hints{}).Signature() == patra.NewTimeSlice(b, patra.UnitSecond, patra.Hints{PageSize: 1}).Signature()
		if same != (a == b) {
			t.Fatalf("%s and %s have the same signature: %v", a, b, same)
		}
	})
	other := newYear()
	other.Strategy = "ID_RANGE"
	if other.Signature() == newYear().Signature() {
		t.Error("another strategy has the same signature")
	}
	other.Strategy, other.Window = patra.StrategyTime, nil
	if other.Signature() == newYear().Signature() {
		t.Error("a slice without a window has the same signature")
	}
}

func TestASliceThatCannotBeExecutedFaithfullyIsRefused(t *testing.T) {
	tests := []struct {
		name   string
		change func(*patra.SliceSpec)
		want   string // in the message; empty: accepted
	}{
		{"as made", func(*patra.SliceSpec) {}, ""},
		{"without hints", func(s *patra.SliceSpec) { s.Hints = nil }, ""},
		{"to a millisecond", func(s *patra.SliceSpec) { s.Window.To += patra.Millisecond }, ""},
		{"before 1970", func(s *patra.SliceSpec) { s.Window.From = -patra.Day }, ""},
		{"no version", func(s *patra.SliceSpec) { s.V = 0 }, "version 0"},
		{"a newer version", func(s *patra.SliceSpec) { s.V = 2 }, "version 2"},
		{"an unknown strategy", func(s *patra.SliceSpec) { s.Strategy = "PAGES" }, `"PAGES"`},
		{"another strategy", func(s *patra.SliceSpec) { s.Strategy = patra.StrategyIDRange }, "needs a range"},
		{"no window", func(s *patra.SliceSpec) { s.Window = nil }, "needs a window"},
		{"empty", func(s *patra.SliceSpec) { s.Window.To = s.Window.From }, "is empty"},
		{"inverted", func(s *patra.SliceSpec) { s.Window.To = s.Window.From - patra.Day }, "is empty"},
		{"microseconds at from", func(s *patra.SliceSpec) { s.Window.From++ }, "millisecond"},
		{"microseconds at to", func(s *patra.SliceSpec) { s.Window.To-- }, "millisecond"},
		{"another zone", func(s *patra.SliceSpec) { s.Window.Timezone = "Europe/Berlin" }, "UTC"},
		{"open at from", func(s *patra.SliceSpec) { s.Window.Boundary["from"] = "OPEN" }, "closed at from"},
		{"closed at to", func(s *patra.SliceSpec) { s.Window.Boundary["to"] = "CLOSED" }, "open at to"},
		{"no boundaries", func(s *patra.SliceSpec) { s.Window.Boundary = nil }, "closed at from"},
		{"several things at once", func(s *patra.SliceSpec) { s.V, s.Window = 9, nil }, "version 9"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newYear()
			tt.change(&s)
			err := s.Validate()
			if (err == nil) != (tt.want == "") || (err != nil && !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestASliceSpecReadsBackAsItIsStored(t *testing.T) {
	s := newYear()
	s.Budget = &patra.Budget{MaxRequests: 3}
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var back patra.SliceSpec
	if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(back, s) {
		t.Errorf("%s reads back as %+v, %v", text, back, err)
	}
}
