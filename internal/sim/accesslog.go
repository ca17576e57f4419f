package sim

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"sync"
	"time"
)

// Entry is one line of the access log: what the provider says it was asked and what it sent. Bytes and hash are those
// of the whole body before compression, whether or not all of it was sent, so that they can be compared with what a
// client kept.
type Entry struct {
	ReceivedUS  int64  `json:"received_us"`
	Remote      string `json:"remote"`
	Method      string `json:"method"`
	Path        string `json:"path"`
	Query       string `json:"query"`
	Form        string `json:"form,omitempty"` // what was posted
	Referer     string `json:"referer,omitempty"`
	Correlation string `json:"correlation_id"`
	Status      int    `json:"status"` // 0 when no answer was sent
	Items       int    `json:"items"`
	Bytes       int    `json:"bytes"`
	SentBytes   int    `json:"sent_bytes"` // of the body on the wire
	SHA256      string `json:"sha256"`
	Cut         bool   `json:"cut"` // the client got less than the whole answer
	Fault       string `json:"fault,omitempty"`

	AnsweredUS   int64  `json:"answered_us"`              // when the answer began to leave
	RetryAfter   string `json:"retry_after,omitempty"`    // as it was sent
	RetryUntilUS int64  `json:"retry_until_us,omitempty"` // until when nothing more should come, where that can be understood
	OverLimit    bool   `json:"over_limit,omitempty"`     // refused because it came above the limit
}

// accessLog writes one line a request, each with a single Write. Safe for concurrent use.
type accessLog struct {
	mu sync.Mutex
	w  io.Writer
}

// add is called before the answer leaves, so that a client who has its answer finds the line in the log.
func (l *accessLog) add(c *call, a answer, answered time.Time) {
	if l.w == nil {
		return
	}
	line, err := json.Marshal(newEntry(c, a, answered))
	if err != nil {
		return // strings and numbers only: cannot happen
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = l.w.Write(append(line, '\n')) // a full disk must not change what the provider answers
}

func newEntry(c *call, a answer, answered time.Time) Entry {
	sum := sha256.Sum256(a.body)
	e := Entry{
		ReceivedUS: c.now.UnixMicro(), Remote: c.RemoteAddr, Method: c.Method,
		Path: c.URL.EscapedPath(), Query: c.URL.RawQuery, Form: c.posted, Referer: c.Header.Get("Referer"), Correlation: c.Header.Get("X-Ingest-Correlation-Id"),
		Status: a.status, Items: a.items, Bytes: len(a.body), SentBytes: len(a.wire),
		SHA256: hex.EncodeToString(sum[:]), Cut: a.cut(), Fault: string(a.fault),
		AnsweredUS: answered.UnixMicro(), RetryAfter: a.header.Get("Retry-After"), OverLimit: a.over,
	}
	if until := a.promised(answered); !until.IsZero() {
		e.RetryUntilUS = until.UnixMicro()
	}
	switch a.fault {
	case faultReset, faultHang:
		e.Status, e.SentBytes = 0, 0
	case faultCut, faultCutChunked, faultCutPlain:
		e.SentBytes = len(a.wire) / 2
	}
	return e
}
