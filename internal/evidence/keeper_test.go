package evidence_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"patra"
	"patra/internal/blob"
	"patra/internal/evidence"
)

func newKeeper(t *testing.T) (*evidence.BodyStore, string) {
	t.Helper()
	dir := t.TempDir()
	place, err := blob.OpenFiles(dir)
	if err != nil {
		t.Fatal(err)
	}
	return evidence.NewKeeper(place), dir
}

func TestWhatIsKeptComesBack(t *testing.T) {
	k, _ := newKeeper(t)
	rapid.Check(t, func(rt *rapid.T) {
		body := rapid.SliceOf(rapid.Byte()).Draw(rt, "body")
		e, err := k.Put(t.Context(), patra.HashBytes(body), body, true)
		if err != nil || e.Redacted || e.Size != int64(len(body)) {
			rt.Fatalf("%+v, %v", e, err)
		}
		got, err := k.Get(t.Context(), e)
		if err != nil || !bytes.Equal(got, body) {
			rt.Fatalf("%d of %d bytes, %v", len(got), len(body), err)
		}
	})
}

// Each kind of damage is noticed: a byte that turned, a file that was cut, another body in its place, none at all.
func TestDamageIsNoticed(t *testing.T) {
	body := bytes.Repeat([]byte(`{"title":"On damage"},`), 500)
	for name, damage := range map[string]func(path string, data []byte) error{
		"a bit":     func(p string, d []byte) error { d[len(d)/2] ^= 4; return os.WriteFile(p, d, 0o600) },
		"the end":   func(p string, d []byte) error { return os.WriteFile(p, d[:len(d)-3], 0o600) },
		"something": func(p string, d []byte) error { return os.WriteFile(p, append(d, d...), 0o600) },
		"nothing":   func(p string, _ []byte) error { return os.WriteFile(p, nil, 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			k, dir := newKeeper(t)
			e, err := k.Put(t.Context(), patra.HashBytes(body), body, true)
			if err != nil || e.StoredSize > e.Size/10 {
				t.Fatalf("%+v, %v", e, err)
			}
			path := filepath.Join(dir, filepath.FromSlash(e.Location))
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := damage(path, data); err != nil {
				t.Fatal(err)
			}
			if _, err := k.Get(t.Context(), e); !errors.Is(err, evidence.ErrDamaged) {
				t.Errorf("%v", err)
			}
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if _, err := k.Get(t.Context(), e); !errors.Is(err, blob.ErrNotFound) {
				t.Errorf("%v", err)
			}
		})
	}
}

// A body that lost a secret is found under the hash of what came, and compared with what was kept.
func TestARedactedBodyIsKeptUnderWhatCame(t *testing.T) {
	k, _ := newKeeper(t)
	came, kept := []byte(`{"key":"swordfish"}`), []byte(`{"key":"REDACTED"}`)
	e, err := k.Put(t.Context(), patra.HashBytes(came), kept, false)
	if err != nil || !e.Redacted || e.Location != evidence.Name(patra.HashBytes(came)) {
		t.Fatalf("%+v, %v", e, err)
	}
	if got, err := k.Get(t.Context(), e); err != nil || !bytes.Equal(got, kept) {
		t.Errorf("%s, %v", got, err)
	}
}
