package sim

import (
	"net/http"
	"strconv"
	"time"
)

// dialect is a way of saying when to come back. All of them were seen at real providers.
type dialect struct {
	name string
	// says gives the header; nothing is an empty text.
	says func(now time.Time, patience time.Duration) string
}

var dialects = []dialect{
	{"seconds", func(_ time.Time, patience time.Duration) string { return strconv.Itoa(int(patience / time.Second)) }},
	{"date", func(now time.Time, patience time.Duration) string {
		return now.Add(patience).UTC().Format(http.TimeFormat)
	}},
	{"none", func(time.Time, time.Duration) string { return "" }},
	{"past", func(now time.Time, _ time.Duration) string {
		return now.AddDate(0, 0, -1).UTC().Format(http.TimeFormat)
	}},
	{"garbage", func(time.Time, time.Duration) string { return "soon, we hope" }},
	{"negative", func(time.Time, time.Duration) string { return "-30" }},
}

// absurd is the wait that no client should believe.
var absurd = dialect{"absurd", func(now time.Time, _ time.Duration) string {
	return strconv.Itoa(int(now.AddDate(10, 0, 0).Sub(now) / time.Second))
}}

// patience is what a provider asks for: little, since a test has to wait for it, and enough to see who does not.
func patience(d *dice) time.Duration { return time.Duration(1+d.n(2)) * time.Second }

// speak puts a Retry-After into a refusal. The dialects take turns, from one that the
// seed says: drawn ones could leave one out of a short harvest.
func (s *Server) speak(a *answer, number uint64, now time.Time) {
	d := newDice(s.cfg.Seed^0x4e7a, number)
	wait, chosen := patience(&d), absurd
	if a.fault != faultAbsurd {
		chosen = dialects[(s.cfg.Seed+s.refusals.Add(1)-1)%uint64(len(dialects))]
	}
	a.dialect = chosen.name
	a.header.Del("Retry-After")
	if text := chosen.says(now, wait); text != "" {
		a.header.Set("Retry-After", text)
	}
}

// promised is the moment until which a refusal asks to be left alone; zero if it says nothing that can be understood,
// or nothing about the future.
func (a *answer) promised(now time.Time) time.Time {
	text := a.header.Get("Retry-After")
	if a.status != http.StatusTooManyRequests && a.status != http.StatusServiceUnavailable {
		return time.Time{}
	}
	until := now
	if n, err := strconv.Atoi(text); err == nil {
		until = now.Add(time.Duration(n) * time.Second)
	} else if at, err := http.ParseTime(text); err == nil {
		until = at
	}
	if !until.After(now) {
		return time.Time{}
	}
	return until
}

// refusal tells whether the answer asks the client to come less often.
func (a *answer) refusal() bool {
	switch a.fault {
	case faultThrottle, faultUnavailable, faultAbsurd:
		return true
	}
	return a.over
}
