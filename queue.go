package patra

// QueueState is how the queue of one operation at one endpoint stands.
type QueueState struct {
	Key       string           `json:"partition"`
	Source    string           `json:"source"`
	Endpoint  string           `json:"endpoint"`
	Operation Operation        `json:"operation"`
	Due       int64            `json:"due"`   // tasks that could run now
	Later     int64            `json:"later"` // tasks that are due later
	Running   int64            `json:"running"`
	Limit     int64            `json:"limit,omitempty"`   // of those that run, where fewer than usual may
	Capped    bool             `json:"capped"`            // there are more than the numbers say
	Oldest    *Instant         `json:"oldest,omitempty"`  // since when the oldest that is due is so
	NextAt    *Instant         `json:"next_at,omitempty"` // when the first of the later ones is due
	Waits     map[string]int64 `json:"waits"`             // why those at the head of the queue wait, by code
	Held      string           `json:"held,omitempty"`    // what holds all of them back: a code
}

// Queued is how many wait.
func (p QueueState) Queued() int64 { return p.Due + p.Later }
