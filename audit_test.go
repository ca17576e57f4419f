package patra_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"patra"
)

// A log of any entries holds together; a log of which anything was changed, taken out, doubled or moved does not, and the
// first entry that does not fit is named.
func TestAnAuditLogThatWasTouchedBreaks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "n")
		log := make([]patra.AuditEntry, 0, n)
		head := patra.AuditHead{Hash: patra.AuditStart}
		for i := range n {
			e := patra.AuditEntry{Seq: int64(i + 1), At: patra.Instant(rapid.Int64Range(0, 1<<50).Draw(t, "at")), Actor: rapid.String().Draw(t, "actor"), Action: patra.AuditPause,
				Target: rapid.String().Draw(t, "target"), Detail: fmt.Appendf(nil, `{"n":%d}`, i), Prev: head.Hash}.Truncate()
			sum, err := e.Sum()
			if err != nil {
				t.Fatal(err)
			}
			e.Hash = sum
			log, head = append(log, e), patra.AuditHead{Seq: e.Seq, Hash: sum}
		}
		if b := follow(log, head); b != nil {
			t.Fatalf("nobody touched it: %+v", b)
		}
		at := rapid.IntRange(0, n-1).Draw(t, "at")
		broken := append([]patra.AuditEntry(nil), log...)
		switch how := rapid.SampledFrom([]string{"actor", "target", "reason", "detail", "time", "gone", "twice", "moved", "rewritten"}).Draw(t, "how"); how {
		case "actor":
			broken[at].Actor += "x"
		case "target":
			broken[at].Target += "x"
		case "reason":
			broken[at].Reason += "x"
		case "detail":
			broken[at].Detail = []byte(`{"n":-1}`)
		case "time":
			broken[at].At++
		case "gone":
			broken = append(broken[:at], broken[at+1:]...)
		case "twice":
			broken = append(broken[:at+1], log[at:]...)
			at++
		case "rewritten": // with the hash that belongs to it, and the next entry made to follow it
			broken[at].Actor += "x"
			broken[at].Hash, _ = broken[at].Sum()
			if at+1 < n {
				at++
				broken[at].Prev = broken[at-1].Hash
			}
		case "moved":
			to := rapid.IntRange(0, n-1).Draw(t, "to")
			if to == at {
				return
			}
			broken[at], broken[to] = broken[to], broken[at]
			at = min(at, to)
		}
		b := follow(broken, head)
		if b == nil || b.Why == "" || b.Seq > int64(at+1) || b.Seq < int64(at) {
			t.Fatalf("found %+v, and it was entry %d", b, at+1)
		}
	})
}

func follow(log []patra.AuditEntry, head patra.AuditHead) *patra.AuditBreak {
	var c patra.AuditChain
	for _, e := range log {
		if b := c.Verify(e); b != nil {
			return b
		}
	}
	return c.End(head)
}

func TestAnEntrySaysByWhichToken(t *testing.T) {
	for detail, want := range map[string]string{"": `{"token":7}`, "null": `{"token":7}`, `{"given":"ada"}`: `{"given":"ada","token":7}`} {
		if e, err := (patra.AuditEntry{Detail: []byte(detail)}).By(7); err != nil || string(e.Detail) != want {
			t.Errorf("%q becomes %s, %v", detail, e.Detail, err)
		}
	}
	if e, err := (patra.AuditEntry{}).By(0); err != nil || e.Detail != nil {
		t.Errorf("without a token it is %s, %v", e.Detail, err)
	}
}
