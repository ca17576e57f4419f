package export

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"patra"
)

func TestMain(m *testing.M) {
	durable = func(*os.File) error { return nil }
	locked = alone
	alone = func(*os.File) error { return nil } // what is cut off here keeps its files open, as no process that died does
	os.Exit(m.Run())
}

var locked func(*os.File) error

// Two that write to the same place at once: the second is refused, whatever it says, and what the first writes is whole.
func TestOneAtATime(t *testing.T) {
	defer func(was func(*os.File) error) { alone = was }(alone)
	alone = locked
	records := []patra.Record{{ID: 1, ProviderID: "1"}, {ID: 2, ProviderID: "2"}, {ID: 3, ProviderID: "3"}}
	dir := t.TempDir()
	for at, open := range map[string]func(string, ExistingPolicy) func(*Job) (Sink, patra.ExportPosition, error){
		filepath.Join(dir, "x.jsonl"): fileSink, filepath.Join(dir, "parts"): func(at string, how ExistingPolicy) func(*Job) (Sink, patra.ExportPosition, error) {
			return func(j *Job) (Sink, patra.ExportPosition, error) {
				f, err := OpenFolder(at, j, Limit{Rows: 1}, how)
				if err != nil {
					return nil, patra.ExportPosition{}, err
				}
				return f, f.Mark(), nil
			}
		},
	} {
		job := Job{Form: Format{Format: JSONL}}
		first, _, err := open(at, ExistingPolicy{})(&job)
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range records {
			if err := first.Write(r); err != nil {
				t.Fatal(err)
			}
			for _, how := range []ExistingPolicy{{Resume: true}, {Force: true}, {}} {
				again := Job{Form: Format{Format: JSONL}}
				if _, _, err := open(at, how)(&again); !errors.Is(err, ErrBusy) {
					t.Errorf("%s, after %d records: %+v may write too: %v", at, i+1, how, err)
				}
			}
			if !IsLocked(at) {
				t.Errorf("%s looks free", at)
			}
		}
		if _, err := first.Seal(); err != nil {
			t.Fatal(err)
		}
		if err := first.Publish(); err != nil {
			t.Fatal(err)
		}
		if IsLocked(at) {
			t.Errorf("%s still looks busy", at)
		}
		again := Job{Form: Format{Format: JSONL}}
		if _, _, err := open(at, ExistingPolicy{})(&again); !errors.Is(err, ErrThere) {
			t.Errorf("%s: %v", at, err)
		}
		if left, err := filepath.Glob(filepath.Join(dir, ".*")); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	}
}

// take is an export of records to a place, as the command does it: behind the mark, until stop records were written (-1 is
// all). It may end in three ways: finished, paused, or cut off as by kill -9.
func take(t testing.TB, open func(*Job) (Sink, patra.ExportPosition, error), job Job, records []patra.Record, stop int, kill bool) error {
	s, mark, err := open(&job)
	if err != nil {
		return err
	}
	for _, r := range records {
		if r.ID <= mark.ID {
			continue
		}
		if stop == 0 {
			if kill {
				return nil // nothing is flushed, nothing is closed
			}
			return s.Pause()
		}
		stop--
		if err := s.Write(r); err != nil {
			return err
		}
	}
	if _, err := s.Seal(); err != nil {
		return err
	}
	return s.Publish()
}

func fileSink(at string, how ExistingPolicy) func(*Job) (Sink, patra.ExportPosition, error) {
	return func(j *Job) (Sink, patra.ExportPosition, error) {
		f, err := OpenFile(at, j, how)
		if err != nil {
			return nil, patra.ExportPosition{}, err
		}
		return f, f.Mark(), nil
	}
}

func folderSink(at string, limit Limit, how ExistingPolicy) func(*Job) (Sink, patra.ExportPosition, error) {
	return func(j *Job) (Sink, patra.ExportPosition, error) {
		f, err := OpenFolder(at, j, limit, how)
		if err != nil {
			return nil, patra.ExportPosition{}, err
		}
		return f, f.Mark(), nil
	}
}

// Cut off wherever you like, as often as you like, by a signal or by kill -9: gone on with, a folder has every record once.
func TestAFolderGoesOnWhereItWas(t *testing.T) {
	records := corpus(40)
	rapid.Check(t, func(rt *rapid.T) {
		dir := filepath.Join(t.TempDir(), "out")
		layout := rapid.SampledFrom([]string{"", Hive}).Draw(rt, "layout")
		job := Job{Form: Format{Format: JSONL, Raw: true}, Layout: layout}
		limit := Limit{Rows: rapid.Int64Range(4, 30).Draw(rt, "rows")}
		for range rapid.IntRange(0, 4).Draw(rt, "cuts") {
			if err := take(t, folderSink(dir, limit, ExistingPolicy{Resume: true}), job, records, rapid.IntRange(0, 30).Draw(rt, "stop"), rapid.Bool().Draw(rt, "kill")); err != nil && !errors.Is(err, ErrComplete) {
				rt.Fatal(err)
			}
		}
		if err := take(t, folderSink(dir, limit, ExistingPolicy{Resume: true}), job, records, -1, false); err != nil && !errors.Is(err, ErrComplete) {
			rt.Fatal(err)
		}
		sameRecords(rt, dir, records)
	})
}

// sameRecords compares a folder of JSON lines with records, and the folder with its manifest.
func sameRecords(t *rapid.T, dir string, records []patra.Record) {
	var m Journal
	data, err := os.ReadFile(filepath.Join(dir, manifestName))
	if err != nil || json.Unmarshal(data, &m) != nil || !m.Complete || m.Records != int64(len(records)) {
		t.Fatalf("manifest %s, %v", data, err)
	}
	var got []string
	for _, p := range m.Files {
		data, err := os.ReadFile(filepath.Join(dir, p.Name))
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != p.SHA256 || int64(len(data)) != p.Bytes || int64(bytes.Count(data, []byte("\n"))) != p.Records {
			t.Fatalf("%s is not what the manifest says", p.Name)
		}
		for line := range strings.Lines(string(data)) {
			var r patra.Record
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				t.Fatal(err)
			}
			got = append(got, r.ProviderID)
		}
	}
	want := make([]string, len(records))
	for i, r := range records {
		want[i] = r.ProviderID
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Fatalf("%d records, want %d", len(got), len(want))
	}
	files := 0
	_ = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if !d.IsDir() {
			files++
		}
		return err
	})
	if files != len(m.Files)+1 {
		t.Fatalf("%d files, the manifest knows %d", files, len(m.Files))
	}
}

func TestAFileGoesOnWhereItWas(t *testing.T) {
	records := corpus(60)
	want := filepath.Join(t.TempDir(), "want.csv")
	job := Job{Form: Format{Format: CSV, Separator: "; ", Columns: Columns(mapped, false, true), Raw: true}}
	if err := take(t, fileSink(want, ExistingPolicy{}), job, records, -1, false); err != nil {
		t.Fatal(err)
	}
	for stop := 0; stop < 60; stop += 6 {
		for _, kill := range []bool{false, true} {
			at := filepath.Join(t.TempDir(), "got.csv")
			if err := take(t, fileSink(at, ExistingPolicy{}), job, records, stop, kill); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(at); err == nil {
				t.Fatal("what is not whole has its final name")
			}
			if err := take(t, fileSink(at, ExistingPolicy{}), job, records, -1, false); !errors.Is(err, ErrUnfinished) {
				t.Fatalf("without being asked to go on: %v", err)
			}
			scribble(t, filepath.Join(filepath.Dir(at), partialName("got.csv"))) // what was written after the last safe record
			if err := take(t, fileSink(at, ExistingPolicy{Resume: true}), job, records, -1, false); err != nil {
				t.Fatal(err)
			}
			if a, b := read(t, want), read(t, at); a != b {
				t.Fatalf("stopped after %d: %d bytes, want %d", stop, len(b), len(a))
			}
			if entries, _ := os.ReadDir(filepath.Dir(at)); len(entries) != 1 {
				t.Errorf("left behind: %v", entries)
			}
		}
	}
}

func scribble(t *testing.T, name string) {
	t.Helper()
	f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString(strings.Repeat("half a li", 1<<17))
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestNothingIsWrittenOverUnasked(t *testing.T) {
	records, dir := corpus(10), t.TempDir()
	job := Job{Form: Format{Format: JSONL}}
	other := Job{Form: Format{Format: JSONL, Raw: true}}
	file, folder := filepath.Join(dir, "a.jsonl"), filepath.Join(dir, "parts")
	for name, open := range map[string]func(ExistingPolicy) func(*Job) (Sink, patra.ExportPosition, error){
		"file": func(h ExistingPolicy) func(*Job) (Sink, patra.ExportPosition, error) { return fileSink(file, h) },
		"folder": func(h ExistingPolicy) func(*Job) (Sink, patra.ExportPosition, error) {
			return folderSink(folder, Limit{Rows: 3}, h)
		},
	} {
		try := func(step string, job Job, how ExistingPolicy, stop int, want error) {
			t.Helper()
			if err := take(t, open(how), job, records, stop, false); !errors.Is(err, want) || want == nil && err != nil {
				t.Errorf("%s, %s: %v, want %v", name, step, err, want)
			}
		}
		try("stopped", job, ExistingPolicy{}, 5, nil)
		try("again", job, ExistingPolicy{}, -1, ErrUnfinished)
		try("another one", other, ExistingPolicy{Resume: true}, -1, ErrOther)
		try("gone on with", job, ExistingPolicy{Resume: true}, -1, nil)
		try("once more", job, ExistingPolicy{}, -1, ErrThere)
		try("over it", job, ExistingPolicy{Force: true}, 5, nil)
		try("and anew", other, ExistingPolicy{Force: true}, -1, nil)
	}
	if n := strings.Count(read(t, file), "\n"); n != 10 {
		t.Errorf("%d lines", n)
	}
	foreign := filepath.Join(dir, "foreign")
	if err := os.MkdirAll(foreign, 0o700); err != nil {
		t.Fatal(err)
	}
	keep := filepath.Join(foreign, "thesis.tex")
	if err := os.WriteFile(keep, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := take(t, folderSink(foreign, Limit{}, ExistingPolicy{}), job, records, -1, false); !errors.Is(err, ErrThere) {
		t.Errorf("a folder of somebody else: %v", err)
	}
	if err := take(t, folderSink(foreign, Limit{}, ExistingPolicy{Force: true}), job, records, -1, false); err != nil || read(t, keep) != "mine" {
		t.Errorf("forced: %v", err)
	}
}

// A part that was lost or changed is noticed before anything is added to it.
func TestALostPartIsNoticed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	job, records := Job{Form: Format{Format: JSONL}}, corpus(10)
	if err := take(t, folderSink(dir, Limit{Rows: 3}, ExistingPolicy{}), job, records, 7, false); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(dir, "part-00001.jsonl"), 3); err != nil {
		t.Fatal(err)
	}
	if err := take(t, folderSink(dir, Limit{Rows: 3}, ExistingPolicy{Resume: true}), job, records, -1, false); err == nil || !strings.Contains(err.Error(), "part-00001.jsonl is not there as the manifest has it") {
		t.Errorf("%v", err)
	}
}

// Names of folders are made of our own words: no source can lead out of the place.
func TestNoNameLeadsOut(t *testing.T) {
	dir := t.TempDir()
	for i, code := range []string{"../../etc", "/etc/passwd", "a/b", "..", "x\x00y", "a=b", strings.Repeat("long", 40), "CON"} {
		at := filepath.Join(dir, fmt.Sprint(i), "lake")
		r := corpus(1)[0]
		r.Source = code
		if err := take(t, folderSink(at, Limit{}, ExistingPolicy{}), Job{Form: parquetForm(), Layout: Hive}, []patra.Record{r}, -1, false); err != nil {
			t.Errorf("%q: %v", code, err)
		}
		entries, err := os.ReadDir(filepath.Dir(at))
		if err != nil || len(entries) != 1 {
			t.Errorf("%q: %v, %v", code, entries, err)
		}
		if inside, _ := filepath.Glob(filepath.Join(at, "source=*", "year=*", "part-00001.parquet")); len(inside) != 1 {
			t.Errorf("%q: %q", code, inside)
		}
	}
}

// A crash between "it is whole" and "it has its name" leaves no question open.
func TestASealedExportGetsItsName(t *testing.T) {
	for name, open := range map[string]func(dir string) (Sink, string, error){
		"file": func(dir string) (Sink, string, error) {
			at := filepath.Join(dir, "a.parquet")
			f, err := OpenFile(at, &Job{Form: parquetForm()}, ExistingPolicy{})
			return f, at, err
		},
		"folder": func(dir string) (Sink, string, error) {
			at := filepath.Join(dir, "parts")
			f, err := OpenFolder(at, &Job{Form: parquetForm()}, Limit{}, ExistingPolicy{})
			return f, at, err
		},
	} {
		s, at, err := open(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range corpus(5) {
			if err := s.Write(r); err != nil {
				t.Fatal(err)
			}
		}
		sum, err := s.Seal()
		if err != nil {
			t.Fatal(err)
		}
		if there, err := FinishPublish(at, patra.Hash("another")); there || err != nil {
			t.Errorf("%s of another export: %v, %v", name, there, err)
		}
		for range 2 { // it is given its name, and has it
			if there, err := FinishPublish(at, sum); !there || err != nil {
				t.Errorf("%s: %v, %v", name, there, err)
			}
		}
	}
}
