package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"patra/internal/sim"
	"patra/internal/store"
	"patra/internal/store/storetest"
)

// TestAFullDay: a day of PubMed with 25,000 papers, of which a search gives 9,999. Cut by counts beforehand, or cut again
// while it runs because nobody was asked: all of them arrive, and no request goes deeper than the provider answers.
func TestAFullDay(t *testing.T) {
	const papers = 25_000
	day := time.Date(2026, 5, 3, 0, 0, 0, 0, time.UTC)
	for name, args := range map[string][]string{"counted": nil, "cut while it runs": {"--no-probe"}} {
		t.Run(name, func(t *testing.T) {
			log := &lockedBuffer{}
			provider := sim.New(sim.Config{Seed: 5, From: day.AddDate(0, 0, -2), To: day.AddDate(0, 0, 3), PerDay: papers, Exact: true, Log: log})
			server := httptest.NewServer(provider.Handler())
			t.Cleanup(server.Close)
			e := storetest.Engines()[0]
			s := &scene{killed: byIDs, t: t, dir: t.TempDir(), url: e.URL(t)}
			if err := os.WriteFile(filepath.Join(s.dir, "pubmed.yaml"), []byte(quickSource(t, "pubmed")), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(s.dir, "patra.yaml"), []byte("contact: full@example.org\nsources: {dir: .}\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			harvest := s.patra(append([]string{"harvest", "pubmed", "--base-url", server.URL, "--from", "2026-05-03", "--to", "2026-05-04"}, args...)...)
			if out, err := harvest.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			st, err := store.Open(t.Context(), s.url)
			if err != nil {
				t.Fatal(err)
			}
			defer st.Close()
			if n, err := st.CountRecords(t.Context(), "pubmed"); err != nil || n != papers || n != int64(provider.PubMed().Count(day, day.AddDate(0, 0, 1))) {
				t.Errorf("%d records of %d are stored, %v", n, papers, err)
			}
			storetest.CheckInvariants(t, storetest.Inspect(t, s.url))
			neverTooDeep(t, log.copy())
		})
	}
}

// TestIDsBeyondTheSpace: a source file says that ids end before they really do. Where counts are asked for, the summary says
// what was counted; with and without them the parts do not add up to the day, and it is kept as a dispute. Nothing is lost
// unnoticed.
func TestIDsBeyondTheSpace(t *testing.T) {
	const papers = 12_000
	day := time.Date(2026, 5, 3, 0, 0, 0, 0, time.UTC)
	provider := sim.New(sim.Config{Seed: 5, From: day.AddDate(0, 0, -1), To: day.AddDate(0, 0, 2), PerDay: papers, Exact: true})
	server := httptest.NewServer(provider.Handler())
	t.Cleanup(server.Close)
	for _, c := range []struct {
		name, arg, says string
		code            int
	}{{"counted", "--workers=4", "(COUNTS_DISAGREE)", exitIncomplete}, {"counted, too", "--workers=4", "the provider's own count disagrees for 2026-05-03~2026-05-04", exitIncomplete}, {"not counted", "--no-probe", "the provider's own count disagrees for 2026-05-03~2026-05-04", exitIncomplete}} {
		t.Run(c.name, func(t *testing.T) {
			s := &scene{killed: byIDs, t: t, dir: t.TempDir(), url: storetest.Engines()[0].URL(t)}
			file := strings.ReplaceAll(quickSource(t, "pubmed"), "to: 100000000", "to: 23000") // the day has 12,001 to 24,000
			if err := os.WriteFile(filepath.Join(s.dir, "pubmed.yaml"), []byte(file), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(s.dir, "patra.yaml"), []byte("contact: full@example.org\nsources: {dir: .}\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			out, err := s.patra("harvest", "pubmed", "--base-url", server.URL, "--from", "2026-05-03", "--to", "2026-05-04", c.arg).CombinedOutput()
			if e, ok := errors.AsType[*exec.ExitError](err); !ok || e.ExitCode() != c.code || !strings.Contains(string(out), c.says) {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// neverTooDeep reads in the provider's own log that no search asked for a position beyond its reach.
func neverTooDeep(t *testing.T, log []byte) {
	t.Helper()
	searches := 0
	for lines := bufio.NewScanner(bytes.NewReader(log)); lines.Scan(); {
		var e sim.Entry
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		form, err := url.ParseQuery(e.Form)
		if err != nil {
			t.Fatal(err)
		}
		if !form.Has("retstart") {
			continue
		}
		searches++
		if at, err := strconv.Atoi(form.Get("retstart")); err != nil || at > 9998 || e.Status != 200 {
			t.Errorf("the search at %s was answered with %d", form.Get("retstart"), e.Status)
		}
	}
	if searches == 0 {
		t.Error("the log shows no search at all")
	}
}
