package patra

// The states of an item in quarantine.
const (
	Retrying  Status = "RETRYING"
	Resolved  Status = "RESOLVED"
	Discarded Status = "DISCARDED"
)

// QuarantineMoves is the life of an item that could not become a record. It is resolved by a record with its id, in
// whichever way that comes.
var QuarantineMoves = StateMachine{
	Open:     {Retrying, Discarded, Resolved},
	Retrying: {Resolved, Open, Discarded},
}

// QuarantineItem is an item in quarantine.
type QuarantineItem struct {
	ID         int64    `json:"id"`
	Source     string   `json:"source"`
	Type       string   `json:"record_type"`
	RecordID   string   `json:"record_id,omitempty"`
	Repository string   `json:"repository,omitempty"` // which of the providers behind the source it is of
	Code       string   `json:"code"`
	Path       string   `json:"path,omitempty"`
	Fragment   []byte   `json:"-"`
	Size       int64    `json:"bytes"`
	Status     Status   `json:"status"`
	Reason     string   `json:"reason,omitempty"` // of one that was discarded
	Met        int64    `json:"met"`              // how often it was met
	FirstSeen  Instant  `json:"first_seen"`
	LastSeen   Instant  `json:"last_seen"`
	BatchID    int64    `json:"batch_id"`
	Lineage    *Lineage `json:"lineage,omitempty"`
}

// MaxFragment is how many bytes of an item the quarantine keeps: no engine takes a row of any size. The kept answer has all of it.
const MaxFragment = 1 << 20

// FragmentOf is what the quarantine keeps of an item.
func FragmentOf(raw []byte) []byte { return raw[:min(len(raw), MaxFragment)] }

// Key is the same for the same item, whichever page it was on.
func (q RejectedItem) Key(source, recordType, repository string) string {
	about := []string{source, recordType, q.ID, q.Code, HashBytes(q.Fragment)}
	if repository != "" {
		about = append(about, repository)
	}
	return Hash(about)
}
