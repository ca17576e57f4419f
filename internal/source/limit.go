package source

import "cmp"

// Limit is a rate, and the key under which it is counted. Whoever shares the key shares the rate.
type Limit struct {
	Key       string
	PerSecond float64
	Burst     int
}

// Limit is what bounds the requests of a spec. A rate that the provider gives to a key is counted for the key and not for
// the address: requests without it are others. Whether the key is there is known only to whoever sends.
func (s *Spec) Limit(keyed bool) Limit {
	if r := s.Auth.Rate; keyed && r.PerSecond > 0 {
		return Limit{Key: s.Source + "#" + s.Auth.Secret, PerSecond: r.PerSecond, Burst: cmp.Or(r.Burst, s.Rate.Burst)}
	}
	return Limit{Key: s.Source, PerSecond: s.Rate.PerSecond, Burst: s.Rate.Burst}
}
