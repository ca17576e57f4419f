package executor_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"patra"
	"patra/internal/blob"
	"patra/internal/evidence"
	"patra/internal/sim"
	"patra/internal/store"
)

func keeper(t *testing.T) *evidence.Keeper {
	t.Helper()
	place, err := blob.OpenFiles(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	k, err := evidence.NewKeeper(place)
	if err != nil {
		t.Fatal(err)
	}
	return k
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
		body, err := k.Body(t.Context(), kept)
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
	*evidence.Keeper
	mu         sync.Mutex
	room, gone int
}

var errFull = errors.New("no space left on device")

func (f *fullDisk) Keep(ctx context.Context, came string, body []byte) (patra.KeptBody, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.room--; f.room < 0 && f.room > -4 {
		f.gone++
		return patra.KeptBody{}, errFull
	}
	return f.Keeper.Keep(ctx, came, body)
}

// A page whose body cannot be kept does not count as read. It is asked for again later, and nothing is missing then.
func TestNoPageWithoutItsBody(t *testing.T) {
	h := newHarness(t, sim.Config{Seed: 1}, nil, fast(t))
	x := h.executor(2)
	disk := &fullDisk{Keeper: keeper(t), room: 5}
	x.Evidence = disk
	if err := x.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.exact()
	if disk.gone != 3 {
		t.Errorf("the disk was full %d times", disk.gone)
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
		if _, err := disk.Body(t.Context(), kept); err != nil {
			t.Errorf("page %d: %v", p.ID, err)
		}
	}
}
