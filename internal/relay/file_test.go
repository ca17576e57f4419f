package relay_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"patra"
	"patra/internal/relay"
	"patra/internal/relay/relaytest"
)

func TestHalfALineIsCutOff(t *testing.T) {
	path := filepath.Join(t.TempDir(), "feed.jsonl")
	for left, want := range map[string]string{
		"{\"a\":1}\n{\"b\":":                  "{\"a\":1}\n",
		"{\"a\":1}\n":                         "{\"a\":1}\n",
		"{\"b\":":                             "",
		"":                                    "",
		"{}\n" + strings.Repeat("x", 200<<10): "{}\n",
		strings.Repeat("x", 70<<10) + "\n" + "half":      strings.Repeat("x", 70<<10) + "\n",
		"{}\n\n" + strings.Repeat("y", 65536) + "\nrest": "{}\n\n" + strings.Repeat("y", 65536) + "\n",
	} {
		must(t, os.WriteFile(path, []byte(left), 0o600))
		f, err := relay.OpenFile(relay.FileOptions{Path: path})
		must(t, err)
		must(t, f.Close())
		got, err := os.ReadFile(path)
		must(t, err)
		if string(got) != want {
			t.Errorf("%.40q became %.40q", left, got)
		}
	}
}

func TestAFileIsTurnedOver(t *testing.T) {
	dir := t.TempDir()
	at := time.Date(2026, 11, 15, 23, 0, 0, 0, time.UTC)
	f, err := relay.OpenFile(relay.FileOptions{Path: filepath.Join(dir, "feed.jsonl"), Limit: 500, Now: func() time.Time { return at }})
	must(t, err)
	defer f.Close()
	write := func(n int) {
		for range n {
			must(t, relay.FirstError(f.Publish(t.Context(), []patra.Event{relaytest.Event("a", 1)})))
		}
	}
	write(2) // more than 500 bytes
	write(1)
	at = at.Add(2 * time.Hour)
	write(1)
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	must(t, err)
	lines := 0
	for _, name := range files {
		raw, err := os.ReadFile(name)
		must(t, err)
		lines += strings.Count(string(raw), "\n")
	}
	if len(files) != 3 || lines != 4 {
		t.Errorf("%d lines in %q", lines, files)
	}
}

func TestASignatureIsWorthWhatItSays(t *testing.T) {
	now := time.Unix(1_763_172_900, 0)
	body := []byte(`[{}]`)
	header := relay.Sign("secret", "k1", now, body)
	for _, tt := range []struct {
		name    string
		secrets map[string]string
		at      time.Time
		body    string
		header  string
		ok      bool
	}{
		{"as it was sent", map[string]string{"k1": "secret"}, now, "[{}]", header, true},
		{"another body", map[string]string{"k1": "secret"}, now, "[{} ]", header, false},
		{"another secret", map[string]string{"k1": "other"}, now, "[{}]", header, false},
		{"an unknown key", map[string]string{"k2": "secret"}, now, "[{}]", header, false},
		{"too late", map[string]string{"k1": "secret"}, now.Add(6 * time.Minute), "[{}]", header, false},
		{"too early", map[string]string{"k1": "secret"}, now.Add(-6 * time.Minute), "[{}]", header, false},
		{"another time", map[string]string{"k1": "secret"}, now, "[{}]", strings.Replace(header, "t=17", "t=18", 1), false},
		{"none", map[string]string{"k1": "secret"}, now, "[{}]", "", false},
		{"no key id, and no secret for that", map[string]string{"": ""}, now, "[{}]", "t=1,v1=", false},
	} {
		if err := relay.Verify(tt.header, tt.secrets, tt.at, 5*time.Minute, []byte(tt.body)); (err == nil) != tt.ok {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}
