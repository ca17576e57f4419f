package patra_test

import (
	"testing"
	"time"

	"patra"
)

func TestWhoIsToldWhat(t *testing.T) {
	at := func(i patra.Instant) *patra.Instant { return &i }
	ops := patra.Receiver{Name: "ops", Severity: patra.SeverityWarning, Repeat: 4 * time.Hour}
	grave := patra.Alert{Kind: patra.AlertFailed, Severity: patra.SeverityWarning, Target: "demo", Link: patra.AlertLink{Source: "demo"}}
	for _, c := range []struct {
		name  string
		r     patra.Receiver
		a     patra.Alert
		wants bool
	}{
		{"as grave", ops, grave, true},
		{"less grave", ops, patra.Alert{Severity: patra.SeverityNotice}, false},
		{"graver", ops, patra.Alert{Severity: patra.SeverityCritical}, true},
		{"another kind", patra.Receiver{Kinds: []patra.AlertKind{patra.AlertHalted}}, grave, false},
		{"another source", patra.Receiver{Sources: []string{"other"}}, grave, false},
		{"of no source", patra.Receiver{Sources: []string{"other"}}, patra.Alert{Kind: patra.AlertIdle}, true},
		{"of itself", ops, patra.Alert{Severity: patra.SeverityCritical, Target: "receiver:ops"}, false},
	} {
		if c.r.Wants(c.a) != c.wants {
			t.Errorf("%s: %v", c.name, !c.wants)
		}
	}
	now := 10 * patra.Hour
	sent := func(ago patra.Instant) patra.Notification {
		return patra.Notification{ID: 7, Receiver: "ops", Kind: patra.NoticeFired, State: patra.NoticeSent, Tries: 1, SentAt: at(now - ago)}
	}
	ack := func(until *patra.Instant) *patra.AlertAck { return &patra.AlertAck{By: "ada", Until: until} }
	waiting := func(tries int64) patra.Notification {
		return patra.Notification{ID: 7, Receiver: "ops", Kind: patra.NoticeFired, State: patra.NoticeWaiting, Tries: tries}
	}
	for _, c := range []struct {
		name  string
		state patra.AlertState
		move  patra.AlertTransition
		ack   *patra.AlertAck
		told  []patra.Notification
		add   patra.NotificationKind // none if empty
		drop  bool
	}{
		{"it fires", patra.AlertFiring, patra.AlertFires, nil, nil, patra.NoticeFired, false},
		{"it lasts", patra.AlertFiring, patra.AlertLasts, nil, []patra.Notification{sent(patra.Hour)}, "", false},
		{"it lasts for long", patra.AlertFiring, patra.AlertLasts, nil, []patra.Notification{sent(4 * patra.Hour)}, patra.NoticeRepeat, false},
		{"the first message is still on its way", patra.AlertFiring, patra.AlertLasts, nil, []patra.Notification{waiting(3)}, "", false},
		{"a receiver that is new", patra.AlertFiring, patra.AlertLasts, nil, nil, patra.NoticeFired, false},
		{"it is over", patra.AlertResolved, patra.AlertEnds, nil, []patra.Notification{sent(patra.Hour)}, patra.NoticeResolved, false},
		{"it is over before anybody was told", patra.AlertResolved, patra.AlertEnds, nil, []patra.Notification{waiting(0)}, "", true},
		{"it is over, and whether they were told is not known", patra.AlertResolved, patra.AlertEnds, nil, []patra.Notification{waiting(1)}, patra.NoticeResolved, true},
		{"pending", patra.AlertPending, patra.AlertBegins, nil, nil, "", false},
		{"acknowledged", patra.AlertFiring, patra.AlertLasts, ack(nil), []patra.Notification{sent(9 * patra.Hour)}, "", false},
		{"acknowledged before it was told", patra.AlertFiring, patra.AlertLasts, ack(nil), []patra.Notification{waiting(0)}, "", true},
		{"acknowledged, and over: whoever was told is told", patra.AlertResolved, patra.AlertEnds, ack(nil), []patra.Notification{sent(patra.Hour)}, patra.NoticeResolved, false},
		{"acknowledged for a time that is over", patra.AlertFiring, patra.AlertLasts, ack(at(now)), []patra.Notification{sent(9 * patra.Hour)}, patra.NoticeRepeat, false},
		{"never told because of that", patra.AlertFiring, patra.AlertLasts, ack(at(now)), []patra.Notification{{ID: 7, Receiver: "ops", State: patra.NoticeDropped}}, patra.NoticeFired, false},
		{"given up, and it still fires", patra.AlertFiring, patra.AlertLasts, nil, []patra.Notification{{ID: 7, Receiver: "ops", State: patra.NoticeDropped, Tries: 90}}, patra.NoticeFired, false},
	} {
		s := patra.AlertUpdate{StoredAlert: patra.StoredAlert{ID: 3, Alert: grave, State: c.state, Ack: c.ack}, Move: c.move}
		add, drop := s.Notify(now, c.told, []patra.Receiver{ops})
		if (len(add) > 0) != (c.add != "") || len(add) > 0 && (add[0].Kind != c.add || add[0].AlertID != 3 || add[0].Receiver != "ops") || (len(drop) > 0) != c.drop {
			t.Errorf("%s: add %+v, drop %v", c.name, add, drop)
		}
	}
}
