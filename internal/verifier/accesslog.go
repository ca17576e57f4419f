package verifier

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"patra/internal/sim"
)

// seen is a request as the provider saw it, with what our ledger says of it.
type seen struct {
	id                        string
	received, answered, until int64 // until when nothing more should come; 0 if nothing was asked for
	status                    int
	retryAfter                string
	body                      mark
	cut                       bool

	known              bool
	acquired, finished int64 // by the ledger; 0 where it does not say
}

// accessLog is what a provider wrote down, in the order in which requests came.
type accessLog struct {
	requests []seen
	byID     map[string][]int32
	whole    map[mark]bool // bodies that were sent whole
	referers []string
}

func readAccessLog(files []string) (*accessLog, error) {
	l := &accessLog{byID: map[string][]int32{}, whole: map[mark]bool{}}
	for _, file := range files {
		if err := eachLine(file, func(line []byte) error {
			var e sim.Entry
			if err := json.Unmarshal(line, &e); err != nil {
				return fmt.Errorf("%s is not a log of requests: %w", file, err)
			}
			l.add(e)
			return nil
		}); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(l.requests, func(a, b seen) int { return int(min(max(a.received-b.received, -1), 1)) })
	for i, r := range l.requests {
		l.byID[r.id] = append(l.byID[r.id], int32(i))
	}
	return l, nil
}

func (l *accessLog) add(e sim.Entry) {
	r := seen{id: e.Correlation, received: e.ReceivedUS, answered: e.AnsweredUS, until: e.RetryUntilUS, status: e.Status, retryAfter: e.RetryAfter, cut: e.Cut}
	if sum, err := hex.DecodeString(e.SHA256); err == nil && len(sum) >= len(r.body) {
		r.body = mark(sum[:len(r.body)])
	}
	if !r.cut {
		l.whole[r.body] = true
	}
	l.requests = append(l.requests, r)
	if e.Referer != "" {
		l.referers = append(l.referers, e.Referer)
	}
}
