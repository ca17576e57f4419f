package invariants

// controls is what is promised of what holds work back.
var controls = []Invariant{
	{Text: "only a running task is asked to stop", Next: report, look: none("task", `SELECT id FROM ing_task WHERE cancel_requested = 1 AND status_code <> 'RUNNING'`)},
	{Text: "a breaker that is not closed knows how long", Next: release, look: none("control", `SELECT version FROM ing_control WHERE kind_code = 'BREAKER' AND state_code <> 'CLOSED' AND until_at IS NULL`)},
	{Text: "a control is in one of the states of its machine", Next: release, look: none("control", `SELECT version FROM ing_control
		WHERE (kind_code IN ('PAUSE', 'HALT') AND state_code NOT IN ('RUNNING', 'PAUSED', 'HALTED'))
		   OR (kind_code = 'BREAKER' AND state_code NOT IN ('CLOSED', 'OPEN', 'HALF_OPEN')) OR (kind_code = 'LIMIT' AND state_code NOT IN ('FREE', 'LIMITED'))
		   OR (kind_code = 'QUOTA' AND (state_code NOT IN ('FREE', 'USED_UP') OR (state_code = 'USED_UP' AND until_at IS NULL)))`)},
}
