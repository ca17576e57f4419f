package alert

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"patra"
	"patra/internal/schedule"
	"patra/internal/store"
	"patra/internal/store/storetest"
)

var all = store.ListPage{Limit: 100}

var here = patra.WorkScope{Source: "demo", Endpoint: "works", Operation: patra.Harvest}

// drama is how an alert of a kind comes about in a real store, and how somebody mends it.
type drama struct {
	kind      patra.AlertKind
	name      string
	days      int // that are planned
	spoil     func(s *scene)
	mend      func(s *scene)
	notBefore time.Duration // it must have lasted so long
	looks     int           // and after so many it must be told; 0 is three
}

// workAll reads all that is planned, so many records a day.
func (s *scene) workAll(records func(day int) int) {
	s.t.Helper()
	for {
		c := s.TryTake(patra.ClaimRequest{})
		if c == nil {
			return
		}
		day := int((c.Slice.Window.From - storetest.Origin) / patra.Day)
		var page []patra.Observation
		for i := range records(day) {
			page = append(page, s.Record(fmt.Sprint("10.5555/", day, "/", i), c.Slice.Window.From, "x"))
		}
		s.Page(c, 1, false, page...)
		s.must(s.Finish(s.t.Context(), c, s.Clock.Instant(), patra.RunResult{Status: patra.Succeeded, Proof: &patra.Proof{ScanNo: 1, IDsSeen: int64(len(page)), State: patra.StateSealed, Trust: patra.TrustNone}}))
	}
}

// failPages makes pages that fail, beside some that do not.
func (s *scene) failPages(good, bad int, fault patra.Fault) {
	s.t.Helper()
	for i := range good + bad {
		c := s.Take()
		s.pages++
		page, err := s.OpenAt(c, 1, 1, s.pages)
		s.must(err)
		now := s.Clock.Instant()
		if i < good {
			_, err = s.Commit(c, page, true)
		} else {
			_, err = s.FailPage(s.t.Context(), c, now, page, patra.PageFailure{Exchange: patra.Exchange{SentAt: now, FinishedAt: now, Status: fault.Status, Outcome: patra.OutcomeHTTPError, Level: fault.Level}, Fault: fault}, nil)
		}
		s.must(err)
		s.must(s.Finish(s.t.Context(), c, s.Clock.Instant(), patra.RunResult{Status: patra.Queued, GiveBack: true}))
	}
}

func resume(s *scene) {
	_, err := s.Resume(s.t.Context(), patra.Target{Scope: patra.ScopeSource, Key: "demo"}, "", "ada")
	s.must(err)
}

func never(day int) int { return 0 }

var dramas = []drama{
	{kind: patra.AlertHalted, name: "an endpoint is halted", days: 1, spoil: func(s *scene) {
		_, err := s.Halt(s.t.Context(), here, patra.Fault{Level: patra.LevelFatal, Code: patra.CodeAuth, Status: 401, Text: "who are you"})
		s.must(err)
	}, mend: resume, looks: 1},
	{kind: patra.AlertBreaker, name: "an endpoint does not answer", days: 1, spoil: func(s *scene) {
		for range 3 {
			_, err := s.RecordFailure(s.t.Context(), here, patra.BreakerRule{Failures: 3, Shortest: time.Minute, Longest: time.Minute}, patra.EndpointFailure{}, patra.Fault{Level: patra.LevelRetry, Code: patra.CodeHTTP, Status: 503, Text: "out of order"})
			s.must(err)
		}
	}, mend: resume, notBefore: 15 * time.Minute, looks: 40},
	{kind: patra.AlertFailed, name: "a task has failed", days: 1, spoil: func(s *scene) {
		s.must(s.Finish(s.t.Context(), s.Take(), s.Clock.Instant(), patra.RunResult{Status: patra.Failed, Fault: &patra.Fault{Level: patra.LevelRequest, Code: patra.CodeHTTP, Status: 400, Text: "no"}}))
	}, mend: func(s *scene) {
		_, err := s.Retry(s.t.Context(), s.Plan.ID)
		s.must(err)
	}, looks: 1},
	{kind: patra.AlertStalled, name: "a watermark stands before work", days: 3, spoil: func(s *scene) { s.pass(25 * time.Hour) }, mend: func(s *scene) { s.workAll(never) }, looks: 1},
	{kind: patra.AlertStalled, name: "a schedule does not fire", days: 1, spoil: func(s *scene) {
		// A daily schedule planned, and all was read; then it stopped firing.
		s.workAll(never)
		s.scheduled()
		s.workAll(never)
		for range 42 { // until twenty past two of the next day: nothing is wrong yet
			s.pass(20 * time.Minute)
			s.look()
		}
		if live := s.live(); len(live) > 0 {
			s.t.Errorf("it is not late yet: %+v", live)
		}
	}, mend: func(s *scene) { s.scheduled(); s.workAll(never) }, looks: 60, notBefore: 8 * time.Minute},
	{kind: patra.AlertErrors, name: "many pages fail", days: 30, spoil: func(s *scene) {
		s.each = func() {
			s.failPages(9, 1, patra.Fault{Level: patra.LevelRetry, Code: patra.CodeHTTP, Status: 503, Text: "out of order"})
		}
	}, mend: func(s *scene) { s.each = nil }, notBefore: 10 * time.Minute, looks: 30},
	{kind: patra.AlertThrottled, name: "we are asked to slow down", days: 30, spoil: func(s *scene) {
		s.each = func() {
			s.failPages(9, 1, patra.Fault{Level: patra.LevelRetry, Code: patra.CodeRateLimited, Status: 429, Text: "slow down"})
		}
	}, mend: func(s *scene) { s.each = nil }, notBefore: 5 * time.Minute, looks: 20},
	{kind: patra.AlertSurge, name: "a queue is far longer than usual", days: 2, spoil: func(s *scene) {
		for range 14 { // more than two hours, every ten minutes
			s.look()
			s.pass(10 * time.Minute)
		}
		s.AddPlan("demo", "works", 200, 5)
	}, mend: func(s *scene) { s.workAll(never) }, notBefore: 10 * time.Minute, looks: 25},
	{kind: patra.AlertIdle, name: "nobody takes what is due", days: 1, spoil: func(s *scene) { s.pass(6 * time.Minute) }, mend: func(s *scene) { s.Take() }, looks: 1},
	{kind: patra.AlertIdle, name: "nobody takes a plan", days: 60, spoil: func(s *scene) {
		s.AddPlan("other", "works", 1, 5)
		s.each = func() {
			s.must(s.Finish(s.t.Context(), s.takeOf("demo"), s.Clock.Instant(), patra.RunResult{Status: patra.Queued, GiveBack: true}))
		} // others are worked on
		s.pass(31 * time.Minute)
	}, mend: func(s *scene) { s.takeOf("other") }, looks: 2},
	{kind: patra.AlertQuota, name: "a quota is nearly used up", days: 1, spoil: func(s *scene) {
		s.must(s.ChargeQuota(s.t.Context(), "demo", patra.QuotaLimit{Daily: 1000, Zone: "Etc/UTC"}, patra.QuotaCharge{Cost: 950, Operation: patra.Harvest, Share: 1}))
	}, mend: func(s *scene) { s.pass(13 * time.Hour); s.reclaim() }, looks: 1},
	{kind: patra.AlertQuota, name: "a quota is used up", days: 1, spoil: func(s *scene) {
		now := s.Clock.Instant()
		_, err := s.QuotaExhausted(s.t.Context(), here, patra.QuotaError{Key: "demo", Window: patra.QuotaHour, From: now, Reset: now + patra.Hour, Again: now + patra.Hour, At: now, Used: 10, Usable: 10, Limit: 10, Operation: patra.Harvest, Hard: true})
		s.must(err)
	}, mend: func(s *scene) { s.pass(2 * time.Hour); s.reclaim() }, looks: 1},
	{kind: patra.AlertDisputed, name: "a provider counts differently", days: 1, spoil: func(s *scene) {
		c := s.Take()
		s.Page(c, 1, false)
		s.must(s.Succeed(c, patra.StateDisputed))
	}, mend: func(s *scene) {
		answers, err := s.CoverageEntries(s.t.Context(), s.Cursor.ID)
		s.must(err)
		s.must(s.ResolveDispute(s.t.Context(), s.Cursor.ID, []int64{answers[0].ID}, patra.CoverageNote{At: s.Clock.Instant(), By: "ada", From: patra.StateDisputed, To: patra.StateSealed, Reason: "withdrawn"}))
	}, looks: 1},
	{kind: patra.AlertDisputed, name: "behind a hole", days: 3, spoil: func(s *scene) { disputeBehindAHole(s) }, mend: func(s *scene) {
		answers, err := s.CoverageEntries(s.t.Context(), s.Cursor.ID)
		s.must(err)
		for _, a := range answers {
			s.must(s.ResolveDispute(s.t.Context(), s.Cursor.ID, []int64{a.ID}, patra.CoverageNote{At: s.Clock.Instant(), By: "ada", From: patra.StateDisputed, To: patra.StateSealed, Reason: "withdrawn"}))
		}
	}, looks: 1},
	{kind: patra.AlertPlan, name: "a plan cannot be cut", days: 1, spoil: func(s *scene) {
		s.workAll(never)
		p := s.StartPlanFor(s.Cursor, storetest.Day(1))
		c, _, _, err := s.Need(s.t.Context(), s.Cursor.ID)
		s.must(err)
		s.must(s.AddSlices(s.t.Context(), s.Clock.Instant(), p.ID, c.PlanVersion, nil, patra.TriggerManual, 1))
		s.must(s.EndSlicing(s.t.Context(), p.ID, patra.SlicingEnd{Status: patra.Failed, Reason: "DEPTH"}))
	}, mend: func(s *scene) {
		_, err := s.Waive(s.t.Context(), s.Clock.Instant(), patra.Waiver{CursorID: s.Cursor.ID, Window: storetest.Day(1), Reason: "too deep", By: "ada"})
		s.must(err)
	}, looks: 1},
	{kind: patra.AlertRefused, name: "a backfill is refused at every fire", days: 1, spoil: func(s *scene) { s.refused(patra.Backfill, 3) }, mend: func(s *scene) { s.scheduled() }, looks: 1},
	{kind: patra.AlertRefused, name: "an update is refused once", days: 1, spoil: func(s *scene) { s.refused(patra.Update, 1) }, mend: func(s *scene) { s.scheduled() }, looks: 1},
	{kind: patra.AlertVolume, name: "a day has far fewer records", days: 36, spoil: func(s *scene) {
		s.workAll(func(day int) int {
			if day == 35 {
				return 1
			}
			return 30
		})
	}, mend: func(s *scene) {
		s.Add(storetest.Stretch(storetest.Day(36)))
		s.workAll(func(int) int { return 31 })
	}, looks: 1},
	{kind: patra.AlertQuarantine, name: "much is no record", days: 1, spoil: func(s *scene) {
		c := s.Take()
		page, err := s.OpenAt(c, 1, 1, 1)
		s.must(err)
		var records []patra.Observation
		for i := range 100 {
			records = append(records, s.Record(fmt.Sprint(i), storetest.Origin, "x"))
		}
		result := s.Result(true, records...)
		for i := range 10 {
			result.Quarantined = append(result.Quarantined, patra.RejectedItem{ItemNo: 200 + i, ID: fmt.Sprint("bad", i), Code: patra.CodeMissingID, Path: "$.id", Fragment: []byte(`{}`)})
		}
		_, _, err = s.CommitPage(s.t.Context(), c, s.Clock.Instant(), "work", page, result, nil)
		s.must(err)
	}, mend: func(s *scene) { s.pass(25 * time.Hour); s.reclaim() }, looks: 1},
	{kind: patra.AlertSink, name: "events do not arrive", days: 1, spoil: func(s *scene) { s.sink(patra.SinkHealth{Failures: 3, LastError: "refused"}) }, mend: func(s *scene) { s.sink(patra.SinkHealth{}) }, looks: 1},
}

// refused are fires of the schedule daily that came to nothing.
func (s *scene) refused(op patra.Operation, times int) {
	s.t.Helper()
	for range times {
		s.pass(time.Minute)
		now := s.Clock.Instant()
		id, err := s.AcceptTrigger(s.t.Context(), now, patra.Trigger{Scheduler: patra.SchedulerCron, JobID: "daily", LogID: store.NewOwner(), Trigger: patra.TriggerScheduled, TriggeredAt: now, Params: json.RawMessage(`{}`), Source: "demo", Endpoint: "works", Operation: op})
		s.must(err)
		s.must(s.RejectTrigger(s.t.Context(), id, json.RawMessage(`{"error":"the secret demo-key is not set"}`)))
	}
}

// disputeBehindAHole fails the first day and disputes all others.
func disputeBehindAHole(s *scene) {
	s.t.Helper()
	for c := s.TryTake(patra.ClaimRequest{}); c != nil; c = s.TryTake(patra.ClaimRequest{}) {
		if c.Slice.Window.From == s.Cursor.Origin {
			s.must(s.Finish(s.t.Context(), c, s.Clock.Instant(), patra.RunResult{Status: patra.Failed, Fault: &patra.Fault{Level: patra.LevelRequest, Code: patra.CodeHTTP, Status: 400, Text: "no"}}))
			continue
		}
		s.Page(c, 1, false)
		s.must(s.Succeed(c, patra.StateDisputed))
	}
}

// sink writes down how sending to a sink went.
func (s *scene) sink(notes patra.SinkHealth) {
	s.t.Helper()
	s.must(s.EnsureSink(s.t.Context(), "feed", false))
	role, ok, err := s.AcquireLease(s.t.Context(), patra.RelayLease("feed"), "relay", time.Minute)
	s.must(err)
	if !ok {
		s.t.Fatal("the sink is taken")
	}
	s.must(s.MarkSent(s.t.Context(), &role, "feed", patra.DeliveryResult{Notes: notes}))
	s.must(s.ReleaseLease(s.t.Context(), role))
}

// reclaim takes the role again after a time that was longer than the lease.
func (s *scene) reclaim() {
	s.t.Helper()
	s.must(s.ReleaseLease(s.t.Context(), s.role))
	s.take()
}

// takeOf takes a task of a source.
func (s *scene) takeOf(source string) *patra.Claim {
	s.t.Helper()
	cursors, err := s.Cursors(s.t.Context(), store.Filter{Source: source, Limit: 1})
	s.must(err)
	c := s.TryTake(patra.ClaimRequest{CursorID: cursors[0].ID})
	if c == nil {
		s.t.Fatalf("nothing of %s to take", source)
	}
	return c
}

// fires are those of the schedule daily: two o'clock.
func (s *scene) fires(name string, before patra.Instant) (patra.Instant, bool) {
	cron, err := schedule.Parse("0 2 * * *")
	s.must(err)
	at, ok := cron.Last(before)
	return at, ok && name == "daily"
}

// scheduled plans by the schedule daily, as a planner would at this moment, from the watermark on.
func (s *scene) scheduled() {
	s.t.Helper()
	ctx, now := s.t.Context(), s.Clock.Instant()
	at := s.Watermark().Value
	d := patra.PlanWindow(patra.WindowInputs{Operation: patra.Harvest, Now: now, SafetyLag: 10 * time.Minute, Cursor: &at, Began: &at, Mode: patra.ModeCalendar, Align: patra.UnitDay})
	inputs, err := json.Marshal(d)
	s.must(err)
	id, err := s.AcceptTrigger(ctx, now, patra.Trigger{Scheduler: patra.SchedulerCron, JobID: "daily", LogID: store.NewOwner(), Trigger: patra.TriggerScheduled, TriggeredAt: now, Params: json.RawMessage(`{}`), Source: "demo", Endpoint: "works", Operation: patra.Harvest})
	s.must(err)
	p := s.Plan
	p.ID, p.InstanceID, p.Window, p.Inputs = 0, id, d.Window, inputs
	p.Key = patra.PlanKey(p)
	p, err = s.StartPlan(ctx, now, p, patra.Snapshot{Fingerprint: p.Spec, Source: "demo", Endpoint: "works", Operation: patra.Harvest, Body: []byte(`{"v":1}`)})
	s.must(err)
	c, _, _, err := s.Need(ctx, s.Cursor.ID)
	s.must(err)
	s.must(s.AddSlices(ctx, now, p.ID, c.PlanVersion, []patra.Slice{storetest.Stretch(d.Window)}, patra.TriggerScheduled, 5))
	s.must(s.EndSlicing(ctx, p.ID, patra.SlicingEnd{Status: patra.Ready}))
}

// Every kind of alert comes about in a real store, is told to a real receiver after it has lasted as long as it must and not before,
// and when it is mended that is told too; once each.
func TestEveryKindFiresAndRecovers(t *testing.T) {
	met := map[patra.AlertKind]bool{}
	for _, d := range dramas {
		met[d.kind] = true
		t.Run(string(d.kind)+" "+d.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, d.days)
			s.watch.Fires = s.fires
			s.look()
			for _, a := range s.live() {
				if a.Kind == d.kind && a.State == patra.AlertFiring {
					t.Fatalf("it is there before it happened: %+v", a)
				}
			}
			d.spoil(s)
			s.inbox.take()
			item, took := s.until(patra.NoticeFired, d.kind, d.looks)
			if took < d.notBefore {
				t.Errorf("told after %s, which is too soon", took)
			}
			if item.Said == "" || item.Next == "" || item.ID == 0 || item.FiredAt == nil {
				t.Errorf("%+v", item)
			}
			d.mend(s)
			over, _ := s.until(patra.NoticeResolved, d.kind, 40)
			if over.ID != item.ID || over.EndedAt == nil {
				t.Errorf("%+v after %+v", over, item)
			}
			past, err := s.AlertHistory(t.Context(), all)
			if err != nil || len(past) == 0 {
				t.Errorf("%+v, %v", past, err)
			}
			for range 3 {
				s.look()
			}
			for _, m := range s.inbox.take() {
				for _, i := range m.Items {
					if i.ID == item.ID {
						t.Errorf("told again: %+v", i)
					}
				}
			}
		})
	}
	for _, k := range patra.AlertKinds {
		if !met[k] {
			t.Errorf("nobody has seen %s fire and recover", k)
		}
	}
}

// A provider that does not know us any more fails a task and halts the endpoint. That is one cause, and one alert; a task that
// failed for a reason of its own has its own.
func TestAHaltAndTheTaskThatMetItAreOneAlert(t *testing.T) {
	s := newScene(t, 3)
	met, other := s.Take(), s.Take()
	fault := patra.Fault{Level: patra.LevelFatal, Code: patra.CodeAuth, Status: 401, Text: "who are you"}
	_, err := s.Halt(t.Context(), here, fault)
	s.must(err)
	s.must(s.Finish(t.Context(), met, s.Clock.Instant(), patra.RunResult{Status: patra.Failed, Fault: &fault}))
	kinds := func() (all []patra.AlertKind) {
		s.look()
		for _, a := range s.live() {
			all = append(all, a.Kind)
		}
		return all
	}
	if now := kinds(); len(now) != 1 || now[0] != patra.AlertHalted {
		t.Errorf("one refusal is told as %v", now)
	}
	own := patra.Fault{Level: patra.LevelRequest, Code: patra.CodeHTTP, Status: 400, Text: "no"}
	s.must(s.Finish(t.Context(), other, s.Clock.Instant(), patra.RunResult{Status: patra.Failed, Fault: &own}))
	if now := kinds(); len(now) != 2 {
		t.Errorf("a refusal and a failure are told as %v", now)
	}
	if w, err := s.FailedBeside(t.Context(), "demo"); err != nil || w.Count != 1 || w.Last.ID != other.TaskID || w.Fault.Status != 400 {
		t.Errorf("%+v, %v", w, err)
	}
	if w, err := s.FailedOf(t.Context(), "demo"); err != nil || w.Count != 2 {
		t.Errorf("%+v, %v", w, err)
	}
}
