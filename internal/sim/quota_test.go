package sim_test

import (
	"net/http/httptest"
	"testing"
	"time"

	"patra/internal/sim"
)

func TestQuota(t *testing.T) {
	now := time.Date(2026, 5, 1, 23, 54, 0, 0, time.UTC)
	s := sim.New(sim.Config{Seed: 1, From: now.AddDate(0, 0, -3), To: now, PerDay: 5, Now: func() time.Time { return now }, Quota: sim.Quota{Limit: 3, Ahead: 5 * time.Minute}})
	ask := func() (status int, left, reset string) {
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/works?rows=1", nil))
		return w.Code, w.Header().Get("X-RateLimit-Remaining"), w.Header().Get("X-RateLimit-Reset")
	}
	for n, want := range []string{"2", "1", "0"} {
		if status, left, reset := ask(); status != 200 || left != want || reset != "60" {
			t.Errorf("request %d: %d, %s left, reset in %s", n+1, status, left, reset)
		}
	}
	for range 2 {
		if status, left, _ := ask(); status != 429 || left != "0" {
			t.Errorf("%d, %s left", status, left)
		}
	}
	now = now.Add(time.Minute) // midnight by its clock, which is ahead
	if status, left, reset := ask(); status != 200 || left != "2" || reset != "86400" {
		t.Errorf("the next day: %d, %s left, reset in %s", status, left, reset)
	}
	if st := s.Stats(); st.QuotaUsed != 3 || st.OverQuota != 2 {
		t.Errorf("%+v", st)
	}
}
