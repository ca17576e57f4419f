package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"patra/internal/store/storetest"
)

// TestABackupDuringAHarvest: backups are made while a harvest writes. Each is a store in which every promise holds; and the
// first of them, with the folder of answers copied after it, is put back in a new place, where the harvest goes on and
// becomes exact.
func TestABackupDuringAHarvest(t *testing.T) {
	t.Parallel()
	s := newScene(t, storetest.Engines()[0], byToken)
	folder := filepath.Dir(strings.TrimPrefix(s.url, "sqlite:"))
	away := t.TempDir()
	_, ended := s.startUntil(20)
	var records []int
	for i, name := range []string{"first.db", "second.db", "third.db"} {
		file := filepath.Join(away, name)
		out, err := s.patra("backup", file).CombinedOutput()
		if err != nil || !bytes.Contains(out, []byte("it is sound")) {
			t.Fatalf("%v\n%s", err, out)
		}
		if i == 0 { // the folder may have more than the store knows of
			if err := os.CopyFS(filepath.Join(away, "evidence"), os.DirFS(filepath.Join(folder, "evidence"))); err != nil {
				t.Fatal(err)
			}
		}
		db := storetest.Inspect(t, "sqlite:"+file)
		var n int
		if err := db.QueryRow(`SELECT COUNT(*) FROM ing_record`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		records = append(records, n)
		storetest.CheckInvariants(t, db)
	}
	if records[0] == 0 || records[0] >= records[2] || records[2] >= killDays*killPerDay {
		t.Errorf("nobody wrote while backups were made: they have %v records", records)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	s.exact()

	s.url = "sqlite:" + filepath.Join(away, "first.db")
	for _, args := range [][]string{{"check", "--read-data"}, {"doctor", "--deep"}} {
		if out, err := s.patra(args...).CombinedOutput(); err != nil && args[0] == "check" || bytes.Contains(out, []byte("Broken")) {
			t.Errorf("%q: %v\n%s", args, err, out)
		}
	}
	s.finish()
	s.exact()
}

// A backup overwrites nothing, leaves nothing behind when it fails, and is nobody else's business.
func TestABackupIsWholeOrNotThere(t *testing.T) {
	t.Parallel()
	s := newScene(t, storetest.Engines()[0], byToken)
	dir := t.TempDir()
	file := filepath.Join(dir, "b.db")
	for _, tt := range []struct {
		name, taken, to string
		code            int
		says            string
	}{
		{"a file that is there", file, file, exitUsage, "b.db is there already, and a backup overwrites nothing"},
		{"a backup that was cut off", file + ".part", file, exitUsage, "or delete " + file + ".part"},
		{"a folder that is not there", "", filepath.Join(dir, "no", "b.db"), exitEnvironment, "there is no folder " + filepath.Join(dir, "no")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.taken != "" {
				if err := os.WriteFile(tt.taken, []byte("precious"), 0o600); err != nil {
					t.Fatal(err)
				}
				defer os.Remove(tt.taken)
			}
			c := s.patra("backup", tt.to)
			out, _ := c.CombinedOutput()
			if c.ProcessState.ExitCode() != tt.code || !bytes.Contains(out, []byte(tt.says)) {
				t.Errorf("%s\n%s", c.ProcessState, out)
			}
			if tt.taken != "" {
				if kept, err := os.ReadFile(tt.taken); err != nil || string(kept) != "precious" {
					t.Errorf("%q, %v", kept, err)
				}
			}
		})
	}
	if out, err := s.patra("backup", file).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	left, err := os.ReadDir(dir)
	info, statErr := os.Stat(file)
	if err != nil || statErr != nil || len(left) != 1 || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v, %v, %v", left, err, info, statErr)
	}
}

// Before the tables are migrated a copy of them is wanted, and the program that is at hand is the new one. Where there are no tables
// there is nothing to copy.
func TestABackupOfAnOlderStore(t *testing.T) {
	t.Parallel()
	s := newScene(t, storetest.Engines()[0], byToken)
	dir := t.TempDir()
	db := storetest.Inspect(t, s.url)
	for _, tt := range []struct {
		name, change string
		code         int
		says         string
	}{
		{"older", "DELETE FROM goose_db_version WHERE version_id = (SELECT MAX(version_id) FROM goose_db_version)", exitOK, "it is sound"},
		{"of a later generation", "INSERT INTO goose_db_version (version_id, is_applied) SELECT MAX(version_id) + 1000, 1 FROM goose_db_version", exitOK, "it is sound"},
		{"without its versions", "DELETE FROM goose_db_version", exitEnvironment, "table of versions (goose_db_version) is damaged"},
		{"without their table", "DROP TABLE goose_db_version", exitEnvironment, "restore a backup"},
	} {
		if _, err := db.Exec(tt.change); err != nil {
			t.Fatal(err)
		}
		c := s.patra("backup", filepath.Join(dir, tt.name))
		if out, _ := c.CombinedOutput(); c.ProcessState.ExitCode() != tt.code || !bytes.Contains(out, []byte(tt.says)) {
			t.Errorf("%s: %s\n%s", tt.name, c.ProcessState, out)
		}
	}
}
