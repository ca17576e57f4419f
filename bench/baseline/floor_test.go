package main

import (
	"database/sql"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"patra/internal/sim"
)

// A floor that does less than everybody else is none: it finds and stores every record of the provider.
func TestAFloorFindsEverything(t *testing.T) {
	const days, perDay = 2, 300
	from := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	provider := httptest.NewServer(sim.New(sim.Config{Seed: 1, From: from, To: from.AddDate(0, 0, days), PerDay: perDay, Exact: true}).Handler())
	t.Cleanup(provider.Close)
	for _, kind := range []string{"json", "pubmed", "oai"} {
		for _, mode := range []string{"fetch", "parse", "dom", "store"} {
			if kind == "json" && mode == "dom" {
				continue // it is about XML
			}
			file := filepath.Join(t.TempDir(), "floor.db")
			w := work{kind: kind, mode: mode, base: provider.URL, store: "sqlite:" + file, days: days, workers: 2, rows: 100, from: from}
			if err := w.run(t.Context()); err != nil || w.found.Load() != days*perDay {
				t.Errorf("%s, %s: %d of %d, %v", kind, mode, w.found.Load(), days*perDay, err)
			}
			if mode != "store" {
				continue
			}
			db, err := sql.Open("sqlite", file)
			if err != nil {
				t.Fatal(err)
			}
			var rows, empty, pages int
			err = db.QueryRow(`SELECT COUNT(*), SUM(id = '' OR updated NOT GLOB '20[0-9][0-9]-[0-9]*' OR raw = ''), (SELECT SUM(records) FROM ledger) FROM record`).Scan(&rows, &empty, &pages)
			if err != nil || rows != days*perDay || empty != 0 || pages != days*perDay {
				t.Errorf("%s: %d are stored, %d of them without something, the ledger has %d, %v", kind, rows, empty, pages, err)
			}
			_ = db.Close()
		}
	}
}
