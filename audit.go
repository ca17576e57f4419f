package patra

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// AuditEntry is one line of the audit log: what somebody did, and why. Each line holds the hash of the one before it, so
// that a line that is changed, taken out, put in or moved does not fit any more.
type AuditEntry struct {
	Seq    int64           `json:"seq"`
	At     Instant         `json:"at"`
	Actor  string          `json:"actor"`
	Action AuditAction     `json:"action"`
	Target string          `json:"target"`
	Reason string          `json:"reason,omitempty"`
	Detail json.RawMessage `json:"detail"`
	Prev   string          `json:"prev_hash"`
	Hash   string          `json:"hash"`
}

// AuditAction is what was done.
type AuditAction string

// The actions.
const (
	AuditPause    AuditAction = "PAUSE"
	AuditResume   AuditAction = "RESUME"
	AuditCancel   AuditAction = "CANCEL"
	AuditWaive    AuditAction = "WAIVE"
	AuditRevoke   AuditAction = "REVOKE"  // a waiver was taken back
	AuditAccept   AuditAction = "ACCEPT"  // a dispute was settled
	AuditDispute  AuditAction = "DISPUTE" // and one was begun
	AuditReplay   AuditAction = "REPLAY"
	AuditRemap    AuditAction = "REMAP" // known records are to be read again
	AuditExport   AuditAction = "EXPORT"
	AuditOrphans  AuditAction = "ORPHANS" // blobs that nobody knew were deleted
	AuditGate     AuditAction = "GATE"    // a rate was lowered, a cooldown begun or ended
	AuditRewind   AuditAction = "REWIND"  // a sink is told again
	AuditRetry    AuditAction = "RETRY"   // what failed was queued again, or looked at again
	AuditPriority AuditAction = "PRIORITY"
	AuditDiscard  AuditAction = "DISCARD" // of what was set aside
	AuditSignal   AuditAction = "SIGNAL"  // records are to be fetched again
	AuditFill     AuditAction = "FILL"    // gaps are to be read
	AuditForget   AuditAction = "FORGET"  // a sink that is gone
	AuditReset    AuditAction = "RESET"   // an export begins anew
	AuditArchive  AuditAction = "ARCHIVE"
	AuditRestore  AuditAction = "RESTORE"
	AuditInspect  AuditAction = "INSPECT" // somebody looked at what a provider answered
	AuditToken    AuditAction = "TOKEN"   // somebody was let in, or shut out
	AuditPlan     AuditAction = "PLAN"    // work was asked for, by somebody who calls us
	AuditAck      AuditAction = "ACK"     // somebody has seen an alert
	AuditCertify  AuditAction = "CERTIFY" // a provider was asked whether it does what its source file says
)

// AuditActions are all of them.
var AuditActions = []AuditAction{AuditPause, AuditResume, AuditCancel, AuditWaive, AuditRevoke, AuditAccept, AuditDispute, AuditReplay, AuditRemap, AuditExport, AuditOrphans, AuditGate, AuditRewind, AuditRetry, AuditPriority, AuditDiscard, AuditSignal, AuditFill, AuditForget, AuditReset, AuditArchive, AuditRestore, AuditInspect, AuditToken, AuditPlan, AuditAck, AuditCertify}

// Bounds of what the columns hold.
const (
	maxActor  = 128
	maxTarget = 200
)

// Truncate is an entry whose texts fit the columns, and come back from them as they went in.
func (e AuditEntry) Truncate() AuditEntry {
	e.Actor, e.Target, e.Reason = cut(e.Actor, maxActor), cut(e.Target, maxTarget), strings.ToValidUTF8(e.Reason, "\ufffd")
	if len(e.Detail) == 0 {
		e.Detail = json.RawMessage("{}")
	}
	return e
}

// By is an entry that says by which token something was done; 0 is none.
func (e AuditEntry) By(token int64) (AuditEntry, error) {
	if token == 0 {
		return e, nil
	}
	detail := map[string]json.RawMessage{}
	if len(e.Detail) > 0 {
		if err := json.Unmarshal(e.Detail, &detail); err != nil {
			return e, err
		}
	}
	if detail == nil { // it said null
		detail = map[string]json.RawMessage{}
	}
	detail["token"] = json.RawMessage(strconv.FormatInt(token, 10))
	b, err := json.Marshal(detail)
	e.Detail = b
	return e, err
}

func cut(text string, most int) string {
	text = strings.ToValidUTF8(text, "?")
	return strings.ToValidUTF8(text[:min(len(text), most)], "")
}

// Sum is the hash of an entry: of all it says and of the one before it.
func (e AuditEntry) Sum() (string, error) {
	b, err := Canonical(map[string]any{"seq": e.Seq, "at": int64(e.At), "actor": e.Actor, "action": e.Action, "target": e.Target, "reason": e.Reason, "detail": e.Detail, "prev": e.Prev})
	return HashBytes(b), err
}

// AuditStart is what the first entry follows.
const AuditStart = "0000000000000000000000000000000000000000000000000000000000000000"

// AuditHead is the end of the log as its writers know it.
type AuditHead struct {
	Seq  int64
	Hash string
}

// AuditBreak is where the log does not hold together.
type AuditBreak struct {
	Seq int64  `json:"seq"`
	Why string `json:"why"`
}

// AuditChain follows the log from its beginning. The zero value is before the first entry.
type AuditChain struct {
	last AuditHead
}

// Verify takes the next entry, or says what is wrong with it.
func (c *AuditChain) Verify(e AuditEntry) *AuditBreak {
	want := c.last.Seq + 1
	if c.last.Seq == 0 {
		c.last.Hash = AuditStart
	}
	switch {
	case e.Seq > want:
		return &AuditBreak{want, fmt.Sprintf("entry %d is missing; the next one is %d", want, e.Seq)}
	case e.Seq < want:
		return &AuditBreak{e.Seq, fmt.Sprintf("entry %d is there twice", e.Seq)}
	case e.Prev != c.last.Hash:
		return &AuditBreak{e.Seq, "it does not follow the entry before it"}
	}
	if sum, err := e.Sum(); err != nil || sum != e.Hash {
		return &AuditBreak{e.Seq, "it says something else than when it was written"}
	}
	c.last = AuditHead{e.Seq, e.Hash}
	return nil
}

// End compares the end of what was followed with the end that the writers know.
func (c *AuditChain) End(head AuditHead) *AuditBreak {
	switch {
	case head.Seq > c.last.Seq:
		return &AuditBreak{c.last.Seq + 1, fmt.Sprintf("the last entries are missing: there should be %d", head.Seq)}
	case head.Seq < c.last.Seq:
		return &AuditBreak{head.Seq + 1, fmt.Sprintf("it was not written by this program: its last entry is %d", head.Seq)}
	case c.last.Seq > 0 && head.Hash != c.last.Hash:
		return &AuditBreak{c.last.Seq, "it is not the entry that was written last"}
	}
	return nil
}
