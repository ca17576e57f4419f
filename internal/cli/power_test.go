package cli

import (
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"patra"
	"patra/internal/blob"
	"patra/internal/crashtest"
	"patra/internal/evidence"
	"patra/internal/sim"
	"patra/internal/store"
	"patra/internal/store/storetest"
)

// smallScene is a provider with a few days, and a folder in which patra harvests it on a disk of its own.
type smallScene struct {
	t          *testing.T
	home, disk string // of the settings, and of all that patra writes
	base       string
	provider   *sim.Server
}

const (
	smallDays   = 3
	smallPerDay = 120
)

var (
	smallFrom = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	smallTo   = smallFrom.AddDate(0, 0, smallDays)
)

// newSmallScene has the store at the top of the disk, and answers in a folder that somebody must make first.
func newSmallScene(t *testing.T, disk, answers string) *smallScene {
	s := &smallScene{t: t, home: t.TempDir(), disk: disk}
	s.provider = sim.New(sim.Config{Seed: 5, From: smallFrom, To: smallTo, PerDay: smallPerDay, Exact: true})
	server := httptest.NewServer(s.provider.Handler())
	t.Cleanup(server.Close)
	s.base = server.URL
	config := "contact: disk@example.org\nsources: {dir: .}\nexecutor: {workers: 1, lease: 5s, heartbeat: 1s, taskAttempts: 2}\nplanner: {probes: 0}\n" +
		"evidence: {url: \"file:" + answers + "\"}\n"
	for name, text := range map[string]string{"crossref.yaml": quickSource(t, "crossref"), "patra.yaml": config} {
		if err := os.WriteFile(filepath.Join(s.home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func (s *smallScene) url() string { return "sqlite:" + filepath.Join(s.disk, "patra.db") }

func (s *smallScene) patra(args ...string) *exec.Cmd {
	c := exec.CommandContext(s.t.Context(), "patra", args...)
	c.Dir = s.home
	c.Env = append(os.Environ(), "PATRA_STORE_URL="+s.url(), "PATRA_LOG_FORMAT=text")
	return c
}

func (s *smallScene) harvest() *exec.Cmd {
	return s.patra("harvest", "crossref", "--base-url", s.base, "--from", smallFrom.Format(time.DateOnly), "--to", smallTo.Format(time.DateOnly))
}

// exact: all that the provider has is there, once, and every promise is kept.
func (s *smallScene) exact() {
	s.t.Helper()
	db := storetest.Inspect(s.t, s.url())
	defer db.Close()
	want := 0
	for range s.provider.Truth(smallFrom, smallTo) {
		want++
	}
	var is, first int
	if err := db.QueryRow("SELECT COUNT(*), COALESCE(SUM(rev = 1), 0) FROM ing_record").Scan(&is, &first); err != nil || want == 0 || is != want || first != want {
		s.t.Errorf("%d records, of which %d are in their first version, and not %d, %v", is, first, want, err)
	}
	storetest.CheckInvariants(s.t, db)
}

// The power fails during a harvest by the real program that keeps its answers, whose folders are all new. A page that counts
// as read has its answer, whole, whatever else is lost.
func TestPowerAndKeptAnswers(t *testing.T) {
	t.Parallel()
	crashtest.Need(t)
	disk := t.TempDir()
	s := newSmallScene(t, disk, filepath.Join(disk, "kept", "answers"))
	p := crashtest.Record(t, s.harvest(), disk)
	if p.Err != nil {
		t.Fatal(p.Err)
	}
	s.exact()
	seed := rand.Uint64()
	draw := rand.New(rand.NewPCG(seed, 0))
	step := max(1, p.Len()/12)
	if os.Getenv("DISK_SWEEP") != "" {
		step = max(1, p.Len()/200)
	}
	states, bodies := 0, 0
	for moment := 1 + draw.IntN(step); moment <= p.Len(); moment += step {
		found := p.At(moment)
		for name, luck := range map[string]crashtest.Luck{"nothing": crashtest.Nothing, "a half": crashtest.Drawn(draw, 0.5), "everything": crashtest.Everything} {
			n := keptAfterPowerCut(t, found, luck, fmt.Sprintf("after %d of %d calls, with %s of the rest (seed %d)", moment, p.Len(), name, seed))
			states, bodies = states+1, bodies+n
		}
	}
	if bodies == 0 {
		t.Error("no page was ever there")
	}
	t.Logf("%d states of the disk were opened, and %d kept answers read in them", states, bodies)
}

func keptAfterPowerCut(t *testing.T, found *crashtest.Disk, luck crashtest.Luck, when string) (read int) {
	t.Helper()
	folder := t.TempDir()
	defer os.RemoveAll(folder)
	found.Restart(t, folder, luck)
	url := "sqlite:" + filepath.Join(folder, "patra.db")
	st, err := store.Open(t.Context(), url)
	if err != nil {
		t.Fatalf("%s: %v", when, err)
	}
	defer st.Close()
	if _, err := st.Migrate(t.Context()); err != nil {
		t.Fatalf("%s: %v", when, err)
	}
	db := storetest.Inspect(t, url)
	defer db.Close() // there are many of them
	storetest.CheckInvariants(t, db)
	place, err := blob.OpenFiles(filepath.Join(folder, "kept", "answers"))
	if err != nil {
		t.Fatal(err)
	}
	keeper := evidence.NewKeeper(place)
	err = st.Bodies(t.Context(), "", 0, func(b patra.StoredBody, _ patra.Instant) error {
		if _, err := keeper.Get(t.Context(), b); err != nil {
			t.Errorf("%s: a page counts as read, and its answer is not there: %v", when, err)
		}
		read++
		return nil
	})
	if err != nil && !strings.Contains(err.Error(), "no such table") {
		t.Fatalf("%s: %v", when, err)
	}
	return read
}
