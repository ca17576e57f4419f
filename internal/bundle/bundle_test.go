package bundle_test

import (
	"archive/zip"
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"patra"
	"patra/internal/bundle"
)

var (
	made = patra.Date(2026, 5, 1)
	body = strings.Repeat("a", 64)
)

func key(t testing.TB, seed byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, ed25519.SeedSize))
}

func public(k ed25519.PrivateKey) ed25519.PublicKey { return k.Public().(ed25519.PublicKey) }

// whole is a bundle as it should be.
func whole(t testing.TB, k ed25519.PrivateKey) []byte {
	t.Helper()
	var b bytes.Buffer
	w := bundle.NewWriter(&b)
	for name, data := range map[string][]byte{"snapshot.json": []byte(`{"v":2}`), "batches.jsonl": []byte("{}\n"), "bodies/" + body: bytes.Repeat([]byte("tight "), 1<<18)} {
		if err := w.Add(name, data); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Close(bundle.Manifest{Subject: "run:1", By: "ada", At: made, Reason: "why", ExpiresAt: made.Add(time.Hour)}, k); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func verify(data []byte, trusted ...ed25519.PublicKey) (bundle.Manifest, error) {
	return bundle.Verify(bytes.NewReader(data), int64(len(data)), trusted, made.Add(time.Minute))
}

type entry struct {
	header zip.FileHeader
	data   []byte
}

// repacked is a bundle whose entries somebody has changed.
func repacked(t *testing.T, data []byte, change func([]entry) []entry) []byte {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	var all []entry
	for _, f := range z.File {
		r, _ := f.Open()
		b, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, entry{zip.FileHeader{Name: f.Name, Method: f.Method}, b})
	}
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, e := range change(all) {
		f, err := w.CreateHeader(&e.header)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(e.data); err != nil && !strings.HasSuffix(e.header.Name, "/") {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestAWholeBundleIsBelieved(t *testing.T) {
	k := key(t, 1)
	m, err := verify(whole(t, k), public(key(t, 2)), public(k))
	if err != nil || m.Subject != "run:1" || len(m.Files) != 3 {
		t.Errorf("%+v, %v", m, err)
	}
}

// Whatever is done to a bundle, by somebody without the key, is noticed.
func TestATouchedBundleIsNotBelieved(t *testing.T) {
	k := key(t, 1)
	good := whole(t, k)
	add := func(e entry) func([]entry) []entry { return func(all []entry) []entry { return append(all, e) } }
	file := func(name, text string) entry { return entry{zip.FileHeader{Name: name}, []byte(text)} }
	list := func(change func(m map[string]any)) func([]entry) []entry {
		return func(all []entry) []entry {
			for i, e := range all {
				if e.header.Name == bundle.ManifestName {
					var m map[string]any
					_ = json.Unmarshal(e.data, &m)
					change(m)
					all[i].data, _ = json.Marshal(m)
				}
			}
			return all
		}
	}
	link := zip.FileHeader{Name: "bodies/" + strings.Repeat("b", 64)}
	link.SetMode(fs.ModeSymlink | 0o777)
	for name, c := range map[string]struct {
		change func([]entry) []entry
		want   error
	}{
		"a changed file":         {func(all []entry) []entry { all[0].data = append(all[0].data, 'x'); return all }, bundle.ErrChanged},
		"a file less":            {func(all []entry) []entry { return all[1:] }, bundle.ErrChanged},
		"a file more":            {add(file("report.html", "<p>")), bundle.ErrChanged},
		"no list":                {func(all []entry) []entry { return all[:len(all)-1] }, bundle.ErrHostile},
		"another reason":         {list(func(m map[string]any) { m["reason"] = "because" }), bundle.ErrForged},
		"used for longer":        {list(func(m map[string]any) { m["expires_at"] = "2030-01-01T00:00:00.000Z" }), bundle.ErrForged},
		"no files on the list":   {list(func(m map[string]any) { m["files"] = []any{} }), bundle.ErrForged},
		"no signature":           {list(func(m map[string]any) { m["signature"] = "" }), nil},
		"a signature of nothing": {list(func(m map[string]any) { m["signature"] = "AAAA" }), bundle.ErrForged},
		"more than a list says":  {list(func(m map[string]any) { m["also"] = 1 }), bundle.ErrHostile},
		"another version":        {list(func(m map[string]any) { m["v"] = 2 }), bundle.ErrHostile},
		"another key":            {list(func(m map[string]any) { m["public_key"] = bundle.FormatKey(public(key(t, 3))) }), bundle.ErrForged},
		"no key":                 {list(func(m map[string]any) { m["public_key"] = "ed25519:" }), bundle.ErrHostile},
		"the same name twice":    {add(file("snapshot.json", "{}")), bundle.ErrHostile},
		"a path upwards":         {add(file("../evil", "x")), bundle.ErrHostile},
		"a path upwards inside":  {add(file("bodies/../../evil", "x")), bundle.ErrHostile},
		"a path from the root":   {add(file("/etc/passwd", "x")), bundle.ErrHostile},
		"a path of windows":      {add(file(`C:\evil`, "x")), bundle.ErrHostile},
		"backslashes":            {add(file(`bodies\`+body, "x")), bundle.ErrHostile},
		"a zero in a name":       {add(file("snapshot.json\x00.exe", "x")), bundle.ErrHostile},
		"a line break in a name": {add(file("snapshot.json\n", "x")), bundle.ErrHostile},
		"a folder":               {add(file("bodies/", "")), bundle.ErrHostile},
		"a link":                 {add(entry{link, []byte("/etc/passwd")}), bundle.ErrHostile},
		"an empty name":          {add(file("", "x")), bundle.ErrHostile},
		"packed too tightly":     {add(entry{zip.FileHeader{Name: "report.html", Method: zip.Deflate}, make([]byte, 32<<20)}), bundle.ErrHostile},
		"a list that never ends": {func(all []entry) []entry { all[len(all)-1].data = bytes.Repeat([]byte{' '}, 5<<20); return all }, bundle.ErrHostile},
		"a list that is no list": {func(all []entry) []entry { all[len(all)-1].data = []byte("[]"); return all }, bundle.ErrHostile},
		"more files than it may": {func(all []entry) []entry {
			for i := range 5001 {
				all = append(all, file(fmt.Sprintf("bodies/%064x", i), ""))
			}
			return all
		}, bundle.ErrHostile},
	} {
		_, err := verify(repacked(t, good, c.change), public(k))
		if err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	if _, err := verify(repacked(t, good, func(all []entry) []entry { return all }), public(k)); err != nil {
		t.Errorf("packed again without a change: %v", err)
	}
}

// A bundle is for some time and from somebody.
func TestWhoAndWhen(t *testing.T) {
	k := key(t, 1)
	good := whole(t, k)
	if _, err := verify(good); !errors.Is(err, bundle.ErrUnknown) {
		t.Errorf("nobody is trusted: %v", err)
	}
	if _, err := verify(good, public(key(t, 2))); !errors.Is(err, bundle.ErrUnknown) {
		t.Errorf("somebody else is trusted: %v", err)
	}
	for at, want := range map[patra.Instant]error{made.Add(time.Hour): bundle.ErrExpired, made.Add(-time.Hour): bundle.ErrHostile, made.Add(59 * time.Minute): nil} {
		if _, err := bundle.Verify(bytes.NewReader(good), int64(len(good)), []ed25519.PublicKey{public(k)}, at); !errors.Is(err, want) {
			t.Errorf("at %s: %v, want %v", at, err, want)
		}
	}
}

// Bytes that are no bundle at all, or half of one, are refused and nothing else happens.
func TestBrokenBytes(t *testing.T) {
	k := key(t, 1)
	good := whole(t, k)
	for n := 0; n < len(good); n += len(good)/200 + 1 {
		if _, err := verify(good[:n], public(k)); err == nil {
			t.Fatalf("%d of %d bytes are believed", n, len(good))
		}
	}
	for at := range 400 {
		bad := bytes.Clone(good)
		bad[len(bad)-1-at] ^= 0x41
		if m, err := verify(bad, public(k)); err == nil && len(m.Files) != 3 {
			t.Fatalf("another bundle is believed, with a byte changed %d from its end", at)
		}
	}
	if _, err := verify(append(bytes.Clone(good), "tail"...), public(k)); !errors.Is(err, bundle.ErrHostile) {
		t.Errorf("something behind it: %v", err)
	}
}

func FuzzVerify(f *testing.F) {
	k := key(f, 1)
	f.Add(whole(f, k))
	f.Add([]byte("PK\x05\x06" + strings.Repeat("\x00", 18)))
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, err := verify(data, public(k)); err == nil && !bytes.Contains(data, []byte("manifest.json")) {
			t.Error("believed without a list")
		}
	})
}

func TestTheKeyIsMadeOnceAndForNobodyElse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "patra.key")
	k, first, err := bundle.EnsureKey(path)
	if err != nil || !first {
		t.Fatal(first, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	again, second, err := bundle.EnsureKey(path)
	if err != nil || second || !again.Equal(k) {
		t.Errorf("%v %v", second, err)
	}
	if got, err := bundle.ParseKey(bundle.FormatKey(public(k))); err != nil || !got.Equal(public(k)) {
		t.Error(err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := bundle.EnsureKey(path); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a key that all can read: %v", err)
	}
	if err := os.WriteFile(path, []byte("hello"), 0o600); err != nil || os.Chmod(path, 0o600) != nil {
		t.Fatal(err)
	}
	if _, _, err := bundle.EnsureKey(path); err == nil {
		t.Error("that is no key")
	}
}

// A report shows other people's texts, and they do nothing there.
func TestAReportEscapesEverything(t *testing.T) {
	evil := `"><script>alert(1)</script><img src=x onerror=alert(1)> javascript:alert(1) {{.}} ada@example.org`
	c := &patra.Claim{BaseURL: evil, Spec: evil}
	c.Task.Endpoint = evil
	p := patra.LedgerPage{Before: evil, After: evil}
	p.EndCode, p.BodySHA256, p.Error = evil, evil, json.RawMessage(fmt.Sprintf(`{"code":%q,"text":%q}`, "X", evil))
	out, err := bundle.Report(bundle.ReportData{Manifest: bundle.Manifest{Subject: evil, By: evil, Reason: evil}, Run: patra.Run{Source: evil, Error: p.Error}, Claim: c, Query: evil,
		Pages: []bundle.ReportPage{{LedgerPage: p, Request: evil, Response: evil, Sample: bundle.Sample([]byte(evil))}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"<script", "<img", "src=", "<iframe", "http:", "https:", "@import", "url("} {
		if strings.Contains(strings.ReplaceAll(string(out), "&lt;", "_"), bad) && !strings.Contains(bad, "=") {
			t.Errorf("the report has %s", bad)
		}
	}
	if !strings.Contains(string(out), "&lt;script&gt;") || !strings.Contains(string(out), "default-src &#39;none&#39;") && !strings.Contains(string(out), "default-src 'none'") {
		t.Error("nothing was escaped; this proves nothing")
	}
}
