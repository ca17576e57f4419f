package verifier

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"patra/internal/sim"
)

// seen is a request as the provider saw it, with what our ledger says of it.
type seen struct {
	id, path                  string
	received, answered, until int64 // until when nothing more should come; 0 if nothing was asked for
	status                    int
	retryAfter                string
	body                      mark
	cut                       bool

	known              bool
	key                string // what it shares a limit with, by the ledger; empty where it does not say
	acquired, finished int64  // by the ledger; 0 where it does not say
}

// accessLog is what a provider wrote down, in the order in which requests came.
type accessLog struct {
	requests []seen
	byID     map[string][]int32
	whole    map[mark]bool // bodies that were sent whole
	referers []string
}

// byKey are the requests of each limit, in the order in which they came. What one provider asks for and permits says
// nothing about another one, even if one log has both.
func (l *accessLog) byKey() map[string][]seen {
	all := map[string][]seen{}
	for _, r := range l.requests {
		key := r.key
		if key == "" { // it is in the archive, or nowhere; then the place that was asked tells providers apart
			first, _, _ := strings.Cut(strings.TrimPrefix(r.path, "/"), "/")
			key = "/" + first
		}
		all[key] = append(all[key], r)
	}
	return all
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
	r := seen{id: e.Correlation, path: e.Path, received: e.ReceivedUS, answered: e.AnsweredUS, until: e.RetryUntilUS, status: e.Status, retryAfter: e.RetryAfter, cut: e.Cut}
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
