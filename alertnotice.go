package patra

import (
	"slices"
	"time"
)

// Receiver is somebody who is told of alerts, as far as it is a rule who is told what.
type Receiver struct {
	Name     string
	Severity Severity    // as grave as this, or graver; empty: all
	Kinds    []AlertKind // none: all
	Sources  []string    // none: all
	Repeat   time.Duration
}

// Wants reports whether a receiver is told of an alert. One who wants a source is told of what is about no source too: an idle
// queue is everybody's.
func (r Receiver) Wants(a Alert) bool {
	return (r.Severity == "" || a.Severity.AtLeast(r.Severity)) && (len(r.Kinds) == 0 || slices.Contains(r.Kinds, a.Kind)) &&
		(len(r.Sources) == 0 || a.Link.Source == "" || slices.Contains(r.Sources, a.Link.Source)) && a.Target != "receiver:"+r.Name
}

// NotificationKind is what a notice says about an alert.
type NotificationKind string

// The kinds of notices.
const (
	NoticeFired    NotificationKind = "FIRED"
	NoticeRepeat   NotificationKind = "REPEAT" // it is still so
	NoticeResolved NotificationKind = "RESOLVED"
)

// NotificationState is what became of a notice.
type NotificationState string

// The states of notices.
const (
	NoticeWaiting NotificationState = "WAITING" // for its turn, or for another attempt
	NoticeSent    NotificationState = "SENT"
	NoticeDropped NotificationState = "DROPPED" // it is of no use any more, or was tried for too long
)

// Notification is one message about one alert to one receiver. There is one of a kind and round for an alert and a receiver.
type Notification struct {
	ID       int64
	AlertID  int64
	Receiver string
	Kind     NotificationKind
	Round    int64 // of repeats: which one it is
	State    NotificationState
	Tries    int64
	SentAt   *Instant
	Error    string
}

// NotificationStatus is how far telling somebody has come.
type NotificationStatus struct {
	Receiver string            `json:"receiver"`
	Kind     NotificationKind  `json:"kind"`
	State    NotificationState `json:"state"`
	At       *Instant          `json:"at,omitempty"` // when it was sent
	Tries    int64             `json:"tries"`
	Error    string            `json:"last_error,omitempty"`
}

// ReceiverState is how a receiver stands.
type ReceiverState struct {
	Name     string   `json:"name"`
	Waiting  int64    `json:"waiting"`              // notices on their way to it
	Failures int64    `json:"failures"`             // attempts in vain for the one that is tried longest
	Error    string   `json:"last_error,omitempty"` // of the last of them
	FailedAt *Instant `json:"failed_at,omitempty"`  // since when it is tried
	SentAt   *Instant `json:"sent_at,omitempty"`    // when something arrived last
	Gone     bool     `json:"gone,omitempty"`       // it is not in the settings any more
}

// Notify says what is to be told after a step, to whom, and which notices nobody needs any more. told are the notices of the alert
// so far. Whoever was told that it fired, or may have been, is told that it is over; whoever never was is told nothing.
func (s AlertUpdate) Notify(now Instant, told []Notification, receivers []Receiver) (add []Notification, drop []int64) {
	if s.State == AlertPending || s.Move == AlertVanishes {
		return nil, nil
	}
	of := func(name string) (mine []Notification) {
		for _, n := range told {
			if n.Receiver == name {
				mine = append(mine, n)
			}
		}
		return mine
	}
	if s.Move == AlertEnds {
		for _, n := range told {
			if n.State == NoticeWaiting {
				drop = append(drop, n.ID)
			}
		}
		for _, r := range receivers {
			if slices.ContainsFunc(of(r.Name), func(n Notification) bool { return n.State == NoticeSent || n.Tries > 0 }) {
				add = append(add, Notification{AlertID: s.ID, Receiver: r.Name, Kind: NoticeResolved, State: NoticeWaiting})
			}
		}
		return add, drop
	}
	if s.Ack.Silences(now) {
		for _, n := range told {
			if n.State == NoticeWaiting && n.Tries == 0 {
				drop = append(drop, n.ID)
			}
		}
		return nil, drop
	}
	for _, r := range receivers {
		if !r.Wants(s.Alert) {
			continue
		}
		if n, due := r.next(now, of(r.Name)); due {
			n.AlertID, n.Receiver, n.State = s.ID, r.Name, NoticeWaiting
			add = append(add, n)
		}
	}
	return add, drop
}

// next is what a receiver is to be told of an alert that fires, given what it was told: that it does, once; and that it still does,
// every so often after the last time that it was really told.
func (r Receiver) next(now Instant, told []Notification) (Notification, bool) {
	var last *Notification
	round := int64(0)
	for i, n := range told {
		if n.State == NoticeWaiting {
			return Notification{}, false
		}
		round = max(round, n.Round)
		if n.SentAt != nil && (last == nil || *n.SentAt > *last.SentAt) {
			last = &told[i]
		}
	}
	switch {
	case len(told) == 0:
		return Notification{Kind: NoticeFired}, true
	case last == nil: // nothing arrived: somebody had acknowledged it, or it was tried for too long. It is as true as it was
		return Notification{Kind: NoticeFired, Round: round + 1}, true
	}
	return Notification{Kind: NoticeRepeat, Round: round + 1}, r.Repeat > 0 && now.Sub(*last.SentAt) >= r.Repeat
}
