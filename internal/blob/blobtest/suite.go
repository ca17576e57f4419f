// Package blobtest is the conformance suite of places for blobs: one set of promises, checked on every place.
package blobtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"patra/internal/blob"
)

// Run checks every promise. fresh makes an empty place; again opens the one that was made last, as another process would.
func Run(t *testing.T, fresh func(*testing.T) (place blob.Backend, again func() blob.Backend)) {
	for name, check := range map[string]func(*testing.T, blob.Backend, func() blob.Backend){
		"what was put is there, for others too": there,
		"the last one wins":                     lastWins,
		"what is not there is not found":        notFound,
		"names that lead elsewhere are refused": badNames,
		"a walk is in order and complete":       walk,
		"many put and get at the same time":     many,
	} {
		t.Run(name, func(t *testing.T) {
			place, again := fresh(t)
			check(t, place, again)
		})
	}
}

func there(t *testing.T, p blob.Backend, again func() blob.Backend) {
	for _, data := range [][]byte{{0}, []byte("xy"), bytes.Repeat([]byte("0123456789"), 200_000)} {
		name := fmt.Sprintf("bodies/aa/%d.zst", len(data))
		if err := p.Put(t.Context(), name, data); err != nil {
			t.Fatal(err)
		}
		for _, q := range []blob.Backend{p, again()} {
			got, err := q.Get(t.Context(), name)
			if err != nil || !bytes.Equal(got, data) {
				t.Errorf("%d of %d bytes came back, %v", len(got), len(data), err)
			}
			if size, err := q.Has(t.Context(), name); err != nil || size != int64(len(data)) {
				t.Errorf("it has %d of %d bytes, %v", size, len(data), err)
			}
		}
	}
}

func lastWins(t *testing.T, p blob.Backend, again func() blob.Backend) {
	for _, text := range []string{"first, and longer", "second"} {
		if err := p.Put(t.Context(), "a/b", []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := again().Get(t.Context(), "a/b"); err != nil || string(got) != "second" {
		t.Errorf("%q, %v", got, err)
	}
}

func notFound(t *testing.T, p blob.Backend, _ func() blob.Backend) {
	for range 2 {
		if _, err := p.Get(t.Context(), "a/b/c"); !errors.Is(err, blob.ErrNotFound) {
			t.Errorf("%v", err)
		}
		if _, err := p.Has(t.Context(), "a/b/c"); !errors.Is(err, blob.ErrNotFound) {
			t.Errorf("%v", err)
		}
		if err := p.Put(t.Context(), "a/b/c", []byte("x")); err != nil {
			t.Fatal(err)
		}
		if gone, err := p.DeleteOld(t.Context(), "a/b/c", time.Now().Add(-time.Hour)); err != nil || gone {
			t.Errorf("a young one: %v, %v", gone, err)
		}
		for _, want := range []bool{true, false} {
			if gone, err := p.DeleteOld(t.Context(), "a/b/c", time.Now().Add(time.Hour)); err != nil || gone != want {
				t.Errorf("an old one: %v, want %v, %v", gone, want, err)
			}
		}
		for range 2 {
			if err := p.Delete(t.Context(), "a/b/c"); err != nil {
				t.Error(err)
			}
		}
	}
	if err := p.Walk(t.Context(), "nowhere", func(i blob.Info) error { return errors.New(i.Name) }); err != nil {
		t.Errorf("a folder that is not there: %v", err)
	}
}

func badNames(t *testing.T, p blob.Backend, _ func() blob.Backend) {
	for _, name := range []string{"", "/", "/a", "a/", "a//b", "../a", "a/../b", "a/./b", ".a", "a\\b", "a\x00b", "C:a", "a b", strings.Repeat("a/", 300) + "a"} {
		if err := p.Put(t.Context(), name, []byte("x")); err == nil {
			t.Errorf("%q was taken", name)
		}
		if _, err := p.Get(t.Context(), name); err == nil || errors.Is(err, blob.ErrNotFound) {
			t.Errorf("%q was looked for: %v", name, err)
		}
		if err := p.Delete(t.Context(), name); err == nil {
			t.Errorf("%q was deleted", name)
		}
	}
	if err := p.Walk(t.Context(), "..", func(blob.Info) error { return nil }); err == nil {
		t.Error("the folder above was visited")
	}
}

func walk(t *testing.T, p blob.Backend, again func() blob.Backend) {
	names := []string{"a/1", "a/b/2", "a/b/3", "ab/4", "c"}
	for _, n := range names {
		if err := p.Put(t.Context(), n, []byte(n)); err != nil {
			t.Fatal(err)
		}
	}
	for folder, want := range map[string][]string{"": names, "a": names[:3], "a/b": names[1:3], "ab": names[3:4]} {
		var got []string
		err := again().Walk(t.Context(), folder, func(i blob.Info) error {
			got = append(got, i.Name)
			if i.Size != int64(len(i.Name)) || i.At.IsZero() {
				t.Errorf("%+v", i)
			}
			return nil
		})
		slices.Sort(got) // the order of folders and of names differs where a name goes on after the folder's
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q has %v, want %v, %v", folder, got, want, err)
		}
	}
	enough := errors.New("enough")
	if err := p.Walk(t.Context(), "", func(blob.Info) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("%v", err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.Walk(gone, "", func(blob.Info) error { return nil }); err == nil {
		t.Error("a walk went on after its end")
	}
}

func many(t *testing.T, p blob.Backend, again func() blob.Backend) {
	var all sync.WaitGroup
	for n := range 8 {
		q := again()
		all.Go(func() {
			for i := range 10 {
				name, text := fmt.Sprintf("x/%d/%d", i, (i+n)%4), strings.Repeat(fmt.Sprint(i), 5000)
				if err := q.Put(t.Context(), name, []byte(text)); err != nil {
					t.Error(err)
				}
				if got, err := p.Get(t.Context(), name); err != nil || string(got) != text { // never half of one
					t.Errorf("%s has %d bytes, %v", name, len(got), err)
				}
			}
		})
	}
	all.Wait()
}
