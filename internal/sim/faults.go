package sim

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Faults are what goes wrong on purpose. Each is a probability for one request, drawn from the seed and the number of
// the request, so a run with one client can be repeated exactly. At most one fires on a request. Poison and MoveEvery
// are different: they belong to the world.
type Faults struct {
	Latency time.Duration // waited before every answer

	Throttle    float64 // 429 although the rate was kept; consumes no scroll state
	Unavailable float64 // 503 that says when to come back; consumes no scroll state
	AbsurdWait  float64 // 429 that asks for ten years of patience
	RetryAfter  bool    // every other refusal says when to come back, in one of the ways that providers have of saying it

	ServerError float64 // 503, or what the provider sends in its place; consumes no scroll state
	ExpireToken float64 // a cursor, token or history is forgotten before its time
	Reset       float64 // the connection is closed without an answer; the page is consumed
	CutBody     float64 // half of the body, then a broken connection; the page is consumed, as in all that follow
	CutChunked  float64 // the same without a length: the last chunk never comes
	CutPlain    float64 // the same, and the connection is closed in good order, as if that were all
	HalfGzip    float64 // a body of the announced length that is half of a compressed one
	SlowBody    float64 // the body comes whole, in small pieces
	Timeout     float64 // a time-out that looks like the client's mistake; only PubMed's efetch has it
	Transient   float64 // the provider's own passing error inside a 200; only Europe PMC and esearch have one

	HTMLPage   float64 // 200 with a page for people
	ErrorBody  float64 // 200 with an error that is not said to pass
	EmptyBody  float64 // 200 with nothing
	WrongTotal float64 // a count that is too high or too low
	EmptyPage  float64 // nothing on a page that should have something
	ShortPage  float64 // fewer items than there are and were asked for
	Duplicate  float64 // an item twice on one page

	ShortLength  float64 // half of the body, under a length that says the half
	LongLength   float64 // the whole body, under a length that promises more
	GzipBomb     float64 // a small compressed body that swells a thousandfold
	Trickle      float64 // a byte now and then, for ever
	Hang         float64 // not even a header comes
	Unauthorized float64 // 401, although nothing has changed; consumes no scroll state
	Storm        float64 // 503 for this request and some more; consumes no scroll state
	NoContent    float64 // 204
	Partial      float64 // 206 with half of the body
	NotModified  float64 // 304, although nobody asked
	BrokenBody   float64 // a byte in the middle that no text may have
	NoNext       float64 // a full page that does not say where the next one is; only Crossref
	OldVersion   float64 // an item once more, as it was before it changed
	Redirect     float64 // 302 to another path
	Damaged      float64 // characters, bytes, references and elements that no XML may have, another charset, a byte order mark; every record can be had

	DealEvery int // every so many requests one of the above that has a chance and has not happened yet has its turn; 0 leaves all to chance

	Huge      bool    // some papers have an abstract of a quarter of a megabyte; a world has them from beginning to end
	Poison    float64 // share of the papers whose date is none; a world has them from beginning to end
	MoveEvery int     // after so many requests, always, a record changes or comes late; 0 is never
}

// profiles are the named sets of faults, in the order in which they are listed to people.
var profiles = []struct {
	name   string
	faults Faults
}{
	{"none", Faults{}},
	{"mild", Faults{ServerError: 0.02, Throttle: 0.02, CutBody: 0.02}},
	{"rough", Faults{ServerError: 0.08, Throttle: 0.08, CutBody: 0.06, Reset: 0.06, ExpireToken: 0.04, Timeout: 0.03, Latency: 20 * time.Millisecond}},
	{"throttle", Faults{Throttle: 0.06, Unavailable: 0.03, AbsurdWait: 0.002, RetryAfter: true, Latency: 5 * time.Millisecond}},
	{"flaky", Faults{ServerError: 0.03, Reset: 0.03, CutBody: 0.02, CutChunked: 0.02, CutPlain: 0.02, HalfGzip: 0.02, SlowBody: 0.02, ExpireToken: 0.02, Timeout: 0.02, Transient: 0.03, Latency: 5 * time.Millisecond}},
	{"lying", Faults{HTMLPage: 0.01, ErrorBody: 0.01, EmptyBody: 0.02, WrongTotal: 0.06, EmptyPage: 0.04, ShortPage: 0.06, Duplicate: 0.06, Damaged: 0.06, Poison: 0.03, Latency: 5 * time.Millisecond}},
	{"moving", Faults{MoveEvery: 5, Latency: 5 * time.Millisecond}},
}

// Profiles are the names that Profile knows.
func Profiles() []string {
	var names []string
	for _, p := range profiles {
		names = append(names, p.name)
	}
	return names
}

// Profile gives a named set of faults; no name is none.
func Profile(name string) (Faults, error) {
	if name == "" {
		return Faults{}, nil
	}
	for _, p := range profiles {
		if p.name == name {
			return p.faults, nil
		}
	}
	names := slices.Clone(Profiles())
	last := len(names) - 1
	return Faults{}, fmt.Errorf("no fault profile %q; there are %s and %s", name, strings.Join(names[:last], ", "), names[last])
}
