package patra

import (
	"slices"
	"time"
)

// AlertState is where an alert stands in its life.
type AlertState string

// The states. One that ends and comes back is another alert.
const (
	AlertPending  AlertState = "PENDING"  // it is so, but not for long enough yet; nobody is told
	AlertFiring   AlertState = "FIRING"   // it is so
	AlertResolved AlertState = "RESOLVED" // it was so
)

// missedLooks is after how many looks in a row without it an alert has ended. What comes and goes from look to look is one alert.
const missedLooks = 2

// unwatched is how long nobody may have looked before what is pending begins anew: nobody knows whether it was so in between.
const unwatched = 5 * time.Minute

// StoredAlert is an alert that is remembered.
type StoredAlert struct {
	ID int64 `json:"id,omitempty"` // 0: nobody remembers it, it is so now
	Alert
	State      AlertState           `json:"state"`
	FirstAt    Instant              `json:"first_at"`           // when it was first seen
	FiredAt    *Instant             `json:"fired_at,omitempty"` // since when people are told
	LastAt     Instant              `json:"last_at"`            // when it was last seen
	ResolvedAt *Instant             `json:"resolved_at,omitempty"`
	Ack        *AlertAck            `json:"ack,omitempty"`
	Silenced   bool                 `json:"silenced"` // somebody has acknowledged it, and that counts now
	Notices    []NotificationStatus `json:"notices,omitempty"`

	Missed int64 `json:"-"` // looks in a row at which it was not seen
}

// AlertAck is that somebody has seen an alert.
type AlertAck struct {
	By     string   `json:"by"`
	At     Instant  `json:"at"`
	Reason string   `json:"reason,omitempty"`
	Until  *Instant `json:"until,omitempty"` // none: until the alert ends
}

// Silences reports whether somebody has acknowledged an alert and that counts at a moment.
func (a *AlertAck) Silences(now Instant) bool { return a != nil && (a.Until == nil || *a.Until > now) }

// CarryOver is what is left of an acknowledgement when its alert comes back: with a time it counts until then, without one it was for
// the alert that has ended.
func (a *AlertAck) CarryOver(now Instant) *AlertAck {
	if a == nil || a.Until == nil || *a.Until <= now {
		return nil
	}
	return a
}

// AlertUpdate is what a look changes about one alert.
type AlertUpdate struct {
	StoredAlert
	Move AlertTransition
}

// AlertTransition is the change.
type AlertTransition string

// The moves.
const (
	AlertBegins   AlertTransition = "BEGINS"   // it is new
	AlertFires    AlertTransition = "FIRES"    // it has lasted long enough
	AlertLasts    AlertTransition = "LASTS"    // it is still so
	AlertMissing  AlertTransition = "MISSING"  // it was not seen this time
	AlertEnds     AlertTransition = "ENDS"     // it was not seen again
	AlertVanishes AlertTransition = "VANISHES" // it was pending, and is no more: nobody has heard of it
)

// JudgeAlerts brings what is known together with what was found at a look. Known are those that have not ended, one for a kind and
// target. Every known alert has one step, and so has every new one.
func JudgeAlerts(now Instant, known []StoredAlert, found []Alert) []AlertUpdate {
	type name struct {
		kind   AlertKind
		target string
	}
	seen := map[name]Alert{}
	for _, a := range found {
		seen[name{a.Kind, a.Target}] = a
	}
	var steps []AlertUpdate
	for _, k := range known {
		a, is := seen[name{k.Kind, k.Target}]
		delete(seen, name{k.Kind, k.Target})
		if is {
			steps = append(steps, k.again(now, a))
		} else {
			steps = append(steps, k.gone(now))
		}
	}
	for _, a := range found { // in their order
		if _, is := seen[name{a.Kind, a.Target}]; !is {
			continue
		}
		delete(seen, name{a.Kind, a.Target})
		steps = append(steps, begin(now, a))
	}
	return slices.Clip(steps)
}

func begin(now Instant, a Alert) AlertUpdate {
	h := StoredAlert{Alert: a, State: AlertPending, FirstAt: now, LastAt: now}
	if a.For > 0 {
		return AlertUpdate{h, AlertBegins}
	}
	h.State, h.FiredAt = AlertFiring, &now
	return AlertUpdate{h, AlertFires}
}

func (h StoredAlert) again(now Instant, a Alert) AlertUpdate {
	if h.State == AlertPending && now.Sub(h.LastAt) > max(a.For, unwatched) {
		h.FirstAt = now
	}
	h.Alert, h.LastAt, h.Missed = a, max(now, h.LastAt), 0
	if h.State == AlertPending && now > h.FirstAt && now.Sub(h.FirstAt) >= a.For {
		h.State, h.FiredAt = AlertFiring, &now
		return AlertUpdate{h, AlertFires}
	}
	return AlertUpdate{h, AlertLasts}
}

func (h StoredAlert) gone(now Instant) AlertUpdate {
	if h.State == AlertPending {
		return AlertUpdate{h, AlertVanishes}
	}
	h.Missed++
	if h.Missed < missedLooks {
		return AlertUpdate{h, AlertMissing}
	}
	h.State, h.ResolvedAt = AlertResolved, &now
	return AlertUpdate{h, AlertEnds}
}
