//go:build unix

package cli

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"patra/internal/store/storetest"
)

// filled is a store with many records, and how to reach it.
func filled(t testing.TB, e storetest.Engine, n int64) (url string, db *sql.DB) {
	url = e.URL(t)
	e.Connect(t, url)
	var stderr bytes.Buffer
	if code := run(t.Context(), []string{"migrate", "--store", url}, os.Environ(), io.Discard, &stderr); code != 0 {
		t.Fatal(stderr.String())
	}
	db = storetest.Inspect(t, url)
	storetest.Fill(t, db, e.Name != "sqlite", n)
	return url, db
}

// footprint runs an export as a process of its own, and gives the most memory that it ever had and the time that it took.
// The collector is kept on a short leash: what is measured is what the program holds, and not what it has not yet let go.
func footprint(t testing.TB, url string, args ...string) (peak int64, took time.Duration) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "patra", append([]string{"records", "export", "--store", url}, args...)...)
	cmd.Env = append(os.Environ(), "GOGC=50")
	var stderr bytes.Buffer
	cmd.Stderr, cmd.Stdout = &stderr, nil
	began := time.Now()
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, stderr.String())
	}
	return cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10, time.Since(began)
}

// exportShapes are the ways to export whose memory must not grow.
func exportShapes(dir string, n int64) map[string][]string {
	out := func(name string) string { return filepath.Join(dir, fmt.Sprint(n, "-", name)) }
	return map[string][]string{
		"jsonl":   {"--out", out("a.jsonl")},
		"csv":     {"--out", out("a.csv")},
		"parquet": {"--out", out("a.parquet")},
		"hive":    {"--format", "parquet", "--layout", "hive", "--out", out("lake")},
		"raw":     {"--raw", "--out", out("raw.parquet")},
		"cursor":  {"--cursor", fmt.Sprint("n", n), "--out", out("c.jsonl")},
	}
}

// growth is how much more memory the larger export may have had than the smaller one. In the short form the smaller one has
// not even one whole row group. In the long form the aim is 1.1; what a collector leaves lying about differs by a few hundredths
// from one time to the next.
const growth, longGrowth = 1.6, 1.15

// The memory of an export does not grow with the number of records. EXPORT_RECORDS=1000000 is the long form; EXPORT_SHAPES
// names some of the ways to export.
func TestAnExportHasFlatMemory(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("peak memory is counted otherwise here")
	}
	small, large, allowed, shapes := int64(2_000), int64(20_000), growth, []string{"parquet"}
	if text := os.Getenv("EXPORT_RECORDS"); text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		small, large, allowed, shapes = n/10, n, longGrowth, []string{"jsonl", "csv", "parquet", "hive", "raw", "cursor"}
		if names := os.Getenv("EXPORT_SHAPES"); names != "" {
			shapes = strings.Split(names, ",")
		}
	}
	storetest.Each(t, func(t *testing.T, e storetest.Engine) {
		dir := t.TempDir()
		peaks := map[string]int64{}
		for _, n := range []int64{small, large} {
			url, _ := filled(t, e, n)
			for _, shape := range shapes {
				peak, took := footprint(t, url, exportShapes(dir, n)[shape]...)
				t.Logf("%-8s %9d records: %4d MB at most, %v", shape, n, peak>>20, took.Round(time.Millisecond))
				if n == small {
					peaks[shape] = peak
					continue
				}
				ratio := float64(peak) / float64(peaks[shape])
				if t.Logf("%-8s ten times as many records took %.2f times the memory", shape, ratio); ratio > allowed {
					t.Errorf("%s: no more than %.2f times the memory were expected", shape, allowed)
				}
			}
		}
	})
}

// worked is how long this process has had a processor: unlike the time on the wall it does not depend on who else is here.
func worked(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkExport compares exports with reading the same rows and doing nothing with them, by the work of the processor.
func BenchmarkExport(b *testing.B) {
	for _, e := range storetest.Engines() {
		b.Run(e.Name, func(b *testing.B) {
			url, db := filled(b, e, 50_000)
			for _, form := range []struct{ name, columns string }{
				{"jsonl", "fields, raw"}, {"jsonl --raw=false", "fields"}, {"csv", "fields"}, {"parquet", "fields"},
			} {
				b.Run(strings.ReplaceAll(form.name, " ", ""), func(b *testing.B) {
					for b.Loop() {
						began := worked(b)
						plain(b, db, form.columns)
						read := worked(b) - began
						began = worked(b)
						args := append([]string{"records", "export", "--store", url, "--format"}, strings.Fields(form.name)...)
						if code := run(context.Background(), args, os.Environ(), io.Discard, io.Discard); code != 0 {
							b.Fatal(code)
						}
						b.ReportMetric(float64(worked(b)-began)/float64(read), "x-plain-read")
					}
				})
			}
		})
	}
}

func plain(b *testing.B, db *sql.DB, columns string) {
	rows, err := db.Query("SELECT id, provenance_code, record_type, provider_id, rev, provider_updated_at, content_sha256, deleted, merged_into, first_seen_at, observed_at, changed_at, batch_id, " + columns + " FROM ing_record ORDER BY id")
	if err != nil {
		b.Fatal(err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		b.Fatal(err)
	}
	cells := make([]any, len(names))
	for i := range cells {
		cells[i] = new(sql.RawBytes)
	}
	for rows.Next() {
		if err := rows.Scan(cells...); err != nil {
			b.Fatal(err)
		}
	}
	if err := rows.Err(); err != nil {
		b.Fatal(err)
	}
}
