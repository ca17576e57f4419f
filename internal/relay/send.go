package relay

import (
	"errors"

	"patra"
)

// errBehind means that an event was not sent because an older one of the same record was not taken.
var errBehind = errors.New("waits for an older event of the same record")

// send sends events in waves: of each record one at a time, and the next when it is acknowledged. publish sends one wave.
// What stands behind a failure is not sent. A wave of which nothing arrives ends it.
func send(events []patra.Event, publish func([]patra.Event) []error) []error {
	errs := make([]error, len(events))
	stuck := map[string]bool{}
	rest := make([]int, len(events))
	for i := range rest {
		rest[i] = i
	}
	for len(rest) > 0 {
		var wave, later []int
		taken := map[string]bool{}
		for _, i := range rest {
			switch key := events[i].Key; {
			case stuck[key]:
				errs[i] = errBehind
			case taken[key]:
				later = append(later, i)
			default:
				taken[key] = true
				wave = append(wave, i)
			}
		}
		if len(wave) == 0 {
			break
		}
		batch := make([]patra.Event, len(wave))
		for n, i := range wave {
			batch[n] = events[i]
		}
		results := publish(batch)
		for n, i := range wave {
			if errs[i] = results[n]; results[n] != nil {
				stuck[events[i].Key] = true
			}
		}
		if !alive(results) {
			for _, i := range later {
				errs[i] = errBehind
			}
			break
		}
		rest = later
	}
	return errs
}

// alive reports whether the sink has shown that it is there: it took an event, or refused one.
func alive(errs []error) bool {
	for _, err := range errs {
		if err == nil || errors.Is(err, ErrRefused) {
			return true
		}
	}
	return false
}

// sendOneByOne sends the events of a wave one by one, to find one that arrives. It gives up after so many failures without any.
func sendOneByOne(publish func([]patra.Event) []error, most int) func([]patra.Event) []error {
	return func(wave []patra.Event) []error {
		errs := same(len(wave), errNotTried)
		failed, any := 0, false
		for i := range wave {
			errs[i] = publish(wave[i : i+1])[0]
			if alive(errs[i : i+1]) {
				any = true
			} else if failed++; failed >= most && !any {
				break // the sink is away, and asking for each event takes its time
			}
		}
		return errs
	}
}

// errNotTried means that an event was not sent at all.
var errNotTried = errors.New("not sent")
