package invariants

// quotas is what is promised of the quota ledger. That every request which was sent is in it cannot be seen from outside:
// a source may have had no quota when it was sent.
var quotas = []Invariant{
	{Text: "no quota is used beyond its limit", Next: report, look: none("quota that begins at", `SELECT window_start FROM ing_quota WHERE used_n > limit_n OR used_n < 0 OR usable_n > limit_n OR told_n > used_n`)},
	{Text: "a window of a quota begins before it ends", Next: redeem, look: none("quota that begins at", `SELECT window_start FROM ing_quota WHERE window_end <= window_start`)},
}
