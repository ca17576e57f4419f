package cli

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"patra/internal/sim"
	"patra/internal/store/storetest"
	"patra/internal/verifier"
)

// copied is a copy of everything that there is to be seen of a harvest, which a test may spoil.
type copied struct {
	t      *testing.T
	folder string
	db     *sql.DB
}

// exec changes the tables, of which something must be changed.
func (c *copied) exec(changes ...string) {
	c.t.Helper()
	for _, change := range changes {
		res, err := c.db.Exec(change)
		if err != nil {
			c.t.Fatalf("%v in %s", err, change)
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			c.t.Fatalf("nothing to change, %v: %s", err, change)
		}
	}
}

func (c *copied) number(query string) (n int64) {
	c.t.Helper()
	if err := c.db.QueryRow(query).Scan(&n); err != nil {
		c.t.Fatalf("%v in %s", err, query)
	}
	return n
}

// ownRaw gives a record raw content of its own, as if it never had lain in a page.
func (c *copied) ownRaw(which string, raw []byte) {
	c.t.Helper()
	for _, change := range []string{
		`UPDATE ing_raw_piece SET live = live - 1 WHERE id BETWEEN (SELECT batch_id * 65536 + (raw_from >> 17) FROM ing_record WHERE id = ` + which + `)
			AND (SELECT batch_id * 65536 + ((raw_from + raw_size - 1) >> 17) FROM ing_record WHERE id = ` + which + `)`,
		`DELETE FROM ing_raw_piece WHERE live = 0`,
	} {
		if _, err := c.db.Exec(change); err != nil {
			c.t.Fatalf("%v in %s", err, change)
		}
	}
	if _, err := c.db.Exec(`UPDATE ing_record SET raw = ?, raw_from = NULL, raw_size = NULL WHERE id = `+which, raw); err != nil {
		c.t.Fatal(err)
	}
}

func (c *copied) path(name string) string { return filepath.Join(c.folder, name) }

func (c *copied) append(name, text string) {
	c.t.Helper()
	f, err := os.OpenFile(c.path(name), os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
	if err == nil {
		_, err = f.WriteString(text)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

// log changes the lines of the provider's log.
func (c *copied) log(change func([]sim.Entry)) {
	c.t.Helper()
	data, err := os.ReadFile(c.path("access.jsonl"))
	if err != nil {
		c.t.Fatal(err)
	}
	var all []sim.Entry
	for line := range bytes.Lines(data) {
		var e sim.Entry
		if err := json.Unmarshal(line, &e); err != nil {
			c.t.Fatal(err)
		}
		all = append(all, e)
	}
	change(all)
	var out bytes.Buffer
	for _, e := range all {
		line, _ := json.Marshal(e) // strings and numbers
		out.Write(append(line, '\n'))
	}
	if err := os.WriteFile(c.path("access.jsonl"), out.Bytes(), 0o600); err != nil {
		c.t.Fatal(err)
	}
}

// Rows that the mutations change: a closed slice and its task, a record that came first, a page that was stored, a proof and a page of it.
const (
	oneSlice  = `(SELECT MIN(slice_id) FROM ing_task WHERE status_code = 'SUCCEEDED')`
	oneTask   = `(SELECT MIN(id) FROM ing_task WHERE status_code = 'SUCCEEDED')`
	onePage   = `(SELECT MIN(id) FROM ing_task_run_batch WHERE status_code = 'SUCCEEDED' AND n_insert > 0)`
	oneRecord = `(SELECT MIN(id) FROM ing_record WHERE rev = 1)`
	oneProof  = `(SELECT MIN(id) FROM ing_coverage WHERE state_code = 'SEALED' AND proof IS NOT NULL)`

	provingPage = `(SELECT MIN(b.id) FROM ing_task_run_batch b JOIN ing_coverage v ON v.id = ` + oneProof + ` AND b.task_id = JSON_EXTRACT(v.proof, '$.task_id')
		WHERE b.scan_no = JSON_EXTRACT(v.proof, '$.scans[0].scan') AND LENGTH(b.row_keys) > 1)`
)

// mutations are one way at least to break every invariant so that no other is broken.
var mutations = []struct {
	breaks, does string
	do           func(c *copied)
}{
	{"watermark", "a watermark and its last event go one step too far", func(c *copied) {
		c.exec(`UPDATE ing_cursor SET normalized_instant = normalized_instant + 1`,
			`UPDATE ing_cursor_event SET new_instant = new_instant + 1 WHERE seq = (SELECT MAX(version) FROM ing_cursor)`)
	}},
	{"chain", "an event begins before the origin", func(c *copied) { c.exec(`UPDATE ing_cursor_event SET prev_instant = prev_instant - 1 WHERE seq = 1`) }},
	{"exhausted", "a run was not exhausted after all", func(c *copied) { c.exec(`UPDATE ing_task_run SET exhausted = 0 WHERE slice_id = ` + oneSlice) }},
	{"tiling", "a slice has a child and was not cut", func(c *copied) {
		c.exec(`UPDATE ing_plan_slice SET parent_slice_id = ` + oneSlice + ` WHERE id = (SELECT MAX(p.id) FROM ing_plan_slice p WHERE p.plan_id = (SELECT s.plan_id FROM ing_plan_slice s WHERE s.id = ` + oneSlice + `))`)
	}},
	{"confirmed", "a slice that was read to its end says why it ended early", func(c *copied) { c.exec(`UPDATE ing_plan_slice SET reslice = '{}' WHERE id = ` + oneSlice) }},
	{"fence", "a task has an older fence than its pages", func(c *copied) { c.exec(`UPDATE ing_task SET lease_count = lease_count - 1 WHERE id = ` + oneTask) }},
	{"accounts", "a page has an item more than it accounts for", func(c *copied) {
		c.exec(`UPDATE ing_task_run_batch SET record_count = record_count + 1 WHERE id = ` + onePage)
	}},
	{"atomic", "a version comes from a page that never was", func(c *copied) { c.exec(`UPDATE ing_record_rev SET batch_id = 0 WHERE record_id = ` + oneRecord) }},
	{"events", "the event of a version is gone", func(c *copied) { c.exec(`DELETE FROM ing_outbox WHERE record_id = ` + oneRecord) }},
	{"books", "an insert is booked as something that was there", func(c *copied) {
		c.exec(`UPDATE ing_task_run_batch SET n_insert = n_insert - 1, n_same = n_same + 1 WHERE id = ` + onePage)
	}},
	{"replay", "a replay committed a page", func(c *copied) { c.exec(`UPDATE ing_request SET kind_code = 'REPLAY' WHERE batch_id = ` + onePage) }},
	{"namespace", "nobody is named who moved a cursor", func(c *copied) { c.exec(`UPDATE ing_cursor_event SET slice_id = NULL, actor = NULL WHERE seq = 1`) }},
	{"listed", "people are told that something is missing that is there", func(c *copied) {
		cursor := c.number(`SELECT id FROM ing_cursor`)
		if err := os.WriteFile(c.path("gaps.json"), []byte(`[{"cursor_id":`+num(cursor)+`,"kind":"NEVER","window":{"from":"2026-03-02T00:00:00Z","to":"2026-03-03T00:00:00Z"}}]`), 0o600); err != nil {
			c.t.Fatal(err)
		}
	}},
	{"leases", "a task was tried too often", func(c *copied) { c.exec(`UPDATE ing_task SET attempt_count = max_attempts + 1 WHERE id = ` + oneTask) }},
	{"granted", "a request was sent before it was granted", func(c *copied) {
		c.exec(`UPDATE ing_request SET sent_at = acquired_at - 1 WHERE id = (SELECT MAX(id) FROM ing_request WHERE sent_at IS NOT NULL)`)
	}},
	{"unknown", "a page of an exhausted scan was lost on the way", func(c *copied) {
		c.exec(`UPDATE ing_task_run_batch SET error = '{"code":"NETWORK"}' WHERE id = (SELECT MIN(b.id) FROM ing_task_run_batch b JOIN ing_task_run r ON r.task_id = b.task_id AND r.scan_no = b.scan_no AND r.exhausted = 1
			WHERE b.status_code = 'FAILED' AND b.ordinal > 1)`)
	}},
	{"snapshots", "a stored source has a space more", func(c *copied) { c.exec(`UPDATE ing_spec_snapshot SET snapshot = snapshot || ' '`) }},
	{"beside", "a breaker is open for ever", func(c *copied) {
		c.exec(`INSERT INTO ing_control (scope_code, scope_key, kind_code, state_code, failures, reason, actor, version, created_at) VALUES ('SOURCE', 'x', 'BREAKER', 'OPEN', 1, '', '', 1, 0)`)
	}},
	{"witness", "a proof names a row that is not there", func(c *copied) {
		c.exec(`UPDATE ing_task_run_batch SET row_keys = SUBSTR(row_keys, 1, LENGTH(row_keys) - 12) WHERE id = ` + provingPage)
	}},
	{"witness", "a proof names another witness", func(c *copied) {
		c.exec(`UPDATE ing_coverage SET proof = JSON_SET(proof, '$.witness', 'SEAM') WHERE id = ` + oneProof)
	}},
	{"no-loss", "a record is gone, and every trace of it", func(c *copied) {
		c.ownRaw(oneRecord, []byte("{}"))
		c.exec(`UPDATE ing_task_run_batch SET n_insert = n_insert - 1, n_same = n_same + 1 WHERE id = (SELECT batch_id FROM ing_record WHERE id = `+oneRecord+`)`,
			`DELETE FROM ing_record_rev WHERE record_id = `+oneRecord, `DELETE FROM ing_outbox WHERE record_id = `+oneRecord, `DELETE FROM ing_record WHERE id = `+oneRecord)
	}},
	{"no-loss", "something is set aside with which nothing is wrong", func(c *copied) {
		c.exec(`INSERT INTO ing_quarantine (batch_id, item_no, kind_code, provenance_code, record_type, provider_id, error_code, fragment, status_code, created_at)
			SELECT batch_id, 9999, 'RECORD', provenance_code, record_type, provider_id, 'X', '', 'DISCARDED', 0 FROM ing_record WHERE id = ` + oneRecord)
	}},
	{"no-invention", "a record says what nobody ever said", func(c *copied) { c.ownRaw(oneRecord, []byte("{}")) }},
	{"no-loss", "the page in which a record lies is damaged", func(c *copied) {
		c.exec(`UPDATE ing_raw_piece SET body = X'00' WHERE id = (SELECT MIN(id) FROM ing_raw_piece)`)
	}},
	{"atomic", "the page in which a record lies is gone", func(c *copied) {
		c.exec(`DELETE FROM ing_raw_piece WHERE id = (SELECT MIN(id) FROM ing_raw_piece)`)
	}},
	{"atomic", "a page is kept in which no record lies", func(c *copied) {
		c.exec(`INSERT INTO ing_raw_piece (id, live, body, created_at) VALUES (1, 1, X'00', 0)`)
	}},
	{"nothing-stale", "a record is what it was before it changed", func(c *copied) {
		older := c.path("older.json")
		var old struct{ ID, Raw string }
		data, err := os.ReadFile(older)
		if err == nil {
			err = json.Unmarshal(data, &old)
		}
		if err != nil {
			c.t.Fatal(err)
		}
		var id int64
		if err := c.db.QueryRow(`SELECT id FROM ing_record WHERE provider_id = ?`, old.ID).Scan(&id); err != nil {
			c.t.Fatalf("%s is not stored, %v", old.ID, err)
		}
		c.ownRaw(fmt.Sprint(id), []byte(old.Raw))
	}},
	{"requests", "the row of a request is gone", func(c *copied) {
		c.exec(`DELETE FROM ing_request WHERE id = (SELECT MAX(id) FROM ing_request WHERE http_status = 429)`)
	}},
	{"requests", "a request that may be sent once came twice", func(c *copied) {
		once := ""
		if err := c.db.QueryRow(`SELECT q.request_id FROM ing_request q JOIN ing_task_run_batch b ON b.id = q.batch_id WHERE b.status_code = 'SUCCEEDED' ORDER BY q.id LIMIT 1`).Scan(&once); err != nil {
			c.t.Fatal(err)
		}
		var again []byte
		c.log(func(all []sim.Entry) {
			again, _ = json.Marshal(all[slices.IndexFunc(all, func(e sim.Entry) bool { return e.Correlation == once })])
		})
		c.append("access.jsonl", string(again)+"\n")
	}},
	{"rate", "the last requests came all at once", func(c *copied) {
		c.log(func(all []sim.Entry) {
			last := all[len(all)-40:]
			for i := range last {
				last[i].ReceivedUS = all[len(all)-1].ReceivedUS
			}
		})
	}},
	{"retry-after", "an early answer had asked for a long wait", func(c *copied) {
		id := ""
		if err := c.db.QueryRow(`SELECT request_id FROM ing_request WHERE finished_at IS NOT NULL ORDER BY id LIMIT 1`).Scan(&id); err != nil {
			c.t.Fatal(err)
		}
		c.log(func(all []sim.Entry) {
			for i := range all {
				if all[i].Correlation == id {
					all[i].RetryUntilUS = all[i].AnsweredUS + 20_000_000
				}
			}
		})
	}},
	{"secrets", "a secret stands in a column", func(c *copied) {
		c.exec(`UPDATE ing_task SET record_remarks = '{"x":"` + tortureSecret + `"}' WHERE id = ` + oneTask)
	}},
	{"secrets", "a secret stands in a log, as part of something longer in base64", func(c *copied) { c.append("process.log", "dXNlcjpjYW5hcnktNDcxMS95ZWxsb3crYmlyZD09\n") }},
	{"secrets", "a secret stands beside the kept answers, in an address", func(c *copied) {
		c.append("evidence/x", "?key=canary-4711%2Fyellow%2Bbird%3D%3D&x")
	}},
	{"secrets", "the provider was told a secret in a Referer", func(c *copied) {
		c.log(func(all []sim.Entry) { all[0].Referer = "http://x/?k=" + tortureSecret })
	}},
	{"answers", "a byte of a kept answer is another", func(c *copied) {
		err := filepath.WalkDir(c.path("evidence/bodies"), func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := os.ReadFile(name)
			data[len(data)/2] ^= 1
			return errors.Join(err, os.WriteFile(name, data, 0o600), fs.SkipAll)
		})
		if err != nil && !errors.Is(err, fs.SkipAll) {
			c.t.Fatal(err)
		}
	}},
	{"answers", "a kept answer is gone", func(c *copied) {
		if err := os.RemoveAll(c.path("evidence/bodies")); err != nil {
			c.t.Fatal(err)
		}
	}},
	{"answers", "the provider says that it sent something else", func(c *copied) {
		c.log(func(all []sim.Entry) {
			for i := range all {
				if all[i].Items > 0 {
					all[i].SHA256 = strings.Repeat("0", 64)
				}
			}
		})
	}},
	{"repeats", "a page that was stored is asked for again", func(c *copied) {
		c.exec(`INSERT INTO ing_task_run_batch (run_id, task_id, slice_id, plan_id, provenance_code, operation_code, expr_hash, batch_no, scan_no, phase_code, ordinal, lease_count, record_count,
			n_insert, n_update, n_same, n_stale, n_dup, n_quarantine, n_outside, idempotent_key, stats, status_code, started_at, created_at)
			SELECT run_id, task_id, slice_id, plan_id, provenance_code, operation_code, expr_hash, 9999, scan_no, phase_code, ordinal, lease_count, 0,
			0, 0, 0, 0, 0, 0, 0, idempotent_key, '{}', 'FAILED', started_at, created_at FROM ing_task_run_batch WHERE id = ` + onePage)
	}},
}

func num(n int64) string { b, _ := json.Marshal(n); return string(b) }

// TestTheJudgeFromOutside: a good harvest is found to be good, and then every kind of damage is done to a copy of it, and
// found by the invariant that is meant, and by no other. A judge who was never seen to convict proves nothing.
func TestTheJudgeFromOutside(t *testing.T) {
	t.Parallel()
	o := ordeals[0] // with refusals, and with poison and movement
	o.tune = func(f *sim.Faults) {
		f.AbsurdWait, f.Throttle, f.Unavailable, f.Poison, f.MoveEvery = 0, 0.03, 0.01, 0.03, 3
	}
	s := newStage(t, storetest.Engines()[0], torturedSources[0], o, 2, 1)
	s.plan()
	f := s.fleet(1)
	s.drain(f, tortureLease*30)
	s.calm(f)
	s.finish()
	args := s.evidenceOf(f.outs[:1])
	if s.check(f); len(s.findings) > 0 || t.Failed() {
		t.Fatalf("nothing was done to it yet: %q", s.findings)
	}
	s.writeOlder()
	good := s.judgement(args)
	broken := map[string]bool{}
	for _, m := range mutations {
		broken[m.breaks] = true
		t.Run(m.breaks+": "+m.does, func(t *testing.T) {
			t.Parallel()
			c := s.copy(t)
			m.do(c)
			c.db.Close()
			for _, v := range s.judgement(s.moved(args, c.folder)) {
				if (v.Count > 0) != (v.Name == m.breaks) || (v.Count > 0) != (len(v.Examples) > 0) {
					t.Errorf("%s: %d findings: %q", v.Name, v.Count, v.Examples)
				}
			}
		})
	}
	for _, v := range good {
		if !broken[v.Name] {
			t.Errorf("nobody has seen this fail: %s", v.Text)
		}
		if v.Count > 0 || v.Skipped != "" {
			t.Errorf("%s: %d findings, %s", v.Text, v.Count, v.Skipped)
		}
	}
}

// judgement is what patra-check says, given its arguments; whether it exits with 1 must go together with that.
func (s *stage) judgement(args []string) (all []verifier.Invariant) {
	s.t.Helper()
	out, err := exec.CommandContext(s.t.Context(), "patra-check", append(args, "-o", "json")...).Output()
	if e := json.Unmarshal(out, &all); e != nil {
		s.t.Fatalf("%v, %v\n%s", err, e, out)
	}
	if found := slices.ContainsFunc(all, func(v verifier.Invariant) bool { return v.Count > 0 }); found != (err != nil) {
		s.t.Errorf("it exits with %v", err)
	}
	return all
}

// copy copies all that is seen into one folder.
func (s *stage) copy(t *testing.T) *copied {
	t.Helper()
	c := &copied{t: t, folder: t.TempDir()}
	if _, err := s.db.Exec(`VACUUM INTO ?`, c.path("patra.db")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"access.jsonl", "truth.jsonl", "gaps.json", "canary.txt", "older.json", "process0.log"} {
		data, err := os.ReadFile(filepath.Join(s.aside, name))
		if err == nil {
			err = os.WriteFile(c.path(strings.Replace(name, "process0", "process", 1)), data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.CopyFS(c.path("evidence"), os.DirFS(filepath.Join(s.dir, "evidence"))); err != nil {
		t.Fatal(err)
	}
	c.db = storetest.Inspect(t, "sqlite:"+c.path("patra.db"))
	return c
}

// moved are the same arguments about a copy.
func (s *stage) moved(args []string, folder string) []string {
	var all []string
	for _, a := range args {
		a = strings.ReplaceAll(a, s.aside, folder)
		a = strings.ReplaceAll(a, filepath.Join(s.dir, "evidence"), filepath.Join(folder, "evidence"))
		if a == s.url {
			a = "sqlite:" + filepath.Join(folder, "patra.db")
		}
		all = append(all, strings.ReplaceAll(a, "process0.log", "process.log"))
	}
	return all
}

// writeOlder writes down what a record that has changed was before, of those whose change was there throughout.
func (s *stage) writeOlder() {
	var first, second *sim.Version
	for v := range s.truth(s.provider).Journal() {
		if v.Number == 1 {
			first = &v
		} else if !v.Poisoned && v.At.Before(s.calmTo) {
			second = &v
			break
		}
	}
	if second == nil {
		s.t.Fatal("nothing has changed")
	}
	data, err := json.Marshal(map[string]string{"ID": second.Name(), "Raw": string(first.Bytes)})
	if err == nil {
		err = os.WriteFile(filepath.Join(s.aside, "older.json"), data, 0o600)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}
