package invariants

// alerts is what is promised of what needed a person.
var alerts = []Invariant{
	{Text: "an alert is alive until it is over, and says when it fired and when it was over", Next: "Report this: two looks may have told of the same alert", look: none("alert", `SELECT id FROM ing_alert
		WHERE (state_code = 'RESOLVED') <> (live_key IS NULL) OR (state_code = 'RESOLVED') <> (resolved_at IS NOT NULL) OR (state_code = 'PENDING') <> (fired_at IS NULL)`)},
	{Text: "every notice is about an alert that fired, and says when it was sent", Next: "Report this: somebody was told of nothing", look: none("notice", `SELECT n.id FROM ing_alert_notice n LEFT JOIN ing_alert a ON a.id = n.alert_id
		WHERE a.id IS NULL OR a.fired_at IS NULL OR (n.state_code = 'SENT') <> (n.sent_at IS NOT NULL)`)},
}
