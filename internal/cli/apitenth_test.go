package cli

import (
	"database/sql"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"patra/internal/store/storetest"
)

// tenth is how many pages a store has in these tests, with ten records to each: on SQLite a tenth of what we promise to be
// fast with. A server takes longer to fill, so it gets less, and the tenth with make bench-scan.
func tenth(e storetest.Engine) int64 {
	if n, err := strconv.ParseInt(os.Getenv("SCAN_BATCHES"), 10, 64); err == nil {
		return n
	}
	if e.Name == "sqlite" {
		return 100_000
	}
	return 20_000
}

// years is the whole program over a store with years of work.
func years(t *testing.T, e storetest.Engine) (*visitor, *sql.DB) {
	t.Helper()
	dir, url := t.TempDir(), e.URL(t)
	settings := filepath.Join(dir, "patra.yaml")
	text := "contact: desk@example.org\nplanner: {probes: 0, inventory: 0}\nstore: {url: '" + url + "'}\nsinks:\n  - {name: feed, type: FILE, url: 'file:" + filepath.Join(dir, "events.jsonl") + "'}\nschedules:\n  - {name: daily, cron: '0 4 * * *', source: crossref}\n"
	if err := os.WriteFile(settings, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	a := &app{stdout: io.Discard, stderr: io.Discard, configPath: settings}
	e.Migrated(t, url)
	began, db := time.Now(), storetest.Inspect(t, url)
	storetest.FillWork(t, db, storetest.Bulk{Batches: tenth(e), Records: 10 * tenth(e)})
	t.Logf("%d pages and %d records in %s", tenth(e), 10*tenth(e), time.Since(began).Round(time.Second/10))
	// What tasks are frozen with is made by a real plan, which asks nobody.
	for _, command := range [][]string{{"source", "apply", "crossref"}, {"plan", "BACKFILL", "crossref", "--from", "2009-05-01", "--to", "2009-05-02"}} {
		if code := run(t.Context(), append([]string{"--config", settings}, command...), nil, io.Discard, os.Stderr); code != exitOK {
			t.Fatal(command, code)
		}
	}
	if _, err := db.Exec("UPDATE ing_task SET spec_fingerprint = (SELECT MIN(spec_fingerprint) FROM ing_spec_snapshot WHERE snapshot <> '{}') WHERE provenance_code = 'crossref'"); err != nil {
		t.Fatal(err)
	}
	return visit(t, a, "crossref"), db
}

// With years of work in it no database chooses to read a whole table that grows, whatever it knows of its tables: nothing, as
// an embedded store at first, or everything.
func TestNothingIsScannedAfterYears(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, e storetest.Engine) {
		v, db := years(t, e)
		v.frugal(v.cfg.Store.URL)
		began := time.Now()
		storetest.Analyze(t, db)
		t.Logf("analyzed in %s", time.Since(began).Round(time.Second/10))
		v.frugal(v.cfg.Store.URL)
		if e.Name != "sqlite" {
			v.sparing(db)
		}
	})
}

// mostRead is how many rows of the database an answer may take.
const mostRead = 5_000

// thirsty are the routes that may take more, how many rows, and why that does not grow with the store.
var thirsty = []struct {
	prefix string
	most   int64
	why    string
}{
	{"/records/export", 1 << 62, "an export takes everything out, part by part by the primary key, for as long as its reader likes"},
	{"/records?", 2*20_000 + mostRead, "where no index says which records fit, 20,000 are looked at"},
	{"/batches?source=", 2*20_000 + mostRead, "as with records: there is no index of the states of a source's pages"},
	{"/events?", 2*20_000 + mostRead, "as with records"},
	{"/sinks", 4*10_000 + mostRead, "counting ends at 10,000, for each of four numbers"},
}

// sparing sees that no answer takes more rows than it may, by the server's own count.
func (v *visitor) sparing(db *sql.DB) {
	v.t.Helper()
	before, counted := storetest.RowsRead(v.t, db), false
	v.all(func(address string, w *httptest.ResponseRecorder) {
		after := storetest.RowsRead(v.t, db)
		most := int64(mostRead)
		for _, th := range thirsty {
			if strings.HasPrefix(strings.TrimPrefix(address, "/api/v1"), th.prefix) {
				most = th.most
				break
			}
		}
		if read := after - before; read > most {
			v.t.Errorf("%s takes %d rows, and may take %d", address, read, most)
		}
		counted, before = counted || after > before, after
	})
	if !counted {
		v.t.Error("the server does not count")
	}
}
