package storetest

import (
	"errors"
	"slices"
	"testing"

	"patra"
)

// tokens: who is let in can be found by the hash of their secret and by nothing else, and is out at once when they are shut out.
func tokens(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	ctx, now := t.Context(), patra.Date(2026, 11, 15)
	ada, err := w.CreateToken(ctx, now, patra.Token{Name: "ada", Rank: patra.Admin, Evidence: true, CreatedBy: "root", ExpiresAt: now + patra.Day}, patra.TokenHash("a"))
	w.must(err)
	bob, err := w.CreateToken(ctx, now, patra.Token{Name: "bob", Rank: patra.Viewer, CreatedBy: "ada", ExpiresAt: now + patra.Day}, patra.TokenHash("b"))
	w.must(err)
	if _, err := w.CreateToken(ctx, now, patra.Token{Name: "eve", Rank: patra.Admin, CreatedBy: "eve", ExpiresAt: now + patra.Day}, patra.TokenHash("b")); err == nil {
		t.Error("two have the same secret")
	}
	got, found, err := w.TokenOf(ctx, patra.TokenHash("a"))
	if w.must(err); !found || got != ada || !got.Evidence || got.CreatedAt != now {
		t.Errorf("found %v: %+v, gave %+v", found, got, ada)
	}
	if _, found, err := w.TokenOf(ctx, patra.TokenHash("c")); found || err != nil {
		t.Errorf("somebody has a secret that nobody was given: %v", err)
	}
	session, ok, err := w.OpenSession(ctx, now, patra.Token{Name: "ada", Rank: patra.Admin, Parent: ada.ID, CreatedBy: "ada", ExpiresAt: now + patra.Hour}, patra.TokenHash("s"))
	if w.must(err); !ok {
		t.Error("no session")
	}
	w.must(w.TouchToken(ctx, now+5, bob.ID))
	w.must(w.TouchToken(ctx, now+7, bob.ID)) // within the same minute
	all, err := w.Tokens(ctx)
	if w.must(err); len(all) != 2 || all[0].ID != bob.ID || all[0].LastUsedAt == nil || *all[0].LastUsedAt != now+5 {
		t.Errorf("the list is %+v", all)
	}
	out, err := w.RevokeToken(ctx, now+9, ada.ID, "bob", "left")
	if w.must(err); out.RevokedAt == nil || out.Valid(now) {
		t.Errorf("%+v", out)
	}
	if s, _, err := w.TokenByID(ctx, session.ID); err != nil || s.Valid(now) {
		t.Errorf("a session outlives its token: %+v, %v", s, err)
	}
	if b, _, err := w.TokenByID(ctx, bob.ID); err != nil || !b.Valid(now) || b.Valid(now+2*patra.Day) {
		t.Errorf("%+v, %v", b, err)
	}
	for _, id := range []int64{ada.ID, 999} {
		if _, err := w.RevokeToken(ctx, now, id, "bob", ""); !errors.Is(err, patra.ErrNotFound) {
			t.Errorf("token %d was taken back again: %v", id, err)
		}
	}
	if _, _, err := w.OpenSession(ctx, now+2*patra.Hour, patra.Token{Name: "bob", Rank: patra.Viewer, Parent: bob.ID, ExpiresAt: now + 3*patra.Hour}, patra.TokenHash("t")); err != nil {
		t.Fatal(err)
	}
	if _, found, err := w.TokenByID(ctx, session.ID); found || err != nil {
		t.Errorf("sessions that are over stay: %v", err)
	}
	// Two were given, one was taken back, and two signed in.
	if n, broken, err := w.VerifyAudit(ctx); n != 5 || broken != nil || err != nil {
		t.Errorf("%d lines in the log, %+v, %v", n, broken, err)
	}
}

// pulses: whatever happens is felt.
func pulses(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	before, err := w.ChangeToken(t.Context())
	w.must(err)
	written(t, w, 1)
	after, err := w.ChangeToken(t.Context())
	w.must(err)
	if topics := after.ChangedTopics(before); !slices.Contains(topics, patra.TopicAudit) || slices.Contains(topics, patra.TopicBatches) {
		t.Errorf("somebody did something, and %v changed", topics)
	}
}
