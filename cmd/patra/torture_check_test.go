package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"regexp"
	"time"

	"patra"
	"patra/internal/sim"
	"patra/internal/store/storetest"
)

// check looks at everything from outside: the records, the quarantine, the tables, the ledger and the provider's log.
func (s *stage) check(f *fleet) {
	s.t.Helper()
	s.checkRecords()
	s.checkQuarantine()
	storetest.CheckInvariants(s.t, s.db)
	if n := s.count(`SELECT COUNT(*) FROM ing_coverage WHERE state_code <> 'SEALED'`); n > 0 {
		s.find("%d windows are covered and not sealed", n)
	}
	if n := s.open(); n > 0 {
		s.find("%d tasks are still open", n)
	}
	s.checkRequests()
	s.checkRepeats()
	for _, rude := range s.manners(f) {
		s.find("%s", rude)
	}
}

// manners finds what the provider could complain about, as long as it had faults.
func (s *stage) manners(f *fleet) []string {
	if s.profile != "throttle" {
		return nil
	}
	var entries []sim.Entry
	for _, e := range s.log.all() {
		if e.ReceivedUS < s.calmSince.UnixMicro() {
			entries = append(entries, e)
		}
	}
	return manners(entries, tortureRate, tortureBurst+forgiven, f.moments)
}

// stored is a record as it is exported.
type stored struct {
	ID  string          `json:"id"`
	Rev int             `json:"rev"`
	Raw json.RawMessage `json:"raw"`
}

// checkRecords compares what is stored with what was really there: nothing is missing, nothing is invented, nothing is
// older than it must be, and nobody has more versions than there were.
func (s *stage) checkRecords() {
	s.t.Helper()
	journal := map[string][]sim.Version{}
	for v := range s.truth(s.provider).Journal() {
		journal[idOf(v.Record)] = append(journal[idOf(v.Record)], v)
	}
	must := s.must(journal)
	out, err := s.patra("records", "export", "--format", "jsonl").Output()
	if err != nil {
		s.t.Fatal(err)
	}
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r stored
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			s.t.Fatal(err)
		}
		version := r.version(journal[r.ID])
		switch {
		case version == 0:
			s.find("record %s is nothing that the provider ever had", r.ID)
		case version < must[r.ID]:
			s.find("record %s is version %d, and version %d was there throughout", r.ID, version, must[r.ID])
		case r.Rev > version:
			s.find("record %s has %d revisions of %d versions", r.ID, r.Rev, version)
		}
		delete(must, r.ID)
	}
	for id := range must {
		s.find("record %s is missing", id)
	}
}

// version is the number of the version that is stored, 0 if it is none.
func (r stored) version(versions []sim.Version) int {
	for _, v := range versions {
		if !v.Poisoned && (sameJSON(v.Bytes, r.Raw) || sameXML(v.Bytes, r.Raw)) {
			return v.Number
		}
	}
	return 0
}

// inherited are declarations that an element of a page has from those around it. What is kept of the page has them itself.
var inherited = regexp.MustCompile(`^(<\w+)( xmlns:\w+="[^"]*")+`)

// sameXML compares an element with what was exported of it.
func sameXML(element, exported []byte) bool {
	var text string
	return json.Unmarshal(exported, &text) == nil && inherited.ReplaceAllString(text, "$1") == string(element)
}

// must is the least version of every record that is to be stored: of each window that is said to be complete, what was
// there throughout its reading.
func (s *stage) must(journal map[string][]sim.Version) map[string]int {
	s.t.Helper()
	rows, err := s.db.Query(`SELECT v.window_from, v.window_to, MIN(q.sent_at), MAX(q.finished_at), v.state_code FROM ing_coverage v
		JOIN ing_task_run r ON r.slice_id = v.slice_id AND r.exhausted = 1
		JOIN ing_task_run_batch b ON b.task_id = r.task_id AND b.scan_no = r.scan_no AND b.status_code = 'SUCCEEDED'
		JOIN ing_request q ON q.batch_id = b.id GROUP BY v.window_from, v.window_to, v.id, v.state_code`)
	if err != nil {
		s.t.Fatal(err)
	}
	defer rows.Close()
	must := map[string]int{}
	var read []patra.Window
	for rows.Next() {
		var at [4]int64
		var state patra.Completeness
		if err := rows.Scan(&at[0], &at[1], &at[2], &at[3], &state); err != nil {
			s.t.Fatal(err)
		}
		read = append(read, patra.Window{From: patra.Instant(at[0]), To: patra.Instant(at[1])})
		from, to, began, ended := time.UnixMicro(at[0]), time.UnixMicro(at[1]), time.UnixMicro(at[2]), time.UnixMicro(at[3])
		for id, versions := range journal {
			for _, v := range versions {
				if state == patra.StateSealed && !v.Poisoned && !v.At.Before(from) && v.At.Before(to) && v.Throughout(began, ended) {
					must[id] = max(must[id], v.Number)
				}
			}
		}
	}
	if err := rows.Err(); err != nil {
		s.t.Fatal(err)
	}
	// A task may have failed for good, if another has read its window since.
	if end := patra.NewCoverage(read...).Frontier(patra.InstantOf(tortureFrom)); end != patra.InstantOf(s.calmTo) {
		s.find("what was read ends at %s", end)
	}
	return must
}

// checkQuarantine: what is put aside is exactly what is poisoned.
func (s *stage) checkQuarantine() {
	s.t.Helper()
	poisoned := map[string]bool{}
	for r := range s.truth(s.provider).Truth(tortureFrom, s.calmTo) {
		if r.Poisoned {
			poisoned[idOf(r)] = true
		}
	}
	if (len(poisoned) > 0) != (s.profile == "lying") {
		s.find("%d records are poisoned", len(poisoned))
	}
	rows, err := s.db.Query(`SELECT DISTINCT provider_id, error_code FROM ing_quarantine`)
	if err != nil {
		s.t.Fatal(err)
	}
	defer rows.Close()
	seen := 0
	for rows.Next() {
		var id, code string
		if err := rows.Scan(&id, &code); err != nil {
			s.t.Fatal(err)
		}
		seen++
		if !poisoned[id] {
			s.find("%s is quarantined (%s), and nothing is wrong with it", id, code)
		}
	}
	if err := rows.Err(); err != nil || seen != len(poisoned) {
		s.find("%d of %d poisoned records are quarantined, %v", seen, len(poisoned), err)
	}
}

// checkRequests: whatever the provider saw, we know of.
func (s *stage) checkRequests() {
	s.t.Helper()
	known := map[string]bool{}
	rows, err := s.db.Query(`SELECT request_id FROM ing_request`)
	if err != nil {
		s.t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			s.t.Fatal(err)
		}
		known[id] = true
	}
	seen := map[string]bool{}
	for _, e := range s.log.all() {
		if !known[e.Correlation] {
			s.find("the provider saw a request %q of which there is no row: %s?%s", e.Correlation, e.Path, e.Query)
		}
		if seen[e.Correlation] && s.stateful {
			s.find("request %s was sent twice", e.Correlation)
		}
		seen[e.Correlation] = true
	}
}
