package evidence_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"patra"
	"patra/internal/blob"
	"patra/internal/evidence"
)

// shelf is a keeper with some bodies, and its folder.
func shelf(t *testing.T, n int) (*evidence.BodyStore, string, []patra.StoredBody) {
	t.Helper()
	dir := t.TempDir()
	place, err := blob.OpenFiles(dir)
	if err != nil {
		t.Fatal(err)
	}
	k := evidence.NewKeeper(place)
	var all []patra.StoredBody
	for i := range n {
		body := []byte(strings.Repeat(fmt.Sprintf("body %d ", i), 50))
		b, err := k.Put(t.Context(), patra.HashBytes(body), body, true)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b)
	}
	return k, dir, all
}

func each(all []patra.StoredBody) func(func(patra.StoredBody) error) error {
	return func(use func(patra.StoredBody) error) error {
		for _, b := range all {
			if err := use(b); err != nil {
				return err
			}
		}
		return nil
	}
}

// Every kind of damage is found, and nothing else is: a byte that was flipped only by those who read.
func TestDamageIsFound(t *testing.T) {
	k, dir, all := shelf(t, 40)
	change := func(i int, do func(path string, data []byte) error) {
		path := filepath.Join(dir, filepath.FromSlash(all[i].Location))
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := do(path, data); err != nil {
			t.Fatal(err)
		}
	}
	change(3, func(path string, _ []byte) error { return os.Remove(path) })
	change(7, func(path string, data []byte) error { return os.WriteFile(path, data[:len(data)-3], 0o600) })
	change(11, func(path string, data []byte) error { data[len(data)/2] ^= 1; return os.WriteFile(path, data, 0o600) })
	change(13, func(path string, _ []byte) error { // another body under this name
		other, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(all[14].Location)))
		if err == nil {
			err = os.WriteFile(path, other, 0o600)
		}
		return err
	})
	for _, c := range []struct {
		read bool
		want map[int]string
	}{
		{false, map[int]string{3: evidence.DamageNoBlob, 7: evidence.DamageSize}},
		{true, map[int]string{3: evidence.DamageNoBlob, 7: evidence.DamageContent, 11: evidence.DamageContent, 13: evidence.DamageContent}},
	} {
		found, seen := map[string]string{}, 0
		err := k.InspectAll(t.Context(), c.read, each(all), func(b patra.StoredBody, d *evidence.Damage) error {
			if seen++; d != nil {
				found[b.Body] = d.Kind
			}
			return nil
		})
		if err != nil || seen != len(all) || len(found) != len(c.want) {
			t.Errorf("reading is %v: %d seen, %v, %v", c.read, seen, found, err)
		}
		for i, kind := range c.want {
			if found[all[i].Body] != kind {
				t.Errorf("reading is %v: body %d is %q, want %s", c.read, i, found[all[i].Body], kind)
			}
		}
	}
}

// Whoever looks at a great many bodies needs no more memory than for a few, and stops when he is told to.
func TestInspectingManyIsFlat(t *testing.T) {
	k, _, all := shelf(t, 10)
	many := func(n int) func(func(patra.StoredBody) error) error {
		return func(use func(patra.StoredBody) error) error {
			for i := range n {
				if err := use(all[i%len(all)]); err != nil {
					return err
				}
			}
			return nil
		}
	}
	peak := uint64(0)
	seen := 0
	err := k.InspectAll(t.Context(), false, many(4_000), func(patra.StoredBody, *evidence.Damage) error {
		if seen++; seen%1000 == 0 {
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			peak = max(peak, m.HeapAlloc)
		}
		return nil
	})
	if err != nil || seen != 4_000 || peak > 64<<20 {
		t.Errorf("%d seen with %d bytes, %v", seen, peak, err)
	}
	stop := errors.New("enough")
	if err := k.InspectAll(t.Context(), true, many(1000), func(patra.StoredBody, *evidence.Damage) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := k.InspectAll(ctx, true, many(1000), func(patra.StoredBody, *evidence.Damage) error { return nil }); err == nil {
		t.Error("it went on")
	}
	if err := k.InspectAll(t.Context(), true, func(func(patra.StoredBody) error) error { return stop }, func(patra.StoredBody, *evidence.Damage) error { return nil }); !errors.Is(err, stop) {
		t.Errorf("%v", err)
	}
}

// What is young may belong to a page that is about to be written; what somebody knows is not an orphan.
func TestOrphans(t *testing.T) {
	k, dir, all := shelf(t, 3)
	stray := filepath.Join(dir, "bodies", "stray")
	if err := os.WriteFile(stray, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	deeper := filepath.Join(dir, "bodies", all[0].Body[:2], all[0].Body[2:4], all[0].Body+".zst") // where bodies were put once
	if err := errors.Join(os.MkdirAll(filepath.Dir(deeper), 0o700), os.WriteFile(deeper, []byte("x"), 0o600)); err != nil {
		t.Fatal(err)
	}
	long := time.Now().Add(-2 * time.Hour)
	for _, path := range []string{stray, deeper, filepath.Join(dir, filepath.FromSlash(all[0].Location)), filepath.Join(dir, filepath.FromSlash(all[1].Location))} {
		if err := os.Chtimes(path, long, long); err != nil {
			t.Fatal(err)
		}
	}
	var found []string
	err := k.Orphans(t.Context(), time.Now().Add(-time.Hour), func(hash string) (bool, error) { return hash == all[0].Body, nil }, func(i blob.Info) error {
		found = append(found, i.Name)
		return nil
	})
	if err != nil || len(found) != 2 || !strings.Contains(strings.Join(found, " "), all[1].Location) || !strings.Contains(strings.Join(found, " "), "stray") {
		t.Errorf("%v, %v", found, err)
	}
}
