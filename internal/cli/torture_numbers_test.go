package cli

import (
	"strings"
	"time"
)

// surely are numbers that a fleet tells that has worked, whoever of it was killed: those of the store, and those of whoever
// serves.
var surely = []string{"patra_store_up", "patra_store_records", "patra_store_statement_seconds", "patra_ingest_cursor_lag_seconds", "patra_ingest_completeness_ratio",
	"patra_ingest_last_page_timestamp_seconds", "patra_ingest_tasks_failed", "patra_ingest_qps_effective", "patra_evidence_stored_bytes", "patra_build_info", "go_goroutines"}

// numbers asks everybody of the fleet for numbers: after all that happened they are bounded, in the right form, and tell how the
// store is.
func (s *stage) numbers(f *fleet) {
	for _, m := range f.members {
		var said string
		for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(100 * time.Millisecond) { // a slow store may be late once
			_, said = fetch(s.t, m.out.numbers(s.t)+"/metrics")
			if strings.Contains(said, "\npatra_store_up 1\n") || time.Now().After(deadline) {
				break
			}
		}
		for _, name := range surely {
			if !strings.Contains(said, "\n# TYPE "+name+" ") {
				s.find("%s does not tell %s", m.args[2], name)
			}
		}
		for _, wrong := range judgeNumbers(said) {
			s.find("the numbers of %s: %s", m.args[2], wrong)
		}
	}
}
