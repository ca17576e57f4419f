package patra

import (
	"cmp"
	"fmt"
	"slices"
)

// HaltAfter is how many different windows of an endpoint fail in the same way, without one that succeeds between them, until the
// endpoint is halted. One strange answer, or a window that always has it, is no reason to stop all others.
const HaltAfter = 3

// IsStrange reports whether a fault is an answer that may be an accident of one moment or of one window, and that only a person can
// mend if it is more: a redirect, a body over a limit, a token or a page that comes again, a token that is refused, a whole body
// that cannot be believed at a place. It is asked for again as often as the source says; then the slice fails.
func (f *Fault) IsStrange() bool {
	switch f.Code {
	case CodeLoop, CodeTooLarge, CodeTooDeep, CodeTokenExpired, CodeLinkAway, CodeEncoding:
		return true
	case CodeBadBody: // without a place it is a body that was cut
		return f.Path != ""
	}
	return f.IsRedirect()
}

// IsRedirect reports whether a provider sends us elsewhere.
func (f *Fault) IsRedirect() bool {
	return f.Code == CodeHTTP && f.Status >= 300 && f.Status < 400
}

// SameWay reports whether two windows failed in the same way.
func (f *Fault) SameWay(other *Fault) bool {
	return other != nil && f.Code == other.Code && f.Path == other.Path && f.Status == other.Status
}

// FailedSlice is a slice that failed by a strange answer.
type FailedSlice struct {
	Plan   int64  `json:"plan"`
	Slice  int64  `json:"slice"`
	Window string `json:"window"` // what it answers for: SliceSpec.Signature
}

// mostFailed bounds how many slices a halt remembers: those that were under way when it came.
const mostFailed = 100

// RecordSliceFailure is the halt of an endpoint after a slice failed by a strange answer: the slices are counted by their windows, from
// the beginning where another fault came before, and the endpoint is halted with the last one that is needed.
func (c Control) RecordSliceFailure(s FailedSlice, f Fault) Control {
	if c.State == Halted { // it was under way when the halt came, and is to be queued again with the others
		if f.SameWay(c.Detail.Fault) && len(c.Detail.Failed) > 0 && len(c.Detail.Failed) < mostFailed {
			c.Detail.Failed = append(slices.Clone(c.Detail.Failed), s)
		}
		return c
	}
	var counted []FailedSlice
	if f.SameWay(c.Detail.Fault) {
		counted = slices.DeleteFunc(slices.Clone(c.Detail.Failed), func(other FailedSlice) bool { return other.Window == s.Window })
	}
	counted = append(counted, s)
	c.Detail.Failed, c.Detail.Fault, c.Failures = counted, &f, int64(len(counted))
	if len(counted) >= HaltAfter {
		c.State, c.Actor, c.Reason = Halted, "executor", fmt.Sprintf("%s; %d different windows failed in this way", f.Error(), len(counted))
	}
	return c
}

// RecordSliceSuccess is the halt of an endpoint after a slice succeeded: what failed before is not the endpoint.
func (c Control) RecordSliceSuccess() Control {
	if c.State != Halted {
		c.Detail.Failed, c.Detail.Fault, c.Failures = nil, nil, 0
	}
	return c
}

// counting reports whether slices of an endpoint have failed since the last that succeeded.
func (c *Control) counting() bool {
	return c.Kind == KindHalt && cmp.Or(c.State, Running) == Running && c.Failures > 0
}
