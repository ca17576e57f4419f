package planner_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"patra"
	"patra/internal/expr"
	"patra/internal/planner"
	"patra/internal/source"
	"patra/sources"
)

// crossref is the spec of the shipped source: by days, read again one day back.
func crossref(t *testing.T) *source.Spec {
	t.Helper()
	data, err := sources.Files.ReadFile("crossref.yaml")
	if err != nil {
		t.Fatal(err)
	}
	file, err := source.Load("crossref.yaml", data)
	if err != nil {
		t.Fatal(err)
	}
	spec, err := source.Compile(file, source.Options{Endpoint: "", Operation: patra.Harvest, Contact: "me@example.org"})
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

// start is the first moment of the drawn situations.
var start = patra.Date(2026, time.February, 20)

// moments draws from 24 days, on midnight more often than not.
func moments() *rapid.Generator[patra.Instant] {
	return rapid.Custom(func(t *rapid.T) patra.Instant {
		i := start + patra.Instant(rapid.IntRange(0, 24).Draw(t, "day"))*patra.Day
		if rapid.IntRange(0, 2).Draw(t, "within the day") == 0 {
			i += patra.Instant(rapid.IntRange(0, 86_399_999).Draw(t, "ms")) * patra.Millisecond
		}
		return i
	})
}

func coverages() *rapid.Generator[patra.Coverage] {
	return rapid.Custom(func(t *rapid.T) patra.Coverage {
		var ws []patra.Window
		for range rapid.IntRange(0, 5).Draw(t, "windows") {
			ws = append(ws, patra.Window{From: moments().Draw(t, "from"), To: moments().Draw(t, "to")})
		}
		return patra.NewCoverage(ws...)
	})
}

// situation is what a planner knows when it cuts.
type situation struct {
	spec          *source.Spec
	window        patra.Window
	watermark     patra.Instant
	covered, live patra.Coverage
}

func draw(t *rapid.T, spec *source.Spec) situation {
	s := *spec
	if rapid.Bool().Draw(t, "sliding") {
		s.Window.Mode, s.Window.Align, s.Window.Precision = patra.ModeSliding, "", patra.UnitSecond
		s.Window.Overlap = patra.Period{Clock: 5 * time.Minute}
	}
	return situation{&s, patra.Window{From: moments().Draw(t, "from"), To: moments().Draw(t, "to")}, moments().Draw(t, "watermark"),
		coverages().Draw(t, "covered"), coverages().Draw(t, "live")}
}

func (s situation) cut(t *rapid.T, force bool) []patra.Slice {
	t.Helper()
	out, err := planner.Cut(s.spec, expr.All(), s.window, s.watermark, s.covered, s.live, force)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// owned is what the slices of a purpose answer for; all purposes if none is named.
func owned(all []patra.Slice, why ...patra.Purpose) patra.Coverage {
	var ws []patra.Window
	for _, s := range all {
		if len(why) == 0 || slices.Contains(why, s.Purpose) {
			ws = append(ws, s.Window)
		}
	}
	return patra.NewCoverage(ws...)
}

// size is the time in a coverage.
func size(c patra.Coverage) (sum patra.Instant) {
	for _, w := range c {
		sum += w.To - w.From
	}
	return sum
}

func TestSlicesAreDisjointAndLieInTheWindow(t *testing.T) {
	spec := crossref(t)
	rapid.Check(t, func(t *rapid.T) {
		s := draw(t, spec)
		all := s.cut(t, rapid.Bool().Draw(t, "force"))
		var sum patra.Instant
		for _, sl := range all {
			sum += sl.Window.To - sl.Window.From
		}
		if sum != size(owned(all)) {
			t.Fatalf("slices overlap: together they are longer than what they cover, %v", owned(all))
		}
		if out := owned(all).Minus(patra.NewCoverage(s.window)); len(out) != 0 {
			t.Fatalf("%v lies outside %s", out, s.window)
		}
	})
}

func TestBelowTheWatermarkAllIsReadAgainAndAboveItWhatIsNeitherCoveredNorLive(t *testing.T) {
	spec := crossref(t)
	rapid.Check(t, func(t *rapid.T) {
		s := draw(t, spec)
		all := s.cut(t, false)
		below := patra.NewCoverage(s.window).Clip(patra.Window{From: start - patra.Day, To: s.watermark})
		if got := owned(all, patra.PurposeLookback); !slices.Equal(got, below) {
			t.Fatalf("the look-back is %v, want %v", got, below)
		}
		above := patra.NewCoverage(s.window).Minus(below).Minus(s.covered).Minus(s.live)
		if got := owned(all, patra.PurposeNeed); !slices.Equal(got, above) {
			t.Fatalf("the need is %v, want %v", got, above)
		}
	})
}

func TestUnderForceEverythingIsReadAgain(t *testing.T) {
	spec := crossref(t)
	rapid.Check(t, func(t *rapid.T) {
		s := draw(t, spec)
		all := s.cut(t, true)
		if got := owned(all, patra.PurposeReconcile); !slices.Equal(got, patra.NewCoverage(s.window)) || len(owned(all)) != len(got) {
			t.Fatalf("got %v, want %s", got, s.window)
		}
	})
}

func TestWhatIsPlannedIsNotNeededAgain(t *testing.T) {
	spec := crossref(t)
	rapid.Check(t, func(t *rapid.T) {
		s := draw(t, spec)
		s.live = s.live.Union(owned(s.cut(t, false)))
		if again := owned(s.cut(t, false), patra.PurposeNeed); len(again) != 0 {
			t.Fatalf("a second planner needs %v again", again)
		}
	})
}

func TestNoSliceIsLongerThanTheSourcesWindow(t *testing.T) {
	spec := crossref(t)
	rapid.Check(t, func(t *rapid.T) {
		s := draw(t, spec)
		for _, sl := range s.cut(t, false) {
			if sl.Window.IsEmpty() || sl.Window.To > s.spec.Window.Size.After(sl.Window.From) {
				t.Fatalf("%s is empty or longer than %s", sl.Window, s.spec.Window.Size)
			}
			if s.spec.Window.Mode == patra.ModeCalendar && patra.UnitDay.Floor(sl.Window.To-1) != patra.UnitDay.Floor(sl.Window.From) {
				t.Fatalf("%s is on two days", sl.Window)
			}
		}
	})
}

func TestASliceAsksForAtLeastWhatItAnswersFor(t *testing.T) {
	spec := crossref(t)
	rapid.Check(t, func(t *rapid.T) {
		s := draw(t, spec)
		for _, sl := range s.cut(t, false) {
			if want := sl.Window.Widen(s.spec.Window.Overlap, s.spec.Window.Precision); sl.Fetch != want || sl.Fetch.From > sl.Window.From || sl.Fetch.To < sl.Window.To {
				t.Fatalf("%s asks for %s, want %s", sl.Window, sl.Fetch, want)
			}
		}
	})
}

func TestASliceSaysWhatItIs(t *testing.T) {
	spec := crossref(t)
	rapid.Check(t, func(t *rapid.T) {
		s := draw(t, spec)
		seen := map[string]bool{}
		for _, sl := range s.cut(t, false) {
			if err := sl.Spec.Validate(); err != nil {
				t.Fatal(err)
			}
			if sl.Spec.Window.From != sl.Window.From || sl.Spec.Window.To != sl.Window.To || sl.Signature != sl.Spec.Signature() || seen[sl.Signature] {
				t.Fatalf("%s has the spec %+v and the signature %s", sl.Window, sl.Spec.Window, sl.Signature)
			}
			seen[sl.Signature] = true
			var bound expr.Node
			if err := json.Unmarshal(sl.Expr, &bound); err != nil {
				t.Fatal(err)
			}
			if bound.Op != expr.OpRange || bound.Field != "indexed_at" || bound.From.Value != sl.Window.From || bound.To.Value != sl.Window.To || sl.ExprHash != bound.Hash() {
				t.Fatalf("%s asks %s", sl.Window, sl.Expr)
			}
			if sl.Spec.Hints.PageSize != spec.Pagination.PageSize || sl.Spec.Hints.Order != spec.Window.Order {
				t.Fatalf("%s has the hints %+v", sl.Window, sl.Spec.Hints)
			}
		}
	})
}

func TestCutByExample(t *testing.T) {
	spec := crossref(t)
	day := func(n int) patra.Instant { return patra.Date(2026, time.March, n) }
	days := func(from, to int) patra.Window { return patra.Window{From: day(from), To: day(to)} }
	tests := []struct {
		name          string
		window        patra.Window
		watermark     patra.Instant
		covered, live patra.Coverage
		force         bool
		want          string
	}{
		{"first run", days(1, 4), day(1), nil, nil, false, "NEED 1, NEED 2, NEED 3"},
		{"next run with a look-back", days(3, 6), day(4), patra.Coverage{days(1, 4)}, nil, false, "LOOKBACK 3, NEED 4, NEED 5"},
		{"up to date", days(3, 4), day(4), patra.Coverage{days(1, 4)}, nil, false, "LOOKBACK 3"},
		{"a hole holds the watermark and is needed again", days(1, 6), day(2), patra.Coverage{days(1, 2), days(3, 5)}, nil, false, "LOOKBACK 1, NEED 2, NEED 5"},
		{"what is under way is not planned twice", days(2, 6), day(2), nil, patra.Coverage{days(3, 5)}, false, "NEED 2, NEED 5"},
		{"beyond the watermark", days(8, 10), day(4), nil, nil, false, "NEED 8, NEED 9"},
		{"force reads all of it", days(1, 4), day(3), patra.Coverage{days(1, 3)}, patra.Coverage{days(3, 4)}, true, "RECONCILE 1, RECONCILE 2, RECONCILE 3"},
		{"all covered", days(5, 8), day(5), patra.Coverage{days(5, 8)}, nil, false, ""},
		{"an empty window", days(5, 5), day(1), nil, nil, false, ""},
		{"an inverted window", days(6, 5), day(1), nil, nil, false, ""},
		{"an empty window under force", days(5, 5), day(1), nil, nil, true, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			all, err := planner.Cut(spec, expr.All(), tt.window, tt.watermark, tt.covered, tt.live, tt.force)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, s := range all {
				got = append(got, string(s.Purpose)+s.Window.From.Time().Format(" 2"))
			}
			if strings.Join(got, ", ") != tt.want {
				t.Errorf("got %s, want %s", strings.Join(got, ", "), tt.want)
			}
		})
	}
}

func TestABoundFinerThanAMillisecondIsRefusedBeforeAnythingIsStored(t *testing.T) {
	w := patra.Window{From: start, To: start + patra.Day + 1}
	if all, err := planner.Cut(crossref(t), expr.All(), w, start, nil, nil, false); err == nil || !strings.Contains(err.Error(), "millisecond") {
		t.Errorf("got %d slices, %v", len(all), err)
	}
}
