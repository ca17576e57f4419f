package api

import (
	"context"
	"fmt"

	"patra"
)

// Permission is what it takes to call a route. The zero value lets nobody in, so that a route without a word about it is noticed.
type Permission struct {
	Rank     patra.TokenRole
	Evidence bool // the grant to see what providers answered, beside the rank
	Open     bool // anybody, also without a token: signing in
}

// The usual needs.
var (
	Look    = Permission{Rank: patra.Viewer}
	Steer   = Permission{Rank: patra.Operator}
	Govern  = Permission{Rank: patra.Admin}
	Inspect = Permission{Rank: patra.Viewer, Evidence: true}
)

// text reports whether a need says anything.
func (n Permission) text() bool { return n.Open || n.Rank != "" }

// String is what it takes, for people.
func (n Permission) String() string {
	switch {
	case n.Open:
		return "anybody"
	case n.Evidence:
		return fmt.Sprintf("%s with the grant evidence", n.Rank)
	}
	return string(n.Rank)
}

// Caller is who asks.
type Caller struct {
	Name     string          `json:"name"`
	Rank     patra.TokenRole `json:"role"`
	Evidence bool            `json:"evidence"`
	Token    int64           `json:"-"` // 0 without tokens
	Given    int64           `json:"-"` // the token that somebody was given: of a session it is its parent
	Session  bool            `json:"session"`
}

// May reports whether a caller has what it takes.
func (c Caller) May(n Permission) bool {
	return n.Open || n.Rank != "" && c.Rank.Includes(n.Rank) && (c.Evidence || !n.Evidence)
}

type callerKey struct{}

// CallerOf is who asks; the zero value, which may nothing, if nobody is known.
func CallerOf(ctx context.Context) Caller {
	c, _ := ctx.Value(callerKey{}).(Caller)
	return c
}

// withCaller remembers who asks, also for the audit log.
func withCaller(ctx context.Context, c Caller) context.Context {
	return patra.ActingBy(context.WithValue(ctx, callerKey{}, c), c.Name, c.Given)
}
