package sim

import (
	"bufio"
	"bytes"
	"encoding/json"
	"testing"
)

// What is written as truth is the journal: every version once, with its hash and its time.
func TestTruthIsWritten(t *testing.T) {
	f, err := Profile("moving")
	if err != nil {
		t.Fatal(err)
	}
	s := New(Config{Seed: 4, From: newYear, To: newYear.AddDate(0, 0, 6), PerDay: 20, Exact: true, Faults: f})
	for n := uint64(1); n < 60; n++ {
		s.world.moves.pass(n, newYear)
	}
	for _, code := range Codes {
		var file bytes.Buffer
		p := s.ByCode(code)
		if err := p.WriteTruth(&file); err != nil {
			t.Fatal(err)
		}
		lines, moved := bufio.NewScanner(&file), 0
		for v := range p.Journal() {
			var l TruthLine
			if !lines.Scan() || json.Unmarshal(lines.Bytes(), &l) != nil {
				t.Fatalf("%s: there is no line for %s", code, v.ID)
			}
			if l.ID != v.Name() || l.Number != v.Number || l.AtUS != v.At.UnixMicro() || len(l.SHA256) != 64 || (l.UntilUS != 0) == v.Until.IsZero() {
				t.Errorf("%s: %+v is written as %+v", code, v.Record.ID, l)
			}
			if l.Number > 1 {
				moved++
			}
		}
		if lines.Scan() || moved == 0 {
			t.Errorf("%s: more lines than versions, or nothing moved (%d)", code, moved)
		}
	}
}
