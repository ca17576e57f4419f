package invariants

import (
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
)

// snapshots is what is promised of stored configurations: they are what they were when somebody planned with them.
var snapshots = []Invariant{
	{Text: "a stored source is what its fingerprint says", Next: redeem, look: altered},
	{Text: "every run read with the configuration that was planned", Next: report, look: none("run", `SELECT r.id FROM ing_task_run r JOIN ing_task t ON t.id = r.task_id JOIN ing_plan p ON p.id = t.plan_id
		WHERE r.spec_fingerprint <> t.spec_fingerprint OR t.spec_fingerprint <> p.spec_fingerprint`)},
	{Text: "every plan has its configuration", Next: redeem, look: none("plan", `SELECT p.id FROM ing_plan p WHERE NOT EXISTS (SELECT 1 FROM ing_spec_snapshot x WHERE x.spec_fingerprint = p.spec_fingerprint)`)},
}

// altered hashes every stored source again, one at a time.
func altered(l *checkRun) error {
	return l.each(`SELECT spec_fingerprint, provenance_code, snapshot FROM ing_spec_snapshot`, func(r *sql.Rows) error {
		var fingerprint, source string
		var body sql.RawBytes
		if err := r.Scan(&fingerprint, &source, &body); err != nil {
			return err
		}
		if sum := sha256.Sum256(body); hex.EncodeToString(sum[:]) != fingerprint {
			l.found("snapshot %.8s of %s", fingerprint, source)
		}
		return nil
	})
}
