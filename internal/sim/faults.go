package sim

import (
	"fmt"
	"time"
)

// Faults are what goes wrong on purpose. Each is a probability for one request, drawn from the seed and the number of
// the request, so a run with one client can be repeated exactly. At most one fires on a request, in this order of
// precedence: Throttle, ServerError, ExpireToken, Reset, CutBody, Timeout.
type Faults struct {
	ServerError float64       // 503, or what the provider sends in its place; the request consumes no scroll state
	Throttle    float64       // 429 although the rate was kept; consumes no scroll state
	CutBody     float64       // half of the body, then a broken connection; the page is consumed
	Reset       float64       // the connection is closed without an answer; the page is consumed
	ExpireToken float64       // a cursor, token or history is forgotten before its time
	Timeout     float64       // a time-out that looks like the client's mistake; only PubMed's efetch has it
	Latency     time.Duration // waited before every answer
}

// Profile gives a named set of faults.
func Profile(name string) (Faults, error) {
	switch name {
	case "", "none":
		return Faults{}, nil
	case "mild":
		return Faults{ServerError: 0.02, Throttle: 0.02, CutBody: 0.02}, nil
	case "rough":
		return Faults{ServerError: 0.08, Throttle: 0.08, CutBody: 0.06, Reset: 0.06, ExpireToken: 0.04, Timeout: 0.03, Latency: 20 * time.Millisecond}, nil
	}
	return Faults{}, fmt.Errorf("no fault profile %q; there are none, mild and rough", name)
}

// fault names what was done to a request; the names appear in the access log.
type fault string

const (
	faultNone     fault = ""
	faultThrottle fault = "throttle"
	faultError    fault = "server-error"
	faultExpire   fault = "expire-token"
	faultReset    fault = "reset"
	faultCut      fault = "cut-body"
	faultTimeout  fault = "timeout"
)

// fate draws what shall happen to the n-th request. All draws are made whatever the probabilities are, so raising one
// leaves the others where they were. An expiry that finds no cursor to expire does nothing, and so does a time-out at a
// provider that has none.
func (f Faults) fate(seed, n uint64) fault {
	d := newDice(seed^0xfa17, n)
	drawn := faultNone
	for _, c := range []struct {
		fault fault
		p     float64
	}{{faultThrottle, f.Throttle}, {faultError, f.ServerError}, {faultExpire, f.ExpireToken}, {faultReset, f.Reset}, {faultCut, f.CutBody}, {faultTimeout, f.Timeout}} {
		if d.chance(c.p) && drawn == faultNone {
			drawn = c.fault
		}
	}
	return drawn
}
