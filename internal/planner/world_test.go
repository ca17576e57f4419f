package planner

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"patra"
	"patra/internal/query"
	"patra/internal/source"
	"patra/sources"
)

// loadFile reads a shipped source.
func loadFile(t testing.TB, code string) *source.File {
	t.Helper()
	data, err := sources.Files.ReadFile(code + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	file, err := source.Load(code+".yaml", data)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// shipped compiles a shipped source.
func shipped(t testing.TB, code string) *source.Spec {
	t.Helper()
	spec, err := source.Compile(loadFile(t, code), source.Options{Operation: patra.Harvest, Contact: "me@example.org"})
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

// start is the first moment of the drawn situations.
var start = patra.Date(2026, time.February, 20)

// days is a window of whole days after start.
func days(from, to int) patra.Window {
	return patra.Window{From: start + patra.Instant(from)*patra.Day, To: start + patra.Instant(to)*patra.Day}
}

// paper is a record of the drawn provider.
type paper struct {
	at patra.Instant
	id int64
}

// provider counts the papers that it has; it can also be broken, or count wrongly.
type provider struct {
	papers []paper
	err    error
	extra  func(w patra.Window, n int64) int64
	asked  int
}

// Probe implements Prober: it understands the window and the range of ids of a question.
func (p *provider) Probe(_ context.Context, spec *source.Spec, query query.Node, w patra.Window, _ string) (patra.Probe, error) {
	p.asked++
	if p.err != nil {
		return patra.Probe{}, p.err
	}
	n := p.count(w, idsOf(query))
	if p.extra != nil {
		n = p.extra(w, n)
	}
	return patra.Probe{Total: &n, Trust: spec.Response.Total.Trust, Items: 1, Bytes: 1000}, nil
}

func (p *provider) Precision(context.Context, *source.Spec, string) (patra.Unit, error) {
	return "", errors.New("nobody asks")
}

func (p *provider) count(w patra.Window, ids *patra.IDRange) (n int64) {
	for _, r := range p.papers {
		if w.Contains(r.at) && (ids == nil || (ids.From <= r.id && r.id < ids.To)) {
			n++
		}
	}
	return n
}

// idsOf finds the range of ids in a question.
func idsOf(n query.Node) *patra.IDRange {
	if n.Op == query.OpRange && n.Range == query.RangeNumber {
		return &patra.IDRange{From: int64(*n.From.Number), To: int64(*n.To.Number)}
	}
	for _, a := range n.Args {
		if r := idsOf(a); r != nil {
			return r
		}
	}
	return nil
}

// noPast is a store with no history.
type noPast struct {
	Store
	density patra.Density
	known   int64
}

func (s noPast) History(context.Context, string, string, string, string, patra.Window) (patra.Density, error) {
	return s.density, nil
}

func (s noPast) CountRecords(context.Context, string) (int64, error) { return s.known, nil }

// settings are the defaults of the tests.
var settings = Config{SafetyLag: 10 * time.Minute, TaskAttempts: 5, Target: 10_000, MaxPages: 1000, MinStep: time.Minute, Probes: 100_000}

// bench is a planner at work on one source, without tables.
type bench struct {
	planner *Planner
	spec    *source.Spec
	from    *provider
	params  sliceParams
}

func newBench(spec *source.Spec, from *provider) *bench {
	b := &bench{planner: &Planner{Store: noPast{}, Config: settings}, spec: spec, from: from}
	if from != nil {
		b.planner.Prober = from
	}
	b.params = sliceParams{Step: spec.Window.Size, MinStep: spec.MinStep(settings.MinStep), MaxSpan: spec.MaxSpan(), Precision: spec.Window.Precision, Target: settings.Target, MaxPages: settings.MaxPages}
	return b
}

func (b *bench) ctx() context.Context { return context.Background() }

func (b *bench) job() *job {
	j := &job{sliceParams: b.params, spec: b.spec, expr: query.All(), tariff: b.spec.Tariff(nil), plan: patra.Plan{Strategy: b.spec.Strategy(), Source: b.spec.Source, Priority: 2}}
	j.judge = &estimator{planner: b.planner, job: j, left: b.planner.Config.Probes}
	return j
}

// cut cuts the parts and fails the test if that is not possible.
func (b *bench) cut(t fataler, parts ...needPart) ([]patra.Slice, SlicingStats) {
	t.Helper()
	all, tally, err := b.try(parts...)
	if err != nil {
		t.Fatal(err)
	}
	return all, tally
}

func (b *bench) try(parts ...needPart) ([]patra.Slice, SlicingStats, error) {
	j := b.job()
	var all []patra.Slice
	for sl, err := range j.cut(context.Background(), parts) {
		if err != nil {
			return nil, j.tally, err
		}
		all = append(all, sl)
	}
	return all, j.tally, nil
}

// fataler is a test or a drawn case of one.
type fataler interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

// needed are windows that are to be read.
func needed(ws ...patra.Window) (parts []needPart) {
	for _, w := range ws {
		parts = append(parts, needPart{w, patra.PurposeNeed})
	}
	return parts
}

// owned is what the slices of a purpose answer for; all purposes if none is named. Parts count once, if they tile.
func owned(t fataler, all []patra.Slice, why ...patra.Purpose) patra.Coverage {
	t.Helper()
	var ws []patra.Window
	ranges := map[patra.Window][]patra.IDRange{}
	for _, s := range all {
		if len(why) > 0 && !slices.Contains(why, s.Purpose) {
			continue
		}
		if s.IsPart() {
			ranges[s.Window] = append(ranges[s.Window], s.Spec.Range.IDRange)
			continue
		}
		ws = append(ws, s.Window)
	}
	for w, parts := range ranges {
		space := patra.IDRange{From: 1, To: 100_000_000}
		if !space.Tile(parts) || overlapping(parts) {
			t.Fatalf("the parts of %s do not tile the ids: %v", w, parts)
		}
		ws = append(ws, w)
	}
	if overlap := patra.NewCoverage(ws...); size(overlap...) != size(ws...) {
		t.Fatalf("slices overlap: %v", ws)
	}
	return patra.NewCoverage(ws...)
}

func overlapping(parts []patra.IDRange) bool {
	var sum int64
	for _, p := range parts {
		sum += p.To - p.From
	}
	return sum != 99_999_999
}

// size is the time in windows.
func size(ws ...patra.Window) (sum patra.Instant) {
	for _, w := range ws {
		sum += w.To - w.From
	}
	return sum
}

// drawPapers draws a provider: most days have little, some have very much, and ids of a day lie close together.
func drawPapers(t *rapid.T, cap int64) *provider {
	dice := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "papers"), 0))
	p := &provider{}
	next := 1 + dice.Int64N(1_000_000)
	for day := range 12 {
		n := dice.Int64N(6)
		if dice.IntN(6) == 0 {
			n = dice.Int64N(4 * cap)
		}
		for range n {
			p.papers = append(p.papers, paper{at: start + patra.Instant(day)*patra.Day + patra.Instant(dice.IntN(86_400))*patra.Second, id: next})
			next += 1 + dice.Int64N(3)
		}
	}
	return p
}

// pubmed is a source with days, a cap and ids to cut by, at a size that can be drawn often.
func pubmed(t testing.TB, cap int64) *source.Spec {
	t.Helper()
	s := *shipped(t, "pubmed")
	s.Pagination.Cap, s.Pagination.PageSize = cap, int(max(cap/3, 1))
	return &s
}

var errBroken = errors.New("the provider is down")
