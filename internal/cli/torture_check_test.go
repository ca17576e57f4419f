package cli

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"encoding/json"

	"patra"
	"patra/internal/verifier"
)

// check has the whole of it judged from outside, by a program that knows nothing of ours, and sees that everything was read.
func (s *stage) check(f *fleet) {
	s.t.Helper()
	s.verdict = s.judged(f.outs)
	for _, v := range s.verdict {
		if v.Skipped != "" {
			s.find("nobody could ask whether %s: %s", v.Text, v.Skipped)
		}
	}
	s.checkEnd()
	if n := s.count(unsealed); n > 0 {
		s.find("%d windows are covered and not sealed", n)
	}
	if n := s.open(); n > 0 {
		s.find("%d tasks are still open", n)
	}
	s.checkQuarantine()
}

// unsealed counts windows that are covered and not sealed. Of one that was read again the newer reading counts. One is none of them that holds
// items without an id: they are in quarantine, and the list of ids that would prove it names them.
const unsealed = `SELECT COUNT(*) FROM ing_coverage c WHERE c.state_code <> 'SEALED' AND NOT (c.state_code = 'READ' AND c.proof LIKE '%that the provider lists were not read%')
	AND NOT EXISTS (SELECT 1 FROM ing_coverage n WHERE n.cursor_id = c.cursor_id AND n.id > c.id AND n.window_from <= c.window_from AND n.window_to >= c.window_to)`

// judged runs patra-check on what is there now, and notes what it finds.
func (s *stage) judged(outs []*lockedBuffer) []verifier.Invariant {
	s.t.Helper()
	args := append(s.evidenceOf(outs), "-o", "json")
	out, err := exec.CommandContext(s.t.Context(), "patra-check", args...).Output()
	if e, ok := errors.AsType[*exec.ExitError](err); ok && e.ExitCode() != exitFailed {
		s.t.Fatalf("patra-check %q: %v\n%s%s", args, err, out, e.Stderr)
	} else if err != nil && !ok {
		s.t.Fatal(err)
	}
	var all []verifier.Invariant
	if err := json.Unmarshal(out, &all); err != nil {
		s.t.Fatalf("%v\n%s", err, out)
	}
	for _, v := range all {
		if v.Count > 0 {
			s.find("broken: %s: %d times, such as %q", v.Text, v.Count, v.Examples)
		}
	}
	return all
}

// evidenceOf writes everything that there is to be seen into files, and gives the arguments that name them.
func (s *stage) evidenceOf(outs []*lockedBuffer) []string {
	s.t.Helper()
	of := s.code
	if s.endpoint != "" {
		of += "/" + s.endpoint
	}
	truth := s.file("truth.jsonl", func(w io.Writer) error { return s.truth(s.provider).WriteTruth(w) })
	gaps := s.file("gaps.json", func(w io.Writer) error {
		c := s.patra("coverage", "gaps", "-o", "json")
		c.Stdout = w
		err := c.Run()
		if e, ok := errors.AsType[*exec.ExitError](err); ok && e.ExitCode() == exitIncomplete {
			return nil
		}
		return err
	})
	secrets := s.file("canary.txt", func(w io.Writer) error { _, err := io.WriteString(w, tortureSecret+"\n"); return err })
	args := []string{"-store", s.url, "-evidence", filepath.Join(s.dir, "evidence"), "-access-log", s.log.file.Name(), "-truth", of + "=" + truth, "-gaps", gaps, "-secrets", secrets,
		"-rate", strconv.Itoa(tortureRate), "-burst", strconv.Itoa(tortureBurst + forgiven), "-forgiven", strconv.Itoa(forgiven)}
	for i, out := range outs {
		args = append(args, "-log", s.file("process"+strconv.Itoa(i)+".log", func(w io.Writer) error { _, err := w.Write(out.copy()); return err }))
	}
	return args
}

// file writes one, outside of the folder that patra works in, and gives its name.
func (s *stage) file(name string, write func(io.Writer) error) string {
	s.t.Helper()
	file, err := os.Create(filepath.Join(s.aside, name))
	if err == nil {
		err = errors.Join(write(file), file.Close())
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return filepath.Join(s.aside, name)
}

// checkEnd: everything that was asked for is covered. A task may have failed for good, if another has read its window since.
func (s *stage) checkEnd() {
	s.t.Helper()
	rows, err := s.db.Query(`SELECT window_from, window_to FROM ing_coverage`)
	if err != nil {
		s.t.Fatal(err)
	}
	defer rows.Close()
	var read []patra.Window
	for rows.Next() {
		var w patra.Window
		if err := rows.Scan(&w.From, &w.To); err != nil {
			s.t.Fatal(err)
		}
		read = append(read, w)
	}
	if end := patra.NewCoverage(read...).Frontier(patra.InstantOf(tortureFrom)); rows.Err() != nil || end != patra.InstantOf(s.calmTo) {
		s.find("what was read ends at %s, %v", end, rows.Err())
	}
}

// checkQuarantine: whatever is poisoned is set aside. That nothing else is, the judge has seen.
func (s *stage) checkQuarantine() {
	s.t.Helper()
	poisoned := map[string]bool{}
	for r := range s.truth(s.provider).Truth(tortureFrom, s.calmTo) {
		if r.Poisoned {
			poisoned[r.Name()] = true
		}
	}
	if aside := s.count(`SELECT COUNT(DISTINCT provider_id) FROM ing_quarantine`); aside != len(poisoned) || (aside > 0) != (s.faults.Poison > 0) {
		s.find("%d of %d poisoned records are quarantined", aside, len(poisoned))
	}
}

// happened counts what the tables tell of faults that are not of one request.
func (s *stage) happened() map[string]int64 {
	all := s.provider.Stats().Faults
	if all == nil {
		all = map[string]int64{}
	}
	all["record-moved"] = s.provider.Stats().Moves
	all["poison-record"] = int64(s.count(`SELECT COUNT(*) FROM ing_quarantine`))
	all["huge-record"] = int64(s.count(`SELECT COUNT(*) FROM ing_record WHERE COALESCE(raw_size, LENGTH(raw)) > 200000`))
	all["same-timestamp"] = int64(s.count(`SELECT COUNT(*) FROM ing_task_run_batch a JOIN ing_task_run_batch b ON b.task_id = a.task_id AND b.scan_no = a.scan_no AND b.phase_code = a.phase_code
		AND b.done_ordinal = a.done_ordinal + 1 WHERE a.ts_max = b.ts_min`))
	all["older-version-refused"] = int64(s.count(`SELECT COALESCE(SUM(n_stale + n_dup), 0) FROM ing_task_run_batch`))
	for name, n := range s.done {
		all[name] += n
	}
	return all
}
