package patra

// SignalReason says why a record should be looked at again.
type SignalReason string

// The reasons.
const (
	SignalRetracted    SignalReason = "RETRACTED"
	SignalErratum      SignalReason = "ERRATUM"
	SignalMerged       SignalReason = "MERGED"
	SignalMissingField SignalReason = "MISSING_FIELD"
	SignalQuarantine   SignalReason = "QUARANTINE" // somebody wants to know whether it can be read now
	SignalRemap        SignalReason = "REMAP"
	SignalStale        SignalReason = "STALE"
	SignalManual       SignalReason = "MANUAL"
)

// SignalReasons are those that a person or a source may give.
var SignalReasons = []SignalReason{SignalRetracted, SignalErratum, SignalMerged, SignalMissingField, SignalRemap, SignalStale, SignalManual}

// Signal is a wish to look at one record again.
type Signal struct {
	ID     string       `json:"id"`
	Reason SignalReason `json:"reason"`
	By     string       `json:"by,omitempty"` // the record that says so
}

// The states of a signal.
const (
	SignalNew     Status = "NEW"
	SignalPlanned Status = "PLANNED"
	SignalDone    Status = "DONE"
	SignalFailed  Status = "FAILED"
)

// SignalMoves is the life of a signal.
var SignalMoves = StateMachine{SignalNew: {SignalPlanned}, SignalPlanned: {SignalDone, SignalFailed}}
