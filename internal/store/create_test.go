package store_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"patra/internal/store"
)

// Those who start while the tables of a missing store are being made find them: one makes them, the others wait.
func TestManyStartOnAMissingStore(t *testing.T) {
	const rounds, most = 4, 40
	for round := range rounds {
		url := "sqlite:" + filepath.Join(t.TempDir(), fmt.Sprintf("patra%d.db", round))
		var made atomic.Bool
		var created atomic.Int64
		var all sync.WaitGroup
		for n := 0; n < most && !made.Load(); n++ { // one comes after the other, for as long as it takes
			s, err := store.Open(t.Context(), url)
			if err != nil {
				t.Fatal(err)
			}
			all.Go(func() {
				defer s.Close()
				own, err := s.RequireOrCreate(t.Context())
				if err != nil {
					t.Error(err)
				}
				if err := s.RequireSchema(t.Context()); err != nil {
					t.Errorf("it has no tables after that: %v", err)
				}
				if own {
					created.Add(1)
				}
				made.Store(true)
			})
		}
		all.Wait()
		if created.Load() != 1 {
			t.Errorf("%d of them made the store", created.Load())
		}
	}
}

// A store that is only asked for, and not made, is waited for while another one makes it.
func TestAStoreThatIsBeingMadeIsWaitedFor(t *testing.T) {
	url := "sqlite:" + filepath.Join(t.TempDir(), "patra.db")
	maker, err := store.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer maker.Close()
	made := make(chan error, 1)
	go func() {
		_, err := maker.Migrate(t.Context())
		made <- err
	}()
	for done := false; !done; {
		s, err := store.Open(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		// Whoever came before the maker finds nothing; whoever came after waits.
		if err := s.RequireSchema(t.Context()); err != nil && !errors.Is(err, store.ErrNoTables) {
			t.Error(err)
		}
		s.Close()
		select {
		case err := <-made:
			if done = true; err != nil {
				t.Error(err)
			}
		default:
		}
	}
}
