package cli

import (
	"errors"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"patra"
	"patra/internal/sim"
	"patra/internal/store/storetest"
)

// A harvest is killed with -9 again and again, while it uses up a quota, by processes whose clock is not the provider's. The
// ledger has every request that the provider counts, so the provider never has to refuse one, and the last process says
// that the quota is used up. The rest is kept in reserve.
func TestAQuotaSurvivesKills(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, e storetest.Engine) {
		t.Parallel()
		const monthly, usable = 120, 108
		s := &scene{killed: byToken, t: t, dir: t.TempDir(), url: e.URL(t), reached: make(chan struct{}, 1)}
		s.provider = sim.New(sim.Config{Seed: 13, From: killFrom, To: killTo, PerDay: killPerDay, Exact: true, Log: s, Faults: sim.Faults{Latency: 3 * time.Millisecond, CutBody: 0.02, Reset: 0.02},
			Quota: sim.Quota{Limit: monthly, Every: 1000 * 24 * time.Hour, Ahead: 4 * time.Minute}})
		server := httptest.NewServer(s.provider.Handler())
		t.Cleanup(server.Close)
		s.base = server.URL
		file := strings.Replace(byToken.file(t), "perSecond: 5000, burst: 100", "perSecond: 5000, burst: 100, quota: {hourly: 100000, monthly: 120}", 1)
		config := "contact: quota@example.org\nsources: {dir: .}\nexecutor: {workers: 4, lease: 5s, heartbeat: 1s, taskAttempts: 10}\nplanner: {probes: 0}\n"
		for name, text := range map[string]string{"crossref.yaml": file, "patra.yaml": config} {
			if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if out, err := s.patra("migrate").CombinedOutput(); err != nil {
			t.Fatalf("migrate: %v\n%s", err, out)
		}
		for range 3 {
			c, ended := s.startUntil(15)
			if err := c.Process.Kill(); err != nil {
				t.Fatalf("%v\n%s", err, c.Stderr)
			}
			<-ended
			s.atMost(e)
		}
		c := s.harvest()
		err := c.Run()
		if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != exitIncomplete || !strings.Contains(c.Stderr.(interface{ String() string }).String(), "begins anew at 20") {
			t.Errorf("%v\n%s", err, c.Stderr)
		}
		used := s.atMost(e)
		if used > usable || used < usable-4 {
			t.Errorf("%d of %d usable were used", used, usable)
		}
		storetest.CheckInvariants(t, storetest.Inspect(t, s.url))
	})
}

// atMost compares the ledger with what the provider counted, and tells what the ledger has.
func (s *scene) atMost(e storetest.Engine) int64 {
	s.t.Helper()
	all, err := e.Connect(s.t, s.url).QuotaOf(s.t.Context(), s.code)
	if err != nil {
		s.t.Fatal(err)
	}
	var used int64
	for _, u := range all {
		if u.Window == patra.QuotaMonth {
			used = max(used, u.Used)
		}
	}
	stats := s.provider.Stats()
	if stats.OverQuota > 0 || stats.QuotaUsed > used {
		s.t.Errorf("the provider counts %d, the ledger %d; %d were refused", stats.QuotaUsed, used, stats.OverQuota)
	}
	return used
}
