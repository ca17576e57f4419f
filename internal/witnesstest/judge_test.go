package witnesstest

import (
	"context"
	"database/sql"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"patra"
	"patra/internal/executor"
	"patra/internal/gate"
	"patra/internal/planner"
	"patra/internal/sim"
	"patra/internal/source"
	"patra/internal/store"
	"patra/internal/verifier"
	"patra/sources"
)

// witnessOf asks the judge about the proofs of a store.
func witnessOf(t *testing.T, file string) verifier.Invariant {
	t.Helper()
	found, err := verifier.Check(t.Context(), verifier.Given{Store: "sqlite:" + file})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range found {
		if v.Name == "witness" {
			return v
		}
	}
	t.Fatal("the judge does not ask for witnesses")
	return verifier.Invariant{}
}

// mutation is a change to a store with good proofs, after which they are not.
type mutation struct {
	name string
	sql  string // one statement
}

const (
	aProof     = ` WHERE id = (SELECT MIN(id) FROM ing_coverage WHERE proof LIKE '%"witness":"WITNESS"%')`
	itsTask    = ` (SELECT JSON_EXTRACT(proof, '$.task_id') FROM ing_coverage` + aProof + `) `
	itsPages   = ` WHERE done_ordinal IS NOT NULL AND task_id = ` + itsTask
	cutRow     = `UPDATE ing_task_run_batch SET row_keys = SUBSTR(row_keys, 1, LENGTH(row_keys) - 12)` + itsPages + ` AND ordinal = 1`
	otherRow   = `UPDATE ing_task_run_batch SET row_keys = CAST(SUBSTR(row_keys, 1, 3) || X'0000' || SUBSTR(row_keys, 6) AS BLOB)` + itsPages
	noRows     = `UPDATE ing_task_run_batch SET row_keys = NULL` + itsPages + ` AND ordinal = 1`
	moreThere  = `UPDATE ing_task_run_batch SET provider_total = provider_total + 1` + itsPages
	noScan     = `DELETE FROM ing_task_run_batch` + itsPages
	noPage     = `DELETE FROM ing_task_run_batch` + itsPages + ` AND ordinal = 2`
	noTask     = `UPDATE ing_coverage SET proof = JSON_SET(proof, '$.task_id', 999999)` + aProof
	noBasis    = `UPDATE ing_coverage SET proof = JSON_SET(proof, '$.basis', 'FILE')` + aProof
	unexamined = `UPDATE ing_spec_snapshot SET snapshot = JSON_REMOVE(snapshot, '$.basis')`
)

// called gives a proof the name of another witness.
func called(witness string) mutation {
	return mutation{"it is called " + witness, `UPDATE ing_coverage SET proof = JSON_SET(proof, '$.witness', '` + witness + `')` + aProof}
}

// TestTheJudgeFindsFalseProofs takes stores in which all proofs hold, and spoils each of them in a way that the judge must find.
func TestTheJudgeFindsFalseProofs(t *testing.T) {
	all := []mutation{{"a row is missing", cutRow}, {"the rows are not known", noRows}, {"its scans are missing", noScan}, {"its task is missing", noTask}, {"its basis is another", noBasis},
		{"the provider says that there is more", moreThere}, called("NONE")}
	for _, c := range []struct {
		cell
		witness   string
		mutations []mutation
	}{
		{cell{paging: byOffset, order: ascending, total: "EXACT"}, "ATOMIC", []mutation{called("SNAPSHOT"), called("MET_AGAIN"), {"nothing is certified", unexamined}}},
		{cell{paging: byOffset, order: ascending, total: "EXACT"}, "SEAM", []mutation{called("KEYSET"), called("ATOMIC"), called("TIME"), {"a page is missing", noPage}, {"a row is another", otherRow + ` AND ordinal = 2`},
			{"a row is sorted by something else", `UPDATE ing_task_run_batch SET row_keys = CAST(SUBSTR(row_keys, 1, 9) || X'00000000' || SUBSTR(row_keys, 14) AS BLOB)` + itsPages + ` AND ordinal = (SELECT MAX(ordinal) FROM ing_task_run_batch` + itsPages + `)`},
			{"the order is none", `UPDATE ing_spec_snapshot SET snapshot = JSON_SET(snapshot, '$.pagination.order', 'NONE')`}}},
		{cell{paging: byPage, order: fixed, total: "EXACT", sizes: []int{12, 13}}, "SIZES", []mutation{called("SEAM"), {"a page is missing", noPage}, {"a row is another", otherRow + ` AND ordinal = 2`}}},
		{cell{paging: byKey, order: fixed, total: "EXACT", lag: time.Minute}, "KEYSET", []mutation{called("SEAM"), called("SNAPSHOT"), {"a page is missing", noPage},
			{"positions are indexes", `UPDATE ing_spec_snapshot SET snapshot = JSON_SET(snapshot, '$.pagination.stability', 'SHIFTING')`}}},
		{cell{paging: bySnapshot, order: ascending, total: "EXACT"}, "SNAPSHOT", []mutation{called("KEYSET"), {"a page is missing", noPage}}},
		{cell{paging: byTime, order: ascending, total: "EXACT", lag: time.Minute, sizes: []int{5}}, "TIME", []mutation{called("KEYSET"), {"a page is missing", noPage},
			{"copies lag longer", `UPDATE ing_spec_snapshot SET snapshot = JSON_SET(snapshot, '$.consistency.lag', 'P9000D')`}}},
		{cell{paging: byHidden, order: free, total: "NONE"}, "MET_AGAIN", []mutation{called("SNAPSHOT"), called("KEYSET"), {"a page is missing", noPage},
			{"the first scan is not named", `UPDATE ing_coverage SET proof = JSON_REMOVE(proof, '$.scans[0]')` + aProof},
			{"the last scan is not named", `UPDATE ing_coverage SET proof = JSON_REMOVE(proof, '$.scans[1]')` + aProof},
			{"a row was not met again", otherRow + ` AND ordinal = 1 AND scan_no = 2`},
			{"positions are not places", `UPDATE ing_spec_snapshot SET snapshot = JSON_REMOVE(snapshot, '$.pagination.stability')`}}},
		{cell{paging: byHidden, order: free, total: "NONE", census: true}, "CENSUS", []mutation{called("KEYSET"), called("MET_AGAIN"),
			{"the list is missing", noScan + ` AND phase_code = 'CENSUS'`}, {"the list has an id more", `UPDATE ing_task_run_batch SET row_keys = CAST(row_keys || X'000000000000000100000000' AS BLOB)` + itsPages + ` AND phase_code = 'CENSUS'`},
			{"the list goes on", `UPDATE ing_task_run_batch SET has_next = 1` + itsPages + ` AND phase_code = 'CENSUS'`},
			{"the list has other ids", `UPDATE ing_coverage SET proof = JSON_SET(proof, '$.census', 1)` + aProof}}},
		{cell{paging: byHidden, order: free, total: "EXACT", lag: time.Minute}, "MET_AGAIN", []mutation{
			{"copies lag longer", `UPDATE ing_spec_snapshot SET snapshot = JSON_SET(snapshot, '$.consistency.lag', 'PT1H')`},
			{"the scan in the middle is not named", `UPDATE ing_coverage SET proof = JSON_REMOVE(proof, '$.scans[1]')` + aProof}}},
	} {
		t.Run(c.witness+"/"+c.total, func(t *testing.T) {
			if c.sizes == nil {
				c.sizes = []int{5, 7}
			}
			c.family = func(*rand.Rand, uint64, int) rules { return rules{copies: 1, ties: 1, family: "still"} }
			var file string
			c.each(t, 3, 12, func(h *harvest) { file = h.file })
			for _, m := range append(all, c.mutations...) {
				if m.sql == moreThere && (c.total != "EXACT" || c.witness == "TIME") {
					continue
				}
				convict(t, file, mutation{m.name, strings.ReplaceAll(m.sql, "WITNESS", c.witness)})
			}
		})
	}
}

// convict spoils a copy of a good store, which the judge must find.
func convict(t *testing.T, file string, m mutation) {
	t.Helper()
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	spoilt := filepath.Join(t.TempDir(), "patra.db")
	if err := os.WriteFile(spoilt, good, 0o600); err != nil {
		t.Fatal(err)
	}
	if v := witnessOf(t, spoilt); v.Count > 0 || v.Looked == 0 {
		t.Fatalf("the store is not good: %+v", v)
	}
	db, err := sql.Open("sqlite", "file:"+spoilt)
	if err != nil {
		t.Fatal(err)
	}
	res, err := db.Exec(m.sql)
	if err != nil {
		t.Fatalf("%s: %v", m.name, err)
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		t.Errorf("%s: nothing was changed, %v", m.name, err)
	}
	db.Close()
	if v := witnessOf(t, spoilt); v.Count == 0 {
		t.Errorf("%s: the judge has not found it", m.name)
	} else {
		t.Logf("%s: %s", m.name, v.Examples[0])
	}
}

// TestTheJudgeKnowsOldWindows: what an older version sealed has no proof. That is said, and is no finding.
func TestTheJudgeKnowsOldWindows(t *testing.T) {
	c := cell{paging: byOffset, order: ascending, total: "EXACT", sizes: []int{5}}
	c.family = func(*rand.Rand, uint64, int) rules { return rules{copies: 1, ties: 1, family: "still"} }
	var file string
	c.each(t, 0, 4, func(h *harvest) {
		file = h.file
		if _, err := h.db.Exec(`UPDATE ing_coverage SET proof = NULL WHERE id <= 2`); err != nil {
			t.Fatal(err)
		}
	})
	if v := witnessOf(t, file); v.Note != "v1: walk: 2" || v.Count != 0 || v.Looked != 4 {
		t.Errorf("%+v", v)
	}
}

// TestTheJudgeAddsUpParts: a window that was cut by ids is proved by the proofs of its parts, and by a question for the rest.
func TestTheJudgeAddsUpParts(t *testing.T) {
	file := folder(t)
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(began))
		harvestParts(t, file)
	})
	for _, d := range doubts(t, file) {
		t.Errorf("the judge complains: %s", d)
	}
	part := ` WHERE id = (SELECT MIN(id) FROM ing_task_run WHERE status_code = 'SUCCEEDED')`
	for _, m := range []mutation{
		{"records lie outside of the parts", `UPDATE ing_coverage SET proof = JSON_SET(proof, '$.rest', 1)`},
		{"nobody has looked outside", `UPDATE ing_coverage SET proof = JSON_REMOVE(proof, '$.rest')`},
		{"a part has no proof", `UPDATE ing_task_run SET stats = JSON_REMOVE(stats, '$.answer.proof')` + part},
		{"a part was only read", `UPDATE ing_task_run SET stats = JSON_SET(stats, '$.answer.state', 'READ')` + part},
		{"a part has another witness", `UPDATE ing_task_run SET stats = JSON_SET(stats, '$.answer.proof.witness', 'SNAPSHOT')` + part},
		{"a part has lost a row", `UPDATE ing_task_run_batch SET row_keys = SUBSTR(row_keys, 1, LENGTH(row_keys) - 12) WHERE id = (SELECT MAX(id) FROM ing_task_run_batch WHERE LENGTH(row_keys) > 1)`},
	} {
		convict(t, file, m)
	}
}

// harvestParts harvests a day of PubMed that is cut by ids.
func harvestParts(t *testing.T, file string) {
	t.Helper()
	data, err := sources.Files.ReadFile("pubmed.yaml")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.NewReplacer("cap: 9998", "cap: 40", "pageSize: 9998", "pageSize: 20").Replace(string(data)), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "  rate:") {
			lines[i] = "  rate: {perSecond: 100000, burst: 1000}"
		}
	}
	f, err := source.Load("pubmed.yaml", []byte(strings.Join(lines, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	day := began.AddDate(0, -1, 0)
	provider := direct{sim.New(sim.Config{Seed: 9, From: day, To: day.AddDate(0, 0, 1), PerDay: 120, Exact: true}).Handler()}
	client := func(*source.Spec, string) *http.Client { return &http.Client{Transport: provider} }
	s, err := store.Open(t.Context(), "sqlite:"+file, store.WithClock(time.Now))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	log := slog.New(slog.DiscardHandler)
	p := &planner.Planner{Store: s, Prober: &executor.Prober{Store: s, Gate: gate.NewLocal(), Log: log, Client: client},
		Config: planner.Config{TaskAttempts: 5, Target: 10_000, MaxPages: 1000, MinStep: 24 * time.Hour, Probes: 200}}
	from, to := patra.InstantOf(day), patra.InstantOf(day.AddDate(0, 0, 1))
	plan, err := p.Plan(t.Context(), patra.InstantOf(time.Now()), planner.Request{Source: f, Basis: patra.BasisCertified, Contact: "t@example.org", From: &from, To: &to, BaseURL: "http://provider"})
	if err != nil || plan.Added < 2 {
		t.Fatalf("the day was not cut: %+v, %v", plan, err)
	}
	x := &executor.Executor{Store: s, Gate: gate.NewLocal(), Log: log, Client: client,
		Config: executor.Config{Owner: store.NewOwner(), Workers: 1, Lease: 2 * time.Hour, Heartbeat: time.Hour, Poll: 10 * time.Second, Grace: time.Second, Memory: 1 << 30, Strain: patra.DefaultWalkLimits()},
		Done: func(ctx context.Context) (bool, error) {
			states, err := s.SliceStates(ctx, plan.Plan.CursorID)
			return states[patra.Ready] == 0, err
		}}
	if err := x.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
}
