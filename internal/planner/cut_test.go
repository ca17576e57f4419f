package planner

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"patra"
	"patra/internal/query"
)

const smallCap = 30

func TestSlicesTileTheNeedAndNoneIsTooFullForTheProvider(t *testing.T) {
	spec := pubmed(t, smallCap)
	rapid.Check(t, func(t *rapid.T) {
		from := drawPapers(t, smallCap)
		b := newBench(spec, from)
		b.params.Newest = rapid.Bool().Draw(t, "newest first")
		w := days(rapid.IntRange(0, 5).Draw(t, "from"), rapid.IntRange(6, 12).Draw(t, "to"))
		all, tally := b.cut(t, needed(w)...)
		if got := owned(t, all); !slices.Equal(got, patra.NewCoverage(w)) {
			t.Fatalf("the slices answer for %v, want %s", got, w)
		}
		for _, sl := range all {
			var ids *patra.IDRange
			if sl.Spec.Range != nil {
				ids = &sl.Spec.Range.IDRange
			}
			n := from.count(sl.Window, ids)
			if n > smallCap {
				t.Fatalf("%s %v has %d records, the provider gives %d", sl.Window, ids, n, smallCap)
			}
			if sl.Estimate.Records != n || sl.Estimate.Grounds != patra.ByCount {
				t.Fatalf("%s has %d records and the estimate %+v", sl.Window, n, sl.Estimate)
			}
		}
		if tally.Price.Records != from.count(w, nil) || tally.Price.Slices != int64(len(all)) {
			t.Fatalf("the price is %+v", tally.Price)
		}
	})
}

func TestTheSameInputsGiveTheSameSlices(t *testing.T) {
	spec := pubmed(t, smallCap)
	rapid.Check(t, func(t *rapid.T) {
		from := drawPapers(t, smallCap)
		b := newBench(spec, from)
		b.planner.Config.Probes = rapid.IntRange(0, 60).Draw(t, "probes")
		first, _ := b.cut(t, needed(days(0, 12))...)
		second, _ := b.cut(t, needed(days(0, 12))...)
		if !reflect.DeepEqual(first, second) {
			t.Fatal("the same counts gave other slices")
		}
	})
}

func TestWithFewProbesTheSlicesStillTile(t *testing.T) {
	spec := pubmed(t, smallCap)
	rapid.Check(t, func(t *rapid.T) {
		from := drawPapers(t, smallCap)
		b := newBench(spec, from)
		b.planner.Config.Probes = rapid.IntRange(0, 20).Draw(t, "probes")
		all, tally := b.cut(t, needed(days(0, 12))...)
		if got := owned(t, all); !slices.Equal(got, patra.NewCoverage(days(0, 12))) {
			t.Fatalf("the slices answer for %v", got)
		}
		if from.asked > b.planner.Config.Probes || tally.Probes != from.asked {
			t.Fatalf("%d counts were asked for, %d were allowed, %d were noted", from.asked, b.planner.Config.Probes, tally.Probes)
		}
	})
}

func TestNewestFirstIsTheSameBackwards(t *testing.T) {
	spec := pubmed(t, smallCap)
	rapid.Check(t, func(t *rapid.T) {
		from := drawPapers(t, smallCap)
		b := newBench(spec, from)
		up, _ := b.cut(t, needed(days(0, 12))...)
		b.params.Newest = true
		down, _ := b.cut(t, needed(days(0, 12))...)
		if !slices.IsSortedFunc(down, func(a, b patra.Slice) int { return int(b.Window.From/patra.Second - a.Window.From/patra.Second) }) {
			t.Fatal("the slices do not go backwards")
		}
		if !slices.Equal(owned(t, up), owned(t, down)) || len(up) != len(down) {
			t.Fatal("other slices than forwards")
		}
	})
}

// What succeeded is covered, what failed is nobody's, what was never stored is nobody's: planning again finds all of it.
func TestPlanningAgainAfterAnySuccessesAndFailuresConverges(t *testing.T) {
	spec := pubmed(t, smallCap)
	rapid.Check(t, func(t *rapid.T) {
		from := drawPapers(t, smallCap)
		b := newBench(spec, from)
		w := days(0, 12)
		covered, live := patra.Coverage{}, patra.Coverage{}
		for round := 0; ; round++ {
			parts := planNeed(patra.Backfill, w, w.From, covered, live, nil, "", false)
			if len(parts) == 0 && len(live) == 0 {
				break
			}
			if round > 60 {
				t.Fatalf("still missing: %v", patra.NewCoverage(w).Minus(covered))
			}
			all, _ := b.cut(t, parts...)
			if got := owned(t, all); !slices.Equal(got, patra.NewCoverage(w).Minus(covered.Union(live))) {
				t.Fatalf("planned %v with %v covered and %v live", got, covered, live)
			}
			if round < 50 {
				all = all[:rapid.IntRange(0, len(all)).Draw(t, "stored")]
			}
			covered, live = covered.Union(live), nil // what was under way ends
			done := map[patra.Window][]patra.IDRange{}
			for _, sl := range all {
				switch fate := rapid.IntRange(0, 2).Draw(t, "fate"); {
				case fate == 0 && round < 50: // failed
				case sl.IsPart():
					done[sl.Window] = append(done[sl.Window], sl.Spec.Range.IDRange)
				case fate == 1:
					live = live.Union(patra.NewCoverage(sl.Window))
				default:
					covered = covered.Union(patra.NewCoverage(sl.Window))
				}
			}
			for window, ranges := range done {
				if (patra.IDRange{From: 1, To: 100_000_000}).Tile(ranges) {
					covered = covered.Union(patra.NewCoverage(window))
				}
			}
			if round >= 50 {
				covered = covered.Union(owned(t, all))
			}
		}
		if !slices.Equal(covered, patra.NewCoverage(w)) {
			t.Fatalf("covered %v", covered)
		}
	})
}

func TestBelowTheWatermarkAllIsReadAgainAndAboveItWhatIsNeitherCoveredNorLive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		window := patra.Window{From: moment().Draw(t, "from"), To: moment().Draw(t, "to")}
		watermark, covered, live := moment().Draw(t, "watermark"), coverages().Draw(t, "covered"), coverages().Draw(t, "live")
		got := byPurpose(planNeed(patra.Harvest, window, watermark, covered, live, nil, "", false))
		below := patra.NewCoverage(window).Clip(patra.Window{From: start - patra.Day, To: watermark})
		if !slices.Equal(got[patra.PurposeLookback], below) {
			t.Fatalf("the look-back is %v, want %v", got[patra.PurposeLookback], below)
		}
		above := patra.NewCoverage(window).Minus(below).Minus(covered).Minus(live)
		if !slices.Equal(got[patra.PurposeNeed], above) {
			t.Fatalf("the need is %v, want %v", got[patra.PurposeNeed], above)
		}
		history := byPurpose(planNeed(patra.Backfill, window, watermark, covered, live, nil, "", false))
		if want := patra.NewCoverage(window).Minus(covered).Minus(live); !slices.Equal(history[patra.PurposeNeed], want) || len(history) > 1 {
			t.Fatalf("history needs %v, want %v and nothing twice", history, want)
		}
		all := byPurpose(planNeed(patra.Harvest, window, watermark, covered, live, nil, patra.PurposeReconcile, false))
		if !slices.Equal(all[patra.PurposeReconcile], patra.NewCoverage(window)) || len(all) > 1 {
			t.Fatalf("under force %v is read", all)
		}
	})
}

func TestWhatAPlanHasCutIsNotCutAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		window := patra.Window{From: moment().Draw(t, "from"), To: moment().Draw(t, "to")}
		watermark, covered, sliced := moment().Draw(t, "watermark"), coverages().Draw(t, "covered"), coverages().Draw(t, "sliced")
		force := rapid.SampledFrom([]patra.Purpose{"", patra.PurposeReconcile, patra.PurposeFill}).Draw(t, "force")
		var first, again []patra.Window
		for _, p := range planNeed(patra.Harvest, window, watermark, covered, nil, nil, force, false) {
			first = append(first, p.Window)
		}
		for _, p := range planNeed(patra.Harvest, window, watermark, covered, nil, sliced, force, false) {
			again = append(again, p.Window)
		}
		if want := patra.NewCoverage(first...).Minus(sliced); !slices.Equal(patra.NewCoverage(again...), want) {
			t.Fatalf("got %v, want %v", again, want)
		}
	})
}

func byPurpose(parts []needPart) map[patra.Purpose]patra.Coverage {
	out := map[patra.Purpose]patra.Coverage{}
	for _, p := range parts {
		out[p.why] = out[p.why].Union(patra.NewCoverage(p.Window))
	}
	return out
}

// moment draws from 24 days, on midnight more often than not.
func moment() *rapid.Generator[patra.Instant] {
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
			ws = append(ws, patra.Window{From: moment().Draw(t, "from"), To: moment().Draw(t, "to")})
		}
		return patra.NewCoverage(ws...)
	})
}

func TestASliceSaysWhatItIs(t *testing.T) {
	spec := pubmed(t, smallCap)
	rapid.Check(t, func(t *rapid.T) {
		all, _ := newBench(spec, drawPapers(t, smallCap)).cut(t, needed(days(0, 12))...)
		seen := map[string]bool{}
		for _, sl := range all {
			if sl.Spec.Window.From != sl.Window.From || sl.Spec.Window.To != sl.Window.To || sl.Signature != sl.Spec.Signature() || seen[sl.Signature] {
				t.Fatalf("%s has the spec %+v and the signature %s", sl.Window, sl.Spec.Window, sl.Signature)
			}
			seen[sl.Signature] = true
			if want := sl.Window.Widen(spec.Window.Overlap, spec.Window.Precision); sl.Fetch != want {
				t.Fatalf("%s asks for %s, want %s", sl.Window, sl.Fetch, want)
			}
			var bound query.Node
			if err := json.Unmarshal(sl.Expr, &bound); err != nil || sl.ExprHash != bound.Hash() {
				t.Fatalf("%s: %v", sl.Expr, err)
			}
			if text := bound.String(); !strings.Contains(text, "entered_at") || strings.Contains(text, "uid") != sl.IsPart() {
				t.Fatalf("%s asks %s", sl.Window, text)
			}
			if b := sl.Spec.Budget; b.MaxRecords < sl.Estimate.Records || b.MaxRequests < 2 || b.MaxSeconds < 60 || b.Priority != 2 {
				t.Fatalf("%d records have the budget %+v", sl.Estimate.Records, b)
			}
			if r := sl.Spec.Range; sl.Spec.Hints.Whole != (r != nil && r.To-r.From == 1) {
				t.Fatalf("%s %v is whole: %v", sl.Window, r, sl.Spec.Hints.Whole)
			}
		}
	})
}

func TestARareQuestionOverYearsIsAFewSlices(t *testing.T) {
	spec := shipped(t, "pubmed")
	from := &provider{papers: []paper{{start, 7}, {start + 400*patra.Day, 8}, {start + 3000*patra.Day, 9}}}
	all, tally := newBench(spec, from).cut(t, needed(days(0, 3650))...)
	if len(all) > 12 || tally.Price.Records != 3 {
		t.Errorf("three records in ten years take %d slices, %+v", len(all), tally.Price)
	}
}

func TestWithoutCountsEveryStepIsASlice(t *testing.T) {
	for _, from := range []*provider{nil, {err: errBroken}} {
		all, tally := newBench(shipped(t, "pubmed"), from).cut(t, needed(days(0, 30))...)
		if len(all) != 30 && from == nil {
			t.Errorf("%d slices for 30 days", len(all))
		}
		if got := owned(t, all); !slices.Equal(got, patra.NewCoverage(days(0, 30))) {
			t.Errorf("the slices answer for %v", got)
		}
		if from != nil && (from.asked != 1 || len(tally.Warnings) != 1 || tally.Warnings[0].Code != "NOT_COUNTED" || len(all) != 30) {
			t.Errorf("a provider that is down was asked %d times; %d slices, %v", from.asked, len(all), tally.Warnings)
		}
	}
}

func TestWhatHistorySaysIsTooFullIsCut(t *testing.T) {
	spec := *shipped(t, "datacite")
	spec.Window.Size = patra.Period{Days: 1}
	b := newBench(&spec, nil)
	b.planner.Store = noPast{density: patra.Density{Records: 50_000, Span: patra.Day}}
	all, _ := b.cut(t, needed(days(0, 1))...)
	if len(all) != 5 || all[0].Estimate.Grounds != patra.ByHistory || !slices.Equal(owned(t, all), patra.NewCoverage(days(0, 1))) {
		t.Errorf("%d slices for 50,000 expected records: %+v", len(all), all[0].Estimate)
	}
}

func TestCountsThatDoNotAddUpAreNotBelieved(t *testing.T) {
	spec := pubmed(t, smallCap)
	for name, extra := range map[string]func(w patra.Window, n int64) int64{
		"twice": func(w patra.Window, n int64) int64 { // each record has two dates, in two pieces
			if w.To-w.From < 8*patra.Day {
				return n * 2
			}
			return n
		},
		"lost": func(w patra.Window, n int64) int64 { // half of the records have no day
			if w.To-w.From < 8*patra.Day {
				return n / 2
			}
			return n
		},
	} {
		from := &provider{extra: extra}
		for i := range 500 {
			from.papers = append(from.papers, paper{start + patra.Instant(i)*patra.Hour/2, int64(i + 1)})
		}
		all, tally, err := newBench(spec, from).try(needed(days(0, 12))...)
		if err != nil || len(all) != 12 || !slices.Equal(owned(t, all), patra.NewCoverage(days(0, 12))) {
			t.Errorf("%s: %d slices, %v", name, len(all), err)
		}
		for _, sl := range all {
			if sl.Estimate.Grounds == patra.ByCount || sl.Estimate.Grounds == patra.ByShare {
				t.Errorf("%s: %s is expected to have what was counted: %+v", name, sl.Window, sl.Estimate)
			}
		}
		if len(tally.Warnings) != 1 || tally.Warnings[0].Code != CountsDisagree || !strings.Contains(tally.Warnings[0].Text, "3 times over") || tally.Warnings[0].Path != "" {
			t.Errorf("%s: %+v", name, tally.Warnings)
		}
		if from.asked > 3*13 {
			t.Errorf("%s: %d counts were asked for", name, from.asked)
		}
		lenient := *spec
		lenient.Response.Total.Trust = patra.TrustEstimate
		if _, _, err := newBench(&lenient, from).try(needed(days(0, 12))...); err != nil {
			t.Errorf("%s: an estimate is no evidence, and yet: %v", name, err)
		}
	}
}

func TestADayThatCannotBeCutIsReadWholeAndSaysSo(t *testing.T) {
	spec := pubmed(t, smallCap)
	spec.Window.Split = nil
	from := &provider{}
	for i := range 100 {
		from.papers = append(from.papers, paper{start, int64(i + 1)})
	}
	all, tally := newBench(spec, from).cut(t, needed(days(0, 1))...)
	if len(all) != 1 || !all[0].Spec.Hints.Whole || len(tally.Warnings) != 1 || tally.Warnings[0].Code != "OVER_CAP" {
		t.Errorf("%d slices, %v", len(all), tally.Warnings)
	}
}

func TestAWalkWithoutAFilterIsOneSlice(t *testing.T) {
	spec := *shipped(t, "crossref")
	spec.Window.Strategy = patra.StrategyLandmark
	all, _ := newBench(&spec, nil).cut(t, needed(days(0, 12))...)
	if len(all) != 1 || all[0].Window != days(0, 12) || all[0].Spec.Cursor == nil || !all[0].Spec.Hints.Whole {
		t.Errorf("%d slices: %+v", len(all), all[0].Spec)
	}
	if strings.Contains(string(all[0].Expr), "indexed_at") {
		t.Errorf("it asks for a time: %s", all[0].Expr)
	}
}

func TestAVolumeBudgetIsOneSliceThatEndsByItsBudget(t *testing.T) {
	spec := *shipped(t, "crossref")
	spec.Window.Strategy = patra.StrategyVolume
	all, _ := newBench(&spec, nil).cut(t, needed(days(0, 12))...)
	if len(all) != 1 || all[0].Window != days(0, 12) || all[0].Spec.Budget.MaxRecords == 0 || !all[0].Spec.Hints.Explore || all[0].Spec.Hints.Whole {
		t.Errorf("%d slices: %+v", len(all), all[0].Spec)
	}
}

func TestKnownIdsAreCutIntoBuckets(t *testing.T) {
	b := newBench(shipped(t, "crossref"), nil)
	b.planner.Store = noPast{known: 45_000}
	j := b.job()
	j.plan.Strategy, j.Buckets = patra.StrategyIDRange, 5
	var buckets []patra.IDRange
	for sl, err := range j.cut(t.Context(), []needPart{{days(0, 1), patra.PurposeRefresh}}) {
		if err != nil || sl.Spec.Range.Kind != patra.RangeBucket || sl.Purpose != patra.PurposeRefresh || sl.IsPart() {
			t.Fatalf("%+v, %v", sl.Spec, err)
		}
		buckets = append(buckets, sl.Spec.Range.IDRange)
	}
	if len(buckets) != 5 || !(patra.IDRange{From: 0, To: 5}).Tile(buckets) {
		t.Errorf("buckets %v", buckets)
	}
}

func TestFirstPageExtrapolates(t *testing.T) {
	w := days(0, 10)
	second := start + patra.Day
	for _, c := range []struct {
		probe patra.Probe
		want  int64
	}{
		{patra.Probe{Items: 7}, 7},
		{patra.Probe{Items: 100, HasNext: true}, 200},
		{patra.Probe{Items: 100, HasNext: true, Last: &second}, 1000},
	} {
		if got := firstPage(w, c.probe); got.Records != c.want || got.Grounds != patra.ByFirstPage {
			t.Errorf("%+v: %+v", c.probe, got)
		}
	}
}

func TestABoundFinerThanAMillisecondIsRefusedBeforeAnythingIsStored(t *testing.T) {
	w := patra.Window{From: start, To: start + patra.Day + 1}
	if _, _, err := newBench(shipped(t, "crossref"), nil).try(needed(w)...); err == nil || !strings.Contains(err.Error(), "millisecond") {
		t.Error(err)
	}
}

func TestTheWholeOfTenYearsByTheHourIsCutWithoutHoldingIt(t *testing.T) {
	spec := *shipped(t, "crossref")
	spec.Window.Size, spec.Window.Precision = patra.Period{Clock: time.Hour}, patra.UnitHour
	b := newBench(&spec, nil)
	n := 0
	for _, err := range b.job().cut(t.Context(), needed(patra.Window{From: patra.Date(2016, 1, 1), To: patra.Date(2026, 1, 1)})) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != 87_672 { // three leap years
		t.Errorf("%d slices", n)
	}
}
