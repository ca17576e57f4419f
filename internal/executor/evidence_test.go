package executor_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"patra"
	"patra/internal/blob"
	"patra/internal/evidence"
	"patra/internal/sim"
	"patra/internal/store"
)

func keeper(t testing.TB) *evidence.BodyStore {
	t.Helper()
	place, err := blob.OpenFiles(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return evidence.NewKeeper(place)
}

// sentBodies notes what a provider sends.
type sentBodies struct {
	mu  sync.Mutex
	all map[string]bool
}

func (s *sentBodies) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Del("Accept-Encoding")
		rec := httptest.NewRecorder()
		next.ServeHTTP(rec, r)
		s.mu.Lock()
		s.all[patra.HashBytes(rec.Body.Bytes())] = true
		s.mu.Unlock()
		for k, v := range rec.Header() {
			w.Header()[k] = v
		}
		w.WriteHeader(rec.Code)
		_, _ = w.Write(rec.Body.Bytes())
	})
}

// Every answer that came is kept as it came, those that say what is wrong too.
func TestEveryAnswerIsKept(t *testing.T) {
	sent := &sentBodies{all: map[string]bool{}}
	h := newHarness(t, sim.Config{Seed: 3, Faults: sim.Faults{ServerError: 0.2}}, sent.wrap, fast(t, "maxAttempts: 5", "maxAttempts: 50"))
	x, k := h.executor(4), keeper(t)
	x.Evidence = k
	if err := x.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.exact()
	pages, err := h.store.Batches(t.Context(), store.Filter{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	failed := 0
	for _, p := range pages {
		kept, err := h.store.Body(t.Context(), p.BodySHA256)
		if err != nil || !sent.all[p.BodySHA256] {
			t.Fatalf("page %d is %s, its body %q is not what was sent: %v", p.ID, p.Status, p.BodySHA256, err)
		}
		body, err := k.Get(t.Context(), kept)
		if err != nil || patra.HashBytes(body) != p.BodySHA256 {
			t.Fatalf("page %d: %v", p.ID, err)
		}
		if p.Status == patra.Failed {
			failed++
		}
	}
	if len(pages) < 16 || failed == 0 {
		t.Errorf("%d pages, %d of which failed", len(pages), failed)
	}
}

// fullDisk keeps some bodies, and then no more for a while.
type fullDisk struct {
	*evidence.BodyStore
	mu         sync.Mutex
	room, gone int
}

var errFull = errors.New("no space left on device")

func (f *fullDisk) Put(ctx context.Context, came string, body []byte, clean bool) (patra.StoredBody, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.room--; f.room < 0 && f.room > -4 {
		f.gone++
		return patra.StoredBody{}, errFull
	}
	return f.BodyStore.Put(ctx, came, body, clean)
}

// A page whose body cannot be kept does not count as read. It is asked for again later, and nothing is missing then.
func TestNoPageWithoutItsBody(t *testing.T) {
	h := newHarness(t, sim.Config{Seed: 1}, nil, fast(t))
	x := h.executor(2)
	disk := &fullDisk{BodyStore: keeper(t), room: 5}
	x.Evidence = disk
	// Whoever works in the foreground ends, and begins again when there is room.
	ends := 0
	for ; x.Run(t.Context()) != nil; ends++ {
		if ends > 3 {
			t.Fatal("it never goes on")
		}
		x = h.executor(2)
		x.Evidence = disk
	}
	h.exact()
	if disk.gone != 3 || ends == 0 {
		t.Errorf("the disk was full %d times, and it ended %d times", disk.gone, ends)
	}
	pages, err := h.store.Batches(t.Context(), store.Filter{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pages {
		if p.Status != patra.Succeeded {
			continue
		}
		kept, err := h.store.Body(t.Context(), p.BodySHA256)
		if err != nil {
			t.Fatalf("page %d: %v", p.ID, err)
		}
		if _, err := disk.Get(t.Context(), kept); err != nil {
			t.Errorf("page %d: %v", p.ID, err)
		}
	}
}

// A server outlasts a full disk: who has an answer in hand waits, asks for nothing meanwhile, says it once, and no task has lost an
// attempt.
func TestAFullDiskIsOutlasted(t *testing.T) {
	h := newHarness(t, sim.Config{Seed: 1}, nil, fast(t))
	x := h.executor(2)
	x.Config.Outlast = true
	disk, said := &fullDisk{BodyStore: keeper(t), room: 5}, &bytes.Buffer{}
	x.Evidence, x.Log = disk, slog.New(slog.NewTextHandler(said, nil))
	if err := x.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.exact()
	tasks, err := h.store.Tasks(t.Context(), store.Filter{})
	for _, task := range tasks {
		if err != nil || task.Status != patra.Succeeded || task.Attempts != 1 {
			t.Errorf("task %d is %s after %d attempts, %v", task.ID, task.Status, task.Attempts, err)
		}
	}
	pages, err := h.store.Batches(t.Context(), store.Filter{Limit: 1000})
	for _, p := range pages {
		if err != nil || p.Status != patra.Succeeded {
			t.Errorf("page %d is %s, %v", p.ID, p.Status, err)
		}
	}
	if full, room := strings.Count(said.String(), "answers cannot be kept now"), strings.Count(said.String(), "answers can be kept again"); disk.gone != 3 || full != 1 || room != 1 {
		t.Errorf("the disk was full %d times; that is said %d times, and its end %d times", disk.gone, full, room)
	}
}

// Told to stop, a server that waits for its disk stops, and gives its tasks back with all their attempts.
func TestAFullDiskCanBeLeft(t *testing.T) {
	h := newHarness(t, sim.Config{Seed: 1}, nil, fast(t))
	x := h.executor(2)
	x.Config.Outlast, x.Config.Grace = true, time.Millisecond
	x.Evidence = neverRoom{}
	ctx, stop := context.WithCancel(t.Context())
	x.Log = slog.New(slog.NewTextHandler(stopper(stop), nil))
	if err := x.Run(ctx); err != nil {
		t.Fatal(err)
	}
	tasks, err := h.store.Tasks(t.Context(), store.Filter{})
	for _, task := range tasks {
		if err != nil || task.Status != patra.Queued || task.Attempts != 0 {
			t.Errorf("task %d is %s after %d attempts, %v", task.ID, task.Status, task.Attempts, err)
		}
	}
}

type neverRoom struct{}

func (neverRoom) Put(context.Context, string, []byte, bool) (patra.StoredBody, error) {
	return patra.StoredBody{}, errFull
}

// stopper stops when somebody has written that answers cannot be kept.
type stopper func()

func (s stopper) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("answers cannot be kept now")) {
		s()
	}
	return len(p), nil
}
