package relay

import "time"

const (
	firstPause = time.Second
	longPause  = 5 * time.Minute
)

// pause is how long to wait after so many failures in a row: twice as long each time, up to a limit, and a fifth more or
// less by chance (from 0 to 1), so that many relays do not come back all at once.
func pause(failures int64, chance float64) time.Duration {
	d := longPause
	if failures < 10 {
		d = min(firstPause<<max(failures-1, 0), longPause)
	}
	return time.Duration(float64(d) * (0.8 + 0.4*chance))
}
