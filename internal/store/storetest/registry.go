package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"

	"patra"
	"patra/internal/store"
)

// registered is a source with a body for each of a few scopes.
func registered(bodies map[patra.Dimension]map[string]string) (patra.Provenance, []patra.RegistryRow) {
	var rows []patra.RegistryRow
	for _, d := range patra.Dimensions {
		for endpoint, body := range bodies[d] {
			rows = append(rows, patra.RegistryRow{Source: "demo", Dimension: d, Endpoint: endpoint, Lifecycle: patra.LifecycleActive, Body: json.RawMessage(body)})
		}
	}
	return patra.Provenance{Code: "demo", Name: "Demo ☃", RecordType: "work", Docs: "https://example.org", Defaults: json.RawMessage(`{}`), FileHash: patra.Hash(bodies)}, rows
}

// everyDimension has one row in each table, and one more for an endpoint.
func everyDimension() map[patra.Dimension]map[string]string {
	all := map[patra.Dimension]map[string]string{}
	for _, d := range patra.Dimensions {
		all[d] = map[string]string{"": `{"in":"` + string(d) + `"}`}
	}
	all[patra.DimHTTP]["works"] = `{"timeout":"3s"}`
	return all
}

func applySource(t *testing.T, s *store.Store, now patra.Instant, bodies map[patra.Dimension]map[string]string) []patra.RegistryChange {
	t.Helper()
	head, rows := registered(bodies)
	changes, err := s.ApplySource(t.Context(), now, head, rows)
	if err != nil {
		t.Fatal(err)
	}
	return changes
}

func registryRows(t *testing.T, s *store.Store, at patra.Instant) []patra.RegistryRow {
	t.Helper()
	rows, err := s.Registry(t.Context(), "demo", at)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func registryApply(t *testing.T, e Engine) {
	s, now := e.Open(t), Origin
	if changes := applySource(t, s, now, everyDimension()); len(changes) != len(patra.Dimensions)+1 {
		t.Fatalf("a new source changed %d scopes", len(changes))
	}
	if changes := applySource(t, s, now+patra.Hour, everyDimension()); len(changes) != 0 {
		t.Errorf("the same again changed %+v", changes)
	}
	if rows := registryRows(t, s, now-1); len(rows) != 0 {
		t.Errorf("before it was applied %d rows were in force", len(rows))
	}
	rows := registryRows(t, s, now)
	if len(rows) != len(patra.Dimensions)+1 {
		t.Fatalf("%d rows are in force", len(rows))
	}
	if rows[0].Dimension != patra.DimEndpoint || rows[2].Endpoint != "works" || string(rows[2].Body) != `{"timeout":"3s"}` || rows[2].Version != 1 || rows[2].Operation != "" {
		t.Errorf("rows: %+v", rows[:3])
	}
	heads, err := s.Provenances(t.Context())
	if err != nil || len(heads) != 1 || heads[0].Name != "Demo ☃" || heads[0].Version != 1 || heads[0].UpdatedAt != now {
		t.Errorf("heads: %+v, %v", heads, err)
	}
}

func registryChange(t *testing.T, e Engine) {
	s, now := e.Open(t), Origin
	bodies := everyDimension()
	applySource(t, s, now, bodies)
	before := registryRows(t, s, now)

	later := now + patra.Day
	bodies[patra.DimHTTP]["works"] = `{"timeout":"9s"}`
	changes := applySource(t, s, later, bodies)
	if len(changes) != 1 || changes[0].Close == nil || changes[0].Open == nil || changes[0].Open.Version != 2 || changes[0].Open.Endpoint != "works" || *changes[0].Close.To != later {
		t.Fatalf("one field changed: %+v", changes)
	}
	if now := registryRows(t, s, later); len(now) != len(before) || string(now[2].Body) != `{"timeout":"9s"}` {
		t.Errorf("after the change: %+v", now[2])
	}
	if then := registryRows(t, s, later-1); len(then) != len(before) || string(then[2].Body) != `{"timeout":"3s"}` || then[2].ID != before[2].ID {
		t.Errorf("before the change: %+v", then[2])
	}

	// Left out of the file: closed, and nothing in its place. Back again: the next version.
	delete(bodies[patra.DimHTTP], "works")
	if changes := applySource(t, s, later+patra.Day, bodies); len(changes) != 1 || changes[0].Open != nil {
		t.Errorf("removed: %+v", changes)
	}
	if rows := registryRows(t, s, later+patra.Day); len(rows) != len(before)-1 {
		t.Errorf("%d rows after a removal", len(rows))
	}
	bodies[patra.DimHTTP]["works"] = `{"timeout":"3s"}`
	// A clock that is behind does not write a row that ends before it began.
	if changes := applySource(t, s, now, bodies); len(changes) != 1 || changes[0].Open.Version != 3 || changes[0].Open.From != later+patra.Day+1 {
		t.Errorf("back again: %+v", changes)
	}
	history, err := s.RegistryHistory(t.Context(), "demo")
	if err != nil || len(history) != len(before)+2 {
		t.Errorf("history of %d rows, %v", len(history), err)
	}
	registryRetire(t, s, later+2*patra.Day, bodies)
}

// registryRetire takes out what bodies put in, and brings it back.
func registryRetire(t *testing.T, s *store.Store, now patra.Instant, bodies map[patra.Dimension]map[string]string) {
	t.Helper()
	if _, err := s.RetireSource(t.Context(), now, "nobody"); !errors.Is(err, patra.ErrNotFound) {
		t.Errorf("a source that was never applied: %v", err)
	}
	before := registryRows(t, s, now)
	for _, again := range []int{len(before), 0} {
		changes, err := s.RetireSource(t.Context(), now, "demo")
		if err != nil || len(changes) != again {
			t.Fatalf("%d rows closed, %v; want %d", len(changes), err, again)
		}
		for _, c := range changes {
			if c.Open != nil || *c.Close.To != now {
				t.Errorf("retired: %+v", c)
			}
		}
	}
	if rows := registryRows(t, s, now); len(rows) != 0 {
		t.Errorf("%d rows are in force after the end", len(rows))
	}
	if rows := registryRows(t, s, now-1); len(rows) != len(before) {
		t.Errorf("%d rows were in force before the end, of %d", len(rows), len(before))
	}
	lifecycle := func() string {
		heads, err := s.Provenances(t.Context())
		if err != nil || len(heads) != 1 {
			t.Fatal(heads, err)
		}
		return heads[0].Lifecycle
	}
	if got := lifecycle(); got != "RETIRED" {
		t.Errorf("the head is %s", got)
	}
	// A clock that is behind does not bring it back before it ended.
	changes := applySource(t, s, now-patra.Day, bodies)
	if len(changes) != len(before) || changes[0].Close != nil || changes[0].Open.From != now+1 || changes[0].Open.Version < 2 || lifecycle() != patra.LifecycleActive {
		t.Errorf("applied again: %d changes, the first %+v, the head is %s", len(changes), changes[0], lifecycle())
	}
}

func registryAtOnce(t *testing.T, e Engine) {
	url := e.URL(t)
	if _, err := e.Connect(t, url).Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	const appliers, rounds = 4, 6
	var wg sync.WaitGroup
	for i := range appliers {
		s := e.Connect(t, url)
		wg.Go(func() {
			for n := range rounds {
				bodies := everyDimension()
				bodies[patra.DimRate][""] = fmt.Sprintf(`{"applier":%d,"round":%d}`, i, n)
				head, rows := registered(bodies)
				if _, err := s.ApplySource(t.Context(), Origin, head, rows); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	s := e.Connect(t, url)
	history, err := s.RegistryHistory(t.Context(), "demo")
	if err != nil {
		t.Fatal(err)
	}
	var rate []patra.RegistryRow
	for _, r := range history {
		if r.Dimension == patra.DimRate {
			rate = append(rate, r)
		} else if r.To != nil || r.Version != 1 {
			t.Errorf("a row that nobody changed: %+v", r)
		}
	}
	if len(history) != len(patra.Dimensions)+appliers*rounds || len(rate) != appliers*rounds {
		t.Errorf("%d rows, %d of them of the rate", len(history), len(rate))
	}
	for i, r := range rate {
		last := i == len(rate)-1
		if r.Version != int64(i+1) || last != (r.To == nil) || !last && *r.To != rate[i+1].From {
			t.Errorf("version %d of %d: from %s to %v", r.Version, len(rate), r.From, r.To)
		}
	}
}

// registryTwice looks from outside: the table itself refuses a second open row.
func registryTwice(t *testing.T, e Engine) {
	url := e.URL(t)
	s := e.Connect(t, url)
	if _, err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	applySource(t, s, Origin, everyDimension())
	_, err := Inspect(t, url).Exec(`INSERT INTO reg_prov_retry_cfg (provenance_code, effective_from, lifecycle_code, version, body, source_file_sha256, live_key, created_at)
		SELECT provenance_code, effective_from, lifecycle_code, version, body, source_file_sha256, live_key, created_at FROM reg_prov_retry_cfg`)
	if err == nil {
		t.Error("a second open row of the same scope was stored")
	}
	head, rows := registered(map[patra.Dimension]map[string]string{patra.DimHTTP: {"": `{}`}})
	rows[0].Source = "other"
	if _, err := s.ApplySource(t.Context(), Origin, head, rows); err == nil {
		t.Error("a row of another source was applied")
	}
}

func dictionary(t *testing.T, e Engine) {
	d, err := e.Open(t).Dictionary(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		kind, word, code string
		known            bool
	}{
		{"reg_pagination_type", "TOKEN", "TOKEN", true},
		{"reg_pagination_type", "cursor", "TOKEN", true},
		{"reg_pagination_type", "Cursor", "TOKEN", true},
		{"reg_pagination_type", "offset", "OFFSET", true},
		{"reg_pagination_type", "guess", "guess", false},
		{"reg_format", "ndjson", "JSONL", true},
		{"no_such_type", "x", "x", false},
	} {
		if code, known := d[tt.kind].Resolve(tt.word); code != tt.code || known != tt.known {
			t.Errorf("%s %q became %q, %t", tt.kind, tt.word, code, known)
		}
	}
	for kind, entry := range d {
		for alias, code := range entry.Aliases {
			if _, known := (patra.DictionaryType{Items: entry.Items}).Resolve(code); !known {
				t.Errorf("%s: alias %q leads to %q, which is no code", kind, alias, code)
			}
		}
	}
}
