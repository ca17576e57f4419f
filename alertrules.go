package patra

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// AlertRules is when something is worth a person's time.
type AlertRules struct {
	BreakerFor      time.Duration // how long an endpoint may not answer
	StalledFor      time.Duration // how long a watermark may stand that has work before it
	Lag             time.Duration // how long after the fire of its schedule a watermark may still not be there
	ErrorShare      float64       // of the pages, that may fail
	ErrorFor        time.Duration
	ThrottleShare   float64 // of the pages, at which a provider may ask us to slow down
	ThrottleFor     time.Duration
	LeastPages      int64         // fewer say nothing
	QuarantineShare float64       // of what comes
	QuarantineItems int64         // fewer say nothing
	NobodyFor       time.Duration // how long tasks may be due before somebody takes one
	PlanFor         time.Duration // how long a plan may be ready before somebody takes some of it
	SinkFailures    int64         // in a row
	QuotaLeft       float64       // of what is usable: less is worth a word
	SurgeSigmas     float64       // beyond the mean of a day
	SurgeLeast      int64         // and so many tasks more than the mean, at least
	SurgeSamples    int64         // fewer say nothing
	SurgeFor        time.Duration
	VolumeSpread    float64 // how many times the usual spread a day may be away from such days
	VolumeLeast     int64   // and so many records, at least
	VolumeDays      int     // fewer such days say nothing

	Off     []AlertKind            // nobody wants to know
	Sources map[string]SourceRules // where a source has rules of its own
}

// SourceRules are those of one source; a zero value is the rule of all.
type SourceRules struct {
	Lag             time.Duration
	ErrorShare      float64
	ThrottleShare   float64
	QuarantineShare float64
	Off             []AlertKind // beside those that are off everywhere
}

// DefaultAlertRules are those of whoever says nothing.
var DefaultAlertRules = AlertRules{
	BreakerFor: 15 * time.Minute, StalledFor: 24 * time.Hour, Lag: 30 * time.Minute,
	ErrorShare: 0.05, ErrorFor: 10 * time.Minute, ThrottleShare: 0.05, ThrottleFor: 5 * time.Minute, LeastPages: 20,
	QuarantineShare: 0.05, QuarantineItems: 100, NobodyFor: 5 * time.Minute, PlanFor: 30 * time.Minute, SinkFailures: 3, QuotaLeft: 0.10,
	SurgeSigmas: 3, SurgeLeast: 100, SurgeSamples: 12, SurgeFor: 10 * time.Minute, VolumeSpread: 5, VolumeLeast: 20, VolumeDays: 4,
}

// For are the rules of a source.
func (r AlertRules) For(source string) AlertRules {
	own, ok := r.Sources[source]
	if !ok {
		return r
	}
	r.Lag, r.ErrorShare, r.ThrottleShare, r.QuarantineShare = cmp.Or(own.Lag, r.Lag), cmp.Or(own.ErrorShare, r.ErrorShare), cmp.Or(own.ThrottleShare, r.ThrottleShare), cmp.Or(own.QuarantineShare, r.QuarantineShare)
	r.Off = append(slices.Clone(r.Off), own.Off...)
	return r
}

// twoLooks is what must be so at two looks, however soon they follow each other.
const twoLooks = time.Microsecond

// Alerts are what needs a person, the gravest and oldest first. There is at most one of a kind for a target.
func (r AlertRules) Alerts(f AlertFacts) []Alert {
	all := []Alert{}
	add := func(a *Alert) {
		if a != nil && !slices.Contains(r.For(a.Link.Source).Off, a.Kind) {
			all = append(all, *a)
		}
	}
	for _, c := range f.Controls {
		add(r.control(c, f.Now))
	}
	for _, w := range f.Failed {
		add(r.failed(w))
	}
	for _, p := range f.Broken {
		add(brokenPlan(p))
	}
	for _, s := range f.Schedules {
		if haltOf(f.Controls, s) == nil { // else the halt says it: one cause is one alert
			add(refused(s))
		}
	}
	for _, p := range f.Pages {
		add(r.For(p.Source).errors(p))
		add(r.For(p.Source).throttled(p))
	}
	for _, c := range f.Cursors {
		add(r.disputed(c))
		add(r.For(c.Cursor.Source).stalled(c, f.Now))
	}
	for _, v := range f.Volumes {
		add(r.volume(v))
	}
	for _, q := range f.Quarantined {
		add(r.For(q.Source).quarantined(q))
	}
	for _, s := range f.Sinks {
		add(r.sink(s))
	}
	for _, s := range f.Receivers {
		add(r.receiver(s))
	}
	for _, c := range f.Crowds {
		add(r.surge(c, f.Queue))
	}
	for _, u := range f.Quotas {
		if !usedUp(f.Controls, u.Key, f.Now) {
			add(r.quota(u, f.Now))
		}
	}
	nobody := r.idle(f)
	add(nobody)
	for _, p := range f.Plans {
		if nobody == nil { // else it is one of many
			add(r.untouched(p, f))
		}
	}
	slices.SortStableFunc(all, func(a, b Alert) int {
		return cmp.Or(cmp.Compare(slices.Index(Severities, a.Severity), slices.Index(Severities, b.Severity)), compareSince(a.Since, b.Since), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Target, b.Target))
	})
	seen := map[[2]string]bool{}
	return slices.DeleteFunc(all, func(a Alert) bool { // a provider may have two quotas of one name, and a place two controls
		key := [2]string{string(a.Kind), a.Target}
		twice := seen[key]
		seen[key] = true
		return twice
	})
}

// compareSince puts what has no beginning behind what has one.
func compareSince(a, b *Instant) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
	}
	return cmp.Compare(*a, *b)
}

func (r AlertRules) control(c Control, now Instant) *Alert {
	a := Alert{Target: c.Target.String(), Link: AlertLink{Source: c.WorkScope().Source}, Next: "patra resume " + ShellWord(c.Target.String())}
	if c.Detail.Since != 0 {
		since := c.Detail.Since
		a.Since = &since
	}
	switch {
	case c.Kind == KindHalt && c.State == Halted:
		a.Kind, a.Severity, a.Said, a.Next = AlertHalted, SeverityCritical, fmt.Sprintf("%s is halted, because only a person can mend this: %s", c.Target, ended(c.Reason)), "mend that, then "+a.Next
	case c.Kind == KindBreaker && (c.State == Open || c.State == HalfOpen) && c.Detail.Trips > 0 && now.Sub(c.Detail.Since) >= r.BreakerFor:
		a.Kind, a.Severity, a.Said = AlertBreaker, SeverityWarning, fmt.Sprintf("%s does not answer (%s); it is tried again at %s.", c.Target, strings.TrimRight(c.Reason, "."), c.Until)
		a.Next = "wait, or look whether the provider tells of a disturbance; " + a.Next + " lets everybody try"
	case c.Kind == KindQuota && c.State == UsedUp && c.Until > now:
		a.Kind, a.Severity, a.Said = AlertQuota, SeverityNotice, fmt.Sprintf("A quota of %s is used up; it goes on by itself at %s.", c.Target, c.Until)
		a.Next = "wait; if the provider permits more, write that into the source, and " + a.Next
	default:
		return nil
	}
	return &a
}

func (r AlertRules) failed(w FailedWork) *Alert {
	if w.Count == 0 {
		return nil
	}
	many := number(w.Count, "task has failed", "tasks have failed")
	if w.Capped {
		many = "more than " + many
	}
	a := Alert{Kind: AlertFailed, Severity: SeverityWarning, Target: w.Source, Since: w.At, Link: AlertLink{Source: w.Source, Plan: w.Last.PlanID, Task: w.Last.ID},
		Said: fmt.Sprintf("%s: %s.", w.Source, many), Next: fmt.Sprintf("patra why %d, then patra retry %s", w.Last.ID, w.Source)}
	if w.Fault != nil {
		a.Said = fmt.Sprintf("%s: %s, the last of them with %s", w.Source, many, ended(w.Fault.Error()))
	}
	return &a
}

// brokenPlan is about a plan of which nothing can be read: it has no task that could fail.
func brokenPlan(p Plan) *Alert {
	why := ""
	if p.Reason != "" {
		why = " (" + p.Reason + ")"
	}
	since := p.CreatedAt
	a := &Alert{Kind: AlertPlan, Severity: SeverityWarning, Target: WorkTarget(ScopePlan, p.ID).String(), Since: &since, Link: AlertLink{Source: p.Source, Plan: p.ID, Cursor: p.CursorID},
		Said: fmt.Sprintf("Plan %d of %s failed%s: nothing was read of what it was made for.", p.ID, Partition(p.Source, p.Endpoint, p.Operation), why), Next: "patra coverage gaps " + p.Source}
	if p.CursorID == 0 {
		a.Next = "patra plans --source " + p.Source + ", then ask for it again with --force"
	}
	return a
}

// refused is about a schedule that plans nothing, of whichever operation.
func refused(s ScheduleState) *Alert {
	if s.Refused == 0 {
		return nil
	}
	return &Alert{Kind: AlertRefused, Severity: SeverityWarning, Target: "schedule:" + s.Name, Since: s.Since, Link: AlertLink{Source: s.Source}, Said: s.Refusal(), Next: s.RefusalNext()}
}

// haltOf is the halt that refuses a schedule.
func haltOf(controls []Control, s ScheduleState) *Control {
	for _, c := range controls {
		if at := c.WorkScope(); c.Kind == KindHalt && c.State == Halted && at.Source == s.Source && (s.Endpoint == "" || at.Endpoint == "" || at.Endpoint == s.Endpoint) {
			return &c
		}
	}
	return nil
}

// over reports whether a part of some pages is more than a share, and whether there are enough to say so.
func (r AlertRules) over(part, pages int64, share float64) bool {
	return pages >= r.LeastPages && float64(part) > share*float64(pages)
}

func (r AlertRules) errors(p PageShare) *Alert {
	if !r.over(p.Errors, p.Pages, r.ErrorShare) {
		return nil
	}
	return &Alert{Kind: AlertErrors, Severity: SeverityWarning, Target: p.Source, Link: AlertLink{Source: p.Source}, For: r.ErrorFor,
		Said: fmt.Sprintf("%d of the last %d pages of %s failed, which is more than %s.", p.Errors, p.Pages, p.Source, percent(r.ErrorShare)), Next: "patra batches --status FAILED --source " + p.Source}
}

func (r AlertRules) throttled(p PageShare) *Alert {
	if !r.over(p.Throttled, p.Pages, r.ThrottleShare) {
		return nil
	}
	return &Alert{Kind: AlertThrottled, Severity: SeverityWarning, Target: p.Source, Link: AlertLink{Source: p.Source}, For: r.ThrottleFor,
		Said: fmt.Sprintf("%s asked us to slow down at %d of the last %d pages, which is more than %s.", p.Source, p.Throttled, p.Pages, percent(r.ThrottleShare)), Next: "patra gate status, then patra gate set " + p.Source + " --per-second with less"}
}

func (r AlertRules) quarantined(q QuarantineShare) *Alert {
	if q.Items < r.QuarantineItems || float64(q.Quarantined) < r.QuarantineShare*float64(q.Items) {
		return nil
	}
	return &Alert{Kind: AlertQuarantine, Severity: SeverityWarning, Target: q.Source, Link: AlertLink{Source: q.Source},
		Said: fmt.Sprintf("%d of the last %d items of %s could not become records.", q.Quarantined, q.Items, q.Source), Next: "patra quarantine list --source " + q.Source}
}

// percent is a share for people.
func percent(share float64) string { return fmt.Sprintf("%.4g%%", 100*share) }

func cursorName(c Cursor) string {
	name := fmt.Sprintf("%s/%s %s", c.Source, c.Endpoint, c.Operation)
	if c.Repository != "" {
		name += " of " + c.Repository
	}
	return name
}

func (r AlertRules) disputed(c CursorFacts) *Alert {
	if c.Disputed == 0 {
		return nil
	}
	return &Alert{Kind: AlertDisputed, Severity: SeverityWarning, Target: WorkTarget(ScopeCursor, c.Cursor.ID).String(), Link: AlertLink{Source: c.Cursor.Source, Cursor: c.Cursor.ID},
		Said: fmt.Sprintf("Of %s, %s: the provider counts or has shown something else than was read.", cursorName(c.Cursor), number(c.Disputed, "stretch is in dispute", "stretches are in dispute")), Next: "patra coverage gaps " + c.Cursor.Source}
}

// stalled is about watermarks of harvests that are not where they should be: either something before them does not get done, or
// their schedule has fired and they have not followed.
func (r AlertRules) stalled(c CursorFacts, now Instant) *Alert {
	if c.Cursor.Operation != Harvest {
		return nil
	}
	since := c.Cursor.UpdatedAt
	a := Alert{Kind: AlertStalled, Severity: SeverityWarning, Target: WorkTarget(ScopeCursor, c.Cursor.ID).String(), Since: &since, Link: AlertLink{Source: c.Cursor.Source, Cursor: c.Cursor.ID}, Next: "patra coverage gaps " + c.Cursor.Source}
	stands := fmt.Sprintf("The watermark of %s has stood at %s since %s", cursorName(c.Cursor), c.Cursor.Value, since)
	switch {
	case c.Gaps > 0 && now.Sub(since) >= r.StalledFor:
		a.Said, a.Next = fmt.Sprintf("%s: %s before it.", stands, number(c.Gaps, "stretch is missing", "stretches are missing")), "patra coverage fill "+c.Cursor.Source
	case c.Waiting && now.Sub(since) >= r.StalledFor:
		a.Said = stands + ", although there is work before it."
	case c.IsLate(now, r.Lag):
		a.Since, a.For = c.Fired, twoLooks
		a.Said = fmt.Sprintf("The watermark of %s stands at %s, although the schedule %s should have moved it on at %s.", cursorName(c.Cursor), c.Cursor.Value, c.Schedule, *c.Fired)
		a.Next = "patra triggers, and patra tasks --source " + c.Cursor.Source
	default:
		return nil
	}
	return &a
}

// IsLate reports whether a watermark is not where its schedule should have brought it. It has all the time between two fires, and
// then the lag; what is on its way is not late.
func (c CursorFacts) IsLate(now Instant, lag time.Duration) bool {
	return c.Fired != nil && now.Sub(*c.Fired) >= lag && now.Sub(c.Cursor.UpdatedAt) >= lag && c.Cursor.Value < c.Due
}

func (r AlertRules) sink(s SinkState) *Alert {
	a := Alert{Kind: AlertSink, Target: "sink:" + s.Name, Next: "patra relay status"}
	switch {
	case s.Notes != nil && s.Notes.Failures >= r.SinkFailures:
		a.Severity, a.Since, a.Said = SeverityWarning, s.Notes.FailedAt, fmt.Sprintf("Nothing reaches the sink %s: %s", s.Name, ended(s.Notes.LastError))
	case s.Aside > 0:
		many := number(s.Aside, "event", "events")
		if s.Capped {
			many = "more than " + many
		}
		a.Severity, a.Said = SeverityWarning, fmt.Sprintf("The sink %s did not take %s, and nobody tries any more.", s.Name, many)
	default:
		return nil
	}
	return &a
}

// idle is about everybody: tasks are due, nothing holds them back, and nobody takes one.
func (r AlertRules) idle(f AlertFacts) *Alert {
	var due int64
	var oldest *Instant
	for _, q := range f.Queue {
		if q.Held != "" || q.Running > 0 || q.Due == 0 {
			continue
		}
		due += q.Due
		if q.Oldest != nil && (oldest == nil || *q.Oldest < *oldest) {
			oldest = q.Oldest
		}
	}
	if oldest == nil || f.Now.Sub(*oldest) < r.NobodyFor || f.LastClaim != nil && f.Now.Sub(*f.LastClaim) < r.NobodyFor {
		return nil
	}
	return &Alert{Kind: AlertIdle, Severity: SeverityCritical, Target: "queue", Since: oldest, Said: fmt.Sprintf("%s, and nobody takes one.", number(due, "task is due", "tasks are due")), Next: "patra serve"}
}

// ShellWord is a word as a shell must be given it.
func ShellWord(text string) string {
	if strings.ContainsAny(text, "*?[ \t\n'\"`\\$&|;<>()#!~") {
		return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
	}
	return text
}

// receiver is about notices that do not arrive. Whoever gets them has no other way to know. One that is not in the settings any more
// is not tried, and nobody misses anything.
func (r AlertRules) receiver(s ReceiverState) *Alert {
	if s.Gone || s.Failures < r.SinkFailures {
		return nil
	}
	return &Alert{Kind: AlertSink, Severity: SeverityWarning, Target: "receiver:" + s.Name, Since: s.FailedAt, Next: "patra alerts test " + s.Name,
		Said: fmt.Sprintf("Notices of alerts do not reach %s: %s", s.Name, ended(s.Error))}
}

// surge is about a queue that has far more than on an average day. A steady queue has no spread, and then one task more would be
// a surge: there must also be many more.
func (r AlertRules) surge(c QueueAverage, queue []QueueState) *Alert {
	at := slices.IndexFunc(queue, func(q QueueState) bool { return q.Key == c.Key })
	if at < 0 || c.Samples < r.SurgeSamples {
		return nil
	}
	q := queue[at]
	if n := float64(q.Queued()); n <= c.Mean+r.SurgeSigmas*c.Sigma || n-c.Mean < float64(r.SurgeLeast) {
		return nil
	}
	many := thousands(q.Queued())
	if q.Capped {
		many = "more than " + many
	}
	return &Alert{Kind: AlertSurge, Severity: SeverityNotice, Target: c.Key, Link: AlertLink{Source: q.Source}, For: r.SurgeFor,
		Said: fmt.Sprintf("%s tasks of %s wait; within a day it were %s on the average, give or take %s.", many, c.Key, thousands(int64(c.Mean+0.5)), thousands(int64(c.Sigma+0.5))), Next: "patra plans --source " + q.Source}
}

// usedUp reports whether a control says already that a quota is used up.
func usedUp(controls []Control, key string, now Instant) bool {
	return slices.ContainsFunc(controls, func(c Control) bool {
		return c.Kind == KindQuota && c.State == UsedUp && c.Until > now && c.Detail.Quota != nil && c.Detail.Quota.Key == key
	})
}

// quota is about what is nearly used up. When nothing is left and somebody wanted more, a control says so.
func (r AlertRules) quota(u QuotaUse, now Instant) *Alert {
	if u.Usable <= 0 || u.To <= now || u.From > now || float64(u.Left()) >= r.QuotaLeft*float64(u.Usable) {
		return nil
	}
	source, _, _ := strings.Cut(u.Key, "#")
	source, _, _ = strings.Cut(source, "/")
	source, _, _ = strings.Cut(source, "@")
	return &Alert{Kind: AlertQuota, Severity: SeverityNotice, Target: u.Key + " " + u.Window, Link: AlertLink{Source: source},
		Said: fmt.Sprintf("Of the quota of %s for %s, %s of %s are left; it begins anew at %s.", u.Key, spans[u.Window], thousands(u.Left()), thousands(u.Usable), u.To),
		Next: "wait, or patra pause '" + source + "/*/BACKFILL' so that the rest is for the present"}
}

// untouched is about one plan, while others are being worked on. One whose partition is busy or held back waits its turn.
func (r AlertRules) untouched(p UnstartedPlan, f AlertFacts) *Alert {
	if f.Now.Sub(p.Due) < r.PlanFor || AdmissionControls(f.Controls).Blocked(p.Plan.WorkScope(), f.Now) {
		return nil
	}
	partition := p.Plan.WorkScope().Partition()
	if slices.ContainsFunc(f.Queue, func(q QueueState) bool { return q.Key == partition && (q.Running > 0 || q.Held != "") }) {
		return nil
	}
	due := p.Due
	return &Alert{Kind: AlertIdle, Severity: SeverityWarning, Target: WorkTarget(ScopePlan, p.Plan.ID).String(), Since: &due, Link: AlertLink{Source: p.Plan.Source, Plan: p.Plan.ID},
		Said: fmt.Sprintf("Plan %d of %s is ready since %s, and nobody has taken anything of it.", p.Plan.ID, partition, due), Next: fmt.Sprintf("patra tasks --plan %d, then patra serve --role executor", p.Plan.ID)}
}

// Spread is the mean of so many numbers and how far they usually are from it, by their sum and the sum of their squares.
func Spread(n int64, sum, squares float64) (mean, sigma float64) {
	if n <= 0 {
		return 0, 0
	}
	mean = sum / float64(n)
	return mean, math.Sqrt(max(squares/float64(n)-mean*mean, 0))
}

// number is a count with its words; `1 task waits`, `3 tasks wait`.
func number(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// ended is a text that ends as a sentence does.
func ended(text string) string {
	if strings.HasSuffix(text, ".") || strings.HasSuffix(text, "!") || strings.HasSuffix(text, "?") {
		return text
	}
	return text + "."
}
