package patra

import "encoding/json"

// Healing is something that was done so that work goes on although something went wrong. Each is a row that people can
// find later.
type Healing struct {
	ID        int64           `json:"id"`
	TaskID    int64           `json:"task_id,omitempty"` // 0: it concerns more than one task
	RunID     int64           `json:"run_id,omitempty"`
	Source    string          `json:"source"`
	Endpoint  string          `json:"endpoint"`
	Operation Operation       `json:"operation,omitempty"`
	Action    string          `json:"action"`
	Reason    string          `json:"reason"` // the code of what went wrong
	Detail    json.RawMessage `json:"detail,omitempty"`
	At        Instant         `json:"at"`
}

// The healing actions.
const (
	HealRestart   = "RESTART"   // a scan began again from its first page
	HealRescan    = "RESCAN"    // a finished scan is read once more, because it proves nothing or something contradicts it
	HealReslice   = "RESLICE"   // a slice was left, and its rest is cut into smaller ones
	HealShrink    = "SHRINK"    // fewer records are asked for on a page
	HealBisect    = "BISECT"    // a refused batch of ids was halved
	HealAside     = "ASIDE"     // an id that cannot be fetched was put aside
	HealDownshift = "DOWNSHIFT" // fewer tasks of a partition run at the same time
	HealUpshift   = "UPSHIFT"   // and more of them again
	HealOpen      = "OPEN"      // a breaker keeps everybody from asking an endpoint for a while
	HealHalfOpen  = "HALF_OPEN" // one request may try whether it is well again
	HealClose     = "CLOSE"     // it is
	HealHalt      = "HALT"      // an endpoint stands still until a person lets it go on
	HealCooldown  = "COOLDOWN"  // the provider asked to be left alone for a while
	HealQuota     = "QUOTA"     // a quota is used up, and what needs it waits until it begins anew
)
