package storetest

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"patra"
)

// inOrder takes so many tasks, and gives them in the order of time.
func (w *World) inOrder(n int) (all []*patra.Claim) {
	w.T.Helper()
	for range n {
		all = append(all, w.Take())
	}
	slices.SortFunc(all, func(a, b *patra.Claim) int { return cmp.Compare(a.Slice.Window.From, b.Slice.Window.From) })
	return all
}

// numbers: how everything stands is told as it is in the tables.
func numbers(t *testing.T, e Engine) {
	w := NewWorld(t, e, 4)
	days := w.inOrder(4) // one is sealed, one is in dispute, one failed, and one is lost
	w.Work(days[0], w.Record("1", Origin, "a"), w.Record("2", Origin, "b"))
	w.Page(days[1], 1, false)
	w.must(w.Succeed(days[1], patra.StateDisputed))
	w.must(w.Finish(t.Context(), days[2], w.Clock.Instant(), patra.RunResult{Status: patra.Failed, Fault: &patra.Fault{Level: patra.LevelRequest, Code: patra.CodeInternal}}))
	_, err := w.Pause(t.Context(), patra.Target{Scope: patra.ScopeSource, Key: "other"}, "", "me")
	w.must(err)
	w.Clock.Move(time.Hour)
	n, err := w.MetricsSnapshot(t.Context())
	w.must(err)
	if n.At != w.Clock.Instant() || n.Records != 2 || n.Expired != 1 || n.LastClaim == nil || len(n.Controls) != 1 || len(n.Sinks) != 0 {
		t.Errorf("%+v", n)
	}
	if len(n.Cursors) != 1 || n.Cursors[0].Cursor.Value != Origin+2*patra.Day || n.Cursors[0].Reach != Origin+4*patra.Day || n.Cursors[0].Disputed != 1 || n.Cursors[0].Gaps != 1 || !n.Cursors[0].Waiting {
		t.Errorf("watermarks: %+v", n.Cursors)
	}
	if planned, sealed := n.Cursors[0].Planned(); planned != 4*86400 || sealed != 86400 {
		t.Errorf("%v of %v seconds are sealed", sealed, planned)
	}
	if len(n.Queue) != 1 || n.Queue[0].Running != 1 || n.Queue[0].Queued() != 0 {
		t.Errorf("queues: %+v", n.Queue)
	}
	if len(n.Sources) != 1 || n.Sources[0].Failed != 1 || n.Sources[0].LastPage == nil || n.Sources[0].Source != "demo" {
		t.Errorf("sources: %+v", n.Sources)
	}
	if len(n.LeftOut) != 0 {
		t.Errorf("left out: %v", n.LeftOut)
	}
	w.must(w.Ping(t.Context()))
	w.must(w.SchemaCompatible(t.Context()))
}

// numberedSinks: what a sink has not got is told, whether it has a number or not.
func numberedSinks(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	w.Work(w.Take(), w.Record("1", Origin, "a"), w.Record("2", Origin, "b"))
	depth := func() (int64, int64, int64) {
		t.Helper()
		n, err := w.MetricsSnapshot(t.Context())
		w.must(err)
		if len(n.Sinks) != 1 || n.Sinks[0].Name != "hook" {
			t.Fatalf("%+v", n.Sinks)
		}
		return n.Sinks[0].Depth, n.Sinks[0].Aside, n.Sinks[0].Failures
	}
	w.must(w.EnsureSink(t.Context(), "hook", false))
	role, _, err := w.AcquireLease(t.Context(), "relay/hook", "me", time.Minute)
	w.must(err)
	before, _, _ := depth()
	_, last, err := w.AssignSequence(t.Context())
	w.must(err)
	if numbered, _, _ := depth(); before == 0 || numbered != before || last != before {
		t.Errorf("%d events without numbers, %d with, of %d", before, numbered, last)
	}
	w.must(w.MarkSent(t.Context(), &role, "hook", patra.DeliveryResult{Position: 2, Failed: []patra.Delivery{{Seq: 1, Key: patra.Hash(1), State: patra.DeliveryWaiting, Attempts: 1}, {Seq: 2, Key: patra.Hash(2), State: patra.DeliveryAside, Attempts: 1}},
		Notes: patra.SinkHealth{Failures: 4}}))
	if after, aside, failures := depth(); after != last-2+1 || aside != 1 || failures != 4 {
		t.Errorf("%d events to go, %d aside, %d failures", after, aside, failures)
	}
}

// keptParts: all kept answers are added up, from hash to hash.
func keptParts(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	c := w.Take()
	for i := range int64(3) {
		page, err := w.OpenAt(c, i+1, c.Task.ScanNo, i+1)
		w.must(err)
		res := w.Result(true)
		res.BodySHA256 = patra.Hash(i)
		res.Kept = &patra.StoredBody{Body: patra.Hash(i), Stored: patra.Hash(i), Size: 100, StoredSize: 10 + i, Codec: patra.CodecZstd, Location: "x"}
		_, _, err = w.CommitPage(t.Context(), c, w.Clock.Instant(), "work", page, res, nil)
		w.must(err)
	}
	p, err := w.StoredBodyRange(t.Context(), "")
	if err != nil || p.Bodies != 3 || p.Bytes != 33 || p.Last == "" {
		t.Fatalf("%+v, %v", p, err)
	}
	if p, err = w.StoredBodyRange(t.Context(), p.Last); err != nil || p.Bodies != 0 || p.Last != "" {
		t.Errorf("%+v, %v", p, err)
	}
}

// watching is what somebody was told who looks on.
type watching struct {
	mu         sync.Mutex
	statements map[string]int
	retried    map[string]int
	refused    int
	advanced   []patra.Namespace
}

func (w *watching) Statement(name string, took time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.statements[name]++; took < 0 || took > time.Hour {
		w.statements["wrong"]++
	}
}

func (w *watching) Retried(reason string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.retried[reason]++
}

func (w *watching) Refused() { w.refused++ }

func (w *watching) Advanced(n patra.Namespace) { w.advanced = append(w.advanced, n) }

// watched: whoever looks on is told of each statement, and of each move of a watermark once it is sure.
func watched(t *testing.T, e Engine) {
	w := NewWorld(t, e, 3)
	seen := &watching{statements: map[string]int{}, retried: map[string]int{}}
	w.Watch(seen)
	days := w.inOrder(3)
	w.Work(days[1]) // behind a hole: nothing moves
	if len(seen.advanced) != 0 {
		t.Errorf("moved: %v", seen.advanced)
	}
	w.Work(days[0]) // both
	if len(seen.advanced) != 1 || seen.advanced[0] != w.Cursor.Namespace {
		t.Errorf("moved: %v", seen.advanced)
	}
	third := days[2]
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.Finish(ctx, third, w.Clock.Instant(), patra.RunResult{Status: patra.Succeeded, Proof: &patra.Proof{ScanNo: third.Task.ScanNo}}); !errors.Is(err, context.Canceled) || len(seen.advanced) != 1 {
		t.Errorf("%v, moved: %v", err, seen.advanced)
	}
	for _, name := range []string{"commit", "move_cursor", "insert_cursor_event"} {
		if seen.statements[name] == 0 || seen.statements["wrong"] > 0 {
			t.Errorf("%s was not told of: %v", name, seen.statements)
		}
	}
	if seen.statements["move_cursor"] != 1 {
		t.Errorf("%d moves", seen.statements["move_cursor"])
	}
}
