package cli

import (
	"context"
	"fmt"
	"time"

	"patra/internal/store"
)

// How far clocks may be apart.
const (
	skewWarn = time.Second
	skewFail = 30 * time.Second
)

// examineClock compares our clock with the database's. Leases go by the database's, windows by ours. Of three looks the
// quickest counts, as it knows best.
func examineClock(ctx context.Context, s *store.Store) finding {
	const next = "See that the database answers"
	var skew, best time.Duration
	for look := range 3 {
		before, begun := now(), time.Now()
		theirs, err := s.Now(ctx)
		if err != nil {
			return fail("clock", next, "The database does not tell its time: %s", err)
		}
		took := time.Since(begun)
		if look == 0 || took < best {
			best = took
			skew = time.Duration(before-theirs)*time.Microsecond + took/2 // it looked at its clock half-way
		}
	}
	return judgeClock(skew, best)
}

// judgeClock says whether two clocks are too far apart. What the way there and back took is not known to be a difference.
func judgeClock(skew, roundTrip time.Duration) finding {
	const next = "Set the clock of this machine, or of the database (NTP): windows end by one and leases by the other"
	sure := max(skew.Abs()-roundTrip/2, 0)
	text := fmt.Sprintf("This machine is %s %s the database (measured to %s)", skew.Abs().Round(time.Millisecond), map[bool]string{true: "ahead of", false: "behind"}[skew > 0], (roundTrip / 2).Round(time.Microsecond))
	switch {
	case sure > skewFail:
		return fail("clock", next, "%s", text)
	case sure > skewWarn:
		return warn("clock", next, "%s", text)
	}
	return passed("clock", "This machine and the database agree about the time")
}

// examineNTP asks the system whether somebody keeps its clock right.
func examineNTP() []finding {
	synced, known := clockIsKept()
	return judgeNTP(synced, known)
}

func judgeNTP(synced, known bool) []finding {
	switch {
	case !known:
		return nil // nobody can tell here
	case !synced:
		return []finding{warn("ntp", "Let the system keep it: timedatectl set-ntp true, or the host of a virtual machine", "The system does not know of anybody who keeps its clock right")}
	}
	return []finding{passed("ntp", "The system keeps the clock of this machine right")}
}
