package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"patra/internal/store/storetest"
)

// Two programs begin at the same instant, on a store that is not even there: each wants to make the tables, to plan the same
// days and to read them. There is one plan's worth of slices, and nobody is asked twice for a page.
func TestTwoProgramsBeginAtTheSameInstant(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := newSmallScene(t, dir, filepath.Join(dir, "answers"))
	asked := s.counted()
	if code, out := endedWith(t, s.harvest()); code != 0 {
		t.Fatal(code, out)
	}
	alone := asked.Swap(0)
	for _, e := range []string{"", "-wal", "-shm"} {
		_ = os.Remove(filepath.Join(dir, "patra.db"+e))
	}
	if err := os.RemoveAll(filepath.Join(dir, "answers")); err != nil { // else an empty store beside them is refused
		t.Fatal(err)
	}
	var both [2]*exec.Cmd
	var out [2]bytes.Buffer
	for i := range both {
		both[i] = s.harvest()
		both[i].Stdout, both[i].Stderr = &out[i], &out[i]
		if err := both[i].Start(); err != nil {
			t.Fatal(err)
		}
	}
	for i, c := range both {
		if err := c.Wait(); err != nil {
			t.Errorf("%v\n%s", err, &out[i])
		}
	}
	s.exact()
	db := storetest.Inspect(t, s.url())
	count := func(query string) (n int64) {
		if err := db.QueryRow(query).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	// The second may be so late that the first is done. Then it looks back, as everybody does who comes later.
	days, late := int64(3), count("SELECT COUNT(*) FROM ing_plan_slice WHERE purpose_code = 'LOOKBACK'")
	// Both may have examined the provider before the other's card was kept.
	examined := count("SELECT COALESCE(SUM(requests), 0) FROM reg_prov_certificate WHERE id > 1")
	if most := alone + late*alone/days + examined; asked.Load() > most {
		t.Errorf("one asks %d times, and two ask %d times", alone, asked.Load())
	}
	if n := count("SELECT COUNT(*) FROM ing_plan_slice WHERE purpose_code <> 'LOOKBACK'"); n != days {
		t.Errorf("%d slices for %d days", n, days)
	}
	if n := count("SELECT COUNT(*) FROM ing_plan_slice a JOIN ing_plan_slice b ON a.cursor_id = b.cursor_id AND a.id < b.id AND a.purpose_code = b.purpose_code AND a.window_from < b.window_to AND b.window_from < a.window_to"); n != 0 {
		t.Errorf("%d pairs of slices have the same days", n)
	}
}

// The first bytes of a page, which say what it is, are turned round in a store that was well. Doctor finds every such page;
// and whoever meets it while harvesting says so in a sentence, and writes nothing more.
func TestDiskPagesThatAreSpoiled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := newSmallScene(t, dir, filepath.Join(dir, "answers"))
	if code, out := endedWith(t, s.harvest()); code != 0 {
		t.Fatal(code, out)
	}
	file := filepath.Join(dir, "patra.db")
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const page = 8 << 10
	pages := len(whole) / page
	met := 0
	for n := 1; n < pages; n += max(1, pages/5) {
		broken := bytes.Clone(whole)
		for i := range 16 {
			broken[n*page+i] ^= 0xff
		}
		if err := os.WriteFile(file, broken, 0o600); err != nil {
			t.Fatal(err)
		}
		code, out := endedWith(t, s.patra("doctor"))
		if code != exitFailed || !strings.Contains(strings.Join(strings.Fields(out), " "), "put back a backup") {
			t.Errorf("doctor does not see that page %d is spoiled: exit %d\n%s", n+1, code, out)
		}
		again := s.patra("harvest", "crossref", "--base-url", s.base, "--to", "2026-03-06")
		if code, out = endedWith(t, again); code != 0 {
			met++
			if code != exitEnvironment || !strings.Contains(out, "patra: ") || strings.Contains(out, "goroutine ") {
				t.Errorf("with page %d spoiled it ended with %d and said\n%s", n+1, code, out)
			}
		}
		for _, e := range []string{"-wal", "-shm"} {
			_ = os.Remove(file + e)
		}
	}
	t.Logf("%d pages; a harvest met %d of those that were spoiled", pages, met)
	if met == 0 {
		t.Error("nobody met a page that is spoiled")
	}
}
