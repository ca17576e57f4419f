package evidence_test

import (
	"errors"
	"testing"
	"time"

	"patra"
	"patra/internal/blob"
)

// A body that somebody put there a moment ago is not forgotten: its page is about to be written down.
func TestYoungBodiesStay(t *testing.T) {
	k, _ := newKeeper(t)
	body := []byte("an answer")
	e, err := k.Put(t.Context(), patra.HashBytes(body), body, true)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := k.DeleteUnreferenced(t.Context(), []string{e.Location}, time.Now()); err != nil || n != 0 {
		t.Errorf("%d were forgotten, %v", n, err)
	}
	if _, err := k.Get(t.Context(), e); err != nil {
		t.Error(err)
	}
	if n, err := k.DeleteUnreferenced(t.Context(), []string{e.Location, e.Location}, time.Now().Add(2*time.Hour)); err != nil || n != 1 {
		t.Errorf("%d were forgotten, %v", n, err)
	}
	if _, err := k.Get(t.Context(), e); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("%v", err)
	}
}
