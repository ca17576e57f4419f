package patra

// RateState is what is remembered of one key of the rate gate, by the clock of whoever keeps it.
type RateState struct {
	Limit    int64   // what was last asked for: thousandths of a request a second, and the burst
	Burst    int     //
	Arrival  Instant // when the next request would be due if all so far had come evenly
	Cooldown Instant // until when nobody may send
	Tempo    Tempo
}

// Tempo is how fast a provider is asked after it refused us. The zero value is as fast as it permits.
type Tempo struct {
	Rate      int64 // thousandths of a request a second; 0 is the permitted rate
	Ceiling   int64 // the rate at which it refused us last
	AdaptedAt Instant
	RefusedAt Instant
}

// KeyedRate is the state of a key with its name.
type KeyedRate struct {
	Key string
	RateState
}

// Rate is how many requests a second are given out now.
func (s RateState) Rate() float64 {
	if s.Tempo.Rate > 0 {
		return float64(min(s.Tempo.Rate, s.Limit)) / 1000
	}
	return float64(s.Limit) / 1000
}
