package storetest

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"patra"
	"patra/internal/store"
)

// written is a log of some entries, with texts that engines like to change.
func written(t *testing.T, w *World, n int) {
	t.Helper()
	for i := range n {
		e, err := w.Audit(t.Context(), patra.AuditEntry{Actor: "Ada Lovelace", Action: patra.AuditExport, Target: fmt.Sprintf("run:%d", i+1), Reason: "because  of 'é' \"\\\" <b> \U0001F600 ",
			Detail: []byte(`{"b": 1.0, "a": [null, "x\u0000y"]}`)})
		w.must(err)
		if e.Seq != int64(i+1) {
			t.Fatalf("entry %d has number %d", i+1, e.Seq)
		}
	}
}

func auditChain(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	written(t, w, 7)
	verify := func() (int64, *patra.AuditBreak) {
		t.Helper()
		n, broken, err := w.VerifyAudit(t.Context())
		w.must(err)
		return n, broken
	}
	if n, broken := verify(); n != 7 || broken != nil {
		t.Fatalf("a log that nobody touched: %d, %+v", n, broken)
	}
	db := Inspect(t, w.URL)
	row := func(seq int) (set string) {
		return fmt.Sprintf(`INSERT INTO ing_audit (seq, actor, action_code, target, reason, detail, prev_hash, hash, created_at)
			SELECT %d, actor, action_code, target, reason, detail, prev_hash, hash, created_at FROM ing_audit WHERE seq = 7`, seq)
	}
	for name, c := range map[string]struct {
		change, undo []string
		seq          int64
	}{
		"another actor":     {[]string{`UPDATE ing_audit SET actor = 'Eve' WHERE seq = 3`}, []string{`UPDATE ing_audit SET actor = 'Ada Lovelace' WHERE seq = 3`}, 3},
		"another time":      {[]string{`UPDATE ing_audit SET created_at = created_at + 1 WHERE seq = 1`}, []string{`UPDATE ing_audit SET created_at = created_at - 1 WHERE seq = 1`}, 1},
		"the last, changed": {[]string{`UPDATE ing_audit SET action_code = 'PAUSE' WHERE seq = 7`}, []string{`UPDATE ing_audit SET action_code = 'EXPORT' WHERE seq = 7`}, 7},
		"taken out":         {[]string{`UPDATE ing_audit SET seq = 1004 WHERE seq = 4`}, []string{`UPDATE ing_audit SET seq = 4 WHERE seq = 1004`}, 4},
		"put at the end":    {[]string{row(8)}, []string{`DELETE FROM ing_audit WHERE seq = 8`}, 8},
		"two that were swapped": {[]string{`UPDATE ing_audit SET seq = 1002 WHERE seq = 2`, `UPDATE ing_audit SET seq = 2 WHERE seq = 5`, `UPDATE ing_audit SET seq = 5 WHERE seq = 1002`},
			[]string{`UPDATE ing_audit SET seq = 1002 WHERE seq = 2`, `UPDATE ing_audit SET seq = 2 WHERE seq = 5`, `UPDATE ing_audit SET seq = 5 WHERE seq = 1002`}, 2},
		"put in between": {[]string{`UPDATE ing_audit SET seq = seq + 1000 WHERE seq > 4`, `UPDATE ing_audit SET seq = seq - 999 WHERE seq > 1000`, strings.Replace(row(5), "seq = 7", "seq = 8", 1)},
			[]string{`DELETE FROM ing_audit WHERE seq = 5`, `UPDATE ing_audit SET seq = seq + 1000 WHERE seq > 4`, `UPDATE ing_audit SET seq = seq - 1001 WHERE seq > 1000`}, 5},
	} {
		for _, change := range c.change {
			exec(t, db, change)
		}
		if _, broken := verify(); broken == nil || broken.Seq != c.seq || broken.Why == "" {
			t.Errorf("%s: found %+v, want entry %d", name, broken, c.seq)
		}
		for _, undo := range c.undo {
			exec(t, db, undo)
		}
		if _, broken := verify(); broken != nil {
			t.Fatalf("%s: not as it was: %+v", name, broken)
		}
	}
	exec(t, db, `DELETE FROM ing_audit WHERE seq = 7`)
	if n, broken := verify(); n != 6 || broken == nil || broken.Seq != 7 {
		t.Errorf("the last entry is gone: %d, %+v", n, broken)
	}
}

func auditAtOnce(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 10 {
				if _, err := w.Audit(t.Context(), patra.AuditEntry{Actor: fmt.Sprint(i), Action: patra.AuditReplay, Target: "run:1"}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if n, broken, err := w.VerifyAudit(t.Context()); n != 80 || broken != nil || err != nil {
		t.Errorf("%d entries, %+v, %v", n, broken, err)
	}
}

func auditedSteering(t *testing.T, e Engine) {
	w := NewWorld(t, e, 2)
	w.Work(w.Take(), w.Record("1", Origin, "a"))
	task := patra.WorkTarget(patra.ScopeTask, w.Take().TaskID)
	w.must(second(w.Pause(t.Context(), task, "wait", "ada")))
	w.must(second(w.Resume(t.Context(), task, "go on", "bob")))
	w.must(second(w.Cancel(t.Context(), task, "enough", "eve")))
	if _, err := w.Pause(t.Context(), patra.WorkTarget(patra.ScopeTask, 4711), "", "ada"); !errors.Is(err, patra.ErrNotFound) {
		t.Errorf("a task that is not there: %v", err)
	}
	cursors, err := w.Cursors(t.Context(), store.Filter{})
	w.must(err)
	word := patra.Waiver{CursorID: cursors[0].ID, Window: Day(1), Reason: "lost", By: "ada"}
	w.must(second(w.Waive(t.Context(), w.Clock.Instant(), word)))
	_, _, err = w.Revoke(t.Context(), w.Clock.Instant(), word)
	w.must(err)
	log, err := w.AuditLog(t.Context(), store.AuditFilter{Limit: 100})
	w.must(err)
	var got []string
	for _, e := range log {
		got = append(got, fmt.Sprintf("%d %s %s %s %s", e.Seq, e.Actor, e.Action, e.Target, e.Reason))
	}
	cursor := patra.WorkTarget(patra.ScopeCursor, cursors[0].ID).String()
	want := []string{"5 ada REVOKE " + cursor + " lost", "4 ada WAIVE " + cursor + " lost", "3 eve CANCEL " + task.String() + " enough", "2 bob RESUME " + task.String() + " go on", "1 ada PAUSE " + task.String() + " wait"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("the log says\n%s\nand should say\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if n, broken, err := w.VerifyAudit(t.Context()); n != 5 || broken != nil || err != nil {
		t.Errorf("%d entries, %+v, %v", n, broken, err)
	}
	one, err := w.AuditLog(t.Context(), store.AuditFilter{Actor: "eve", Action: patra.AuditCancel, Target: task.String(), Limit: 10})
	if err != nil || len(one) != 1 {
		t.Errorf("found %+v, %v", one, err)
	}
	// What could not be done is not written down, and neither is what was done when it cannot be written down.
	exec(t, Inspect(t, w.URL), `DELETE FROM ing_audit_head`)
	if _, err := w.Pause(t.Context(), task, "", "ada"); err == nil {
		t.Error("something was done that could not be written down")
	}
	found, err := w.Controls(t.Context())
	if err != nil || len(found) != 0 {
		t.Errorf("the pause is there all the same: %+v, %v", found, err)
	}
}
