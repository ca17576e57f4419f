package invariants

// audits is what is promised of the log of what people did. Whether an entry says what it said is asked by following its
// hashes (patra audit verify); whether all are there, and in their order, can be asked of the tables.
var audits = []Invariant{
	{Text: "every entry of the audit log follows the one before it, and the last one is its end", Next: "Say patra audit verify, and find out who changes the tables by hand", look: none("entry", `SELECT a.seq FROM ing_audit a
		LEFT JOIN ing_audit b ON b.seq = a.seq - 1 WHERE (a.seq > 1 AND (b.seq IS NULL OR b.hash <> a.prev_hash)) OR a.seq < 1
		UNION ALL SELECT h.seq FROM ing_audit_head h LEFT JOIN ing_audit l ON l.seq = h.seq
		WHERE (h.seq > 0 AND (l.seq IS NULL OR l.hash <> h.hash)) OR h.seq <> (SELECT COALESCE(MAX(m.seq), 0) FROM ing_audit m)`)},
}
