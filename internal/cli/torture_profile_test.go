package cli

import (
	"testing"
	"time"

	"patra/internal/sim"
)

// ordeal is a profile of the simulator as torture uses it.
type ordeal struct {
	profile string
	tune    func(*sim.Faults)
}

// seldom is the chance of a fault that is left to its turn, for the most part.
const seldom = 0.002

// Every fault of a profile has its turn, so that a short run meets it; a wait of ten years is left to tests that need not
// live through it.
var ordeals = []ordeal{
	{"throttle", func(f *sim.Faults) {
		f.AbsurdWait, f.Throttle, f.Unavailable = 0, 0.01, 0.005
	}},
	{"flaky", func(f *sim.Faults) {
		f.ExpireToken, f.Timeout, f.Transient = 0.05, 0.08, 0.06
		f.ShortLength, f.LongLength, f.GzipBomb, f.Trickle, f.Hang, f.NoContent, f.Partial, f.NotModified = seldom, seldom, seldom, seldom, seldom, seldom, seldom, seldom
	}},
	{"lying", func(f *sim.Faults) {
		f.EmptyPage, f.BrokenBody, f.NoNext, f.Huge = 0.06, seldom, seldom, true
		f.Storm, f.Unauthorized = seldom, seldom // these scenes have time for them
	}},
	{"moving", func(f *sim.Faults) { f.MoveEvery, f.OldVersion = 3, 0.05 }},
}

// latency is long enough for most kills to hit a request on its way.
const latency = 30 * time.Millisecond

func (o ordeal) load(t testing.TB) sim.Faults {
	f, err := sim.Profile(o.profile)
	if err != nil {
		t.Fatal(err)
	}
	f.Latency, f.DealEvery = latency, 2
	o.tune(&f)
	return f
}

// tortures is every fault that torture makes, in words.
var tortures = []struct{ name, words string }{
	{"executor-killed", "one process that executes is killed"},
	{"planner-killed", "the process that plans is killed"},
	{"plan-killed", "a command that plans is killed on the way"},
	{"fleet-killed", "all processes are killed at once"},
	{"executor-paused", "a process that executes sleeps beyond its lease, and wakes"},
	{"executor-starved", "a process that executes gets a hundredth of the processor, beyond its lease"},
	{"planner-paused", "the process that plans sleeps beyond its lease, and wakes"},
	{"executor-terminated", "a process is told to stop in the middle of a page"},
	{"two-planners", "two planners begin at the same moment"},
	{"throttle", "429 although the rate was kept"},
	{"retry-after-seconds", "a refusal that says when to come back in seconds"},
	{"retry-after-date", "a refusal that says when to come back as a date"},
	{"retry-after-none", "a refusal that does not say when"},
	{"retry-after-past", "a refusal whose time is past"},
	{"retry-after-garbage", "a refusal whose time is no time"},
	{"retry-after-negative", "a refusal whose time is negative"},
	{"unavailable", "503 that says when to come back"},
	{"storm", "503 for many requests in a row"},
	{"unauthorized", "401 in the middle, and a person who resumes"},
	{"server-error", "an error of the server"},
	{"reset", "the connection is closed before the first byte"},
	{"reset-reused", "the same, on a connection that was used before"},
	{"cut-body", "a body that breaks off below its length"},
	{"cut-chunked", "a body in chunks without the last"},
	{"cut-plain", "half a body that ends in good order"},
	{"short-length", "a length that is too small"},
	{"long-length", "a length that is too large"},
	{"half-gzip", "half of a compressed body"},
	{"gzip-bomb", "a compressed body that swells a thousandfold"},
	{"slow-body", "a body in small pieces"},
	{"trickle", "a body that never ends"},
	{"no-headers", "an answer that never begins"},
	{"no-content", "204 in place of a page"},
	{"partial-content", "206 with half of a page"},
	{"not-modified", "304 that nobody asked for"},
	{"expire-token", "a token that is forgotten before its time"},
	{"timeout", "a time-out that looks like our mistake"},
	{"transient-error", "200 with an error that is said to pass"},
	{"error-body", "200 with an error"},
	{"html-page", "200 with a page for people"},
	{"empty-body", "200 with nothing"},
	{"broken-body", "a body that is no JSON and no XML"},
	{"damaged-page", "XML with characters, bytes, references or elements that it may not have, or in another charset; JSON with a byte order mark"},
	{"wrong-total", "a count that is wrong"},
	{"empty-page", "an empty page in the middle"},
	{"short-page", "a page with fewer items than there are"},
	{"no-next", "a full page that does not say where the next is"},
	{"duplicate-id", "an id twice on a page"},
	{"old-version", "an older version after the newer"},
	{"record-moved", "a record that moves between pages, or comes late"},
	{"same-timestamp", "one timestamp across two pages"},
	{"poison-record", "a record whose date is none"},
	{"huge-record", "a record of a quarter of a megabyte"},
}
