package sim

import (
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// Every fault that is to have its turn has it in a harvest of a hundred requests, and once only where nothing is left to
// chance. What the log says of each is what a client gets.
func TestEveryFaultHasItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // a client that gives up does so by the clock, however slow the machine is
		c := small(5)
		least := 1e-12 // never by chance
		c.Faults = Faults{DealEvery: 2, ShortLength: least, LongLength: least, GzipBomb: least, Trickle: least, Hang: least, Unauthorized: least,
			NoContent: least, Partial: least, NotModified: least, BrokenBody: least, NoNext: least, OldVersion: least, Reset: least, MoveEvery: 1}
		s := New(c)
		wire, server := Listen(s.Handler())
		transport := &http.Transport{DialContext: wire.Dial}
		client := &http.Client{Timeout: 150 * time.Millisecond, Transport: transport}
		statuses := map[int]int{}
		for range 100 {
			res, err := client.Get("http://provider.test" + worksURL("cursor", "*"))
			if err != nil {
				statuses[0]++
				continue
			}
			if _, err := io.Copy(io.Discard, res.Body); err != nil {
				statuses[1]++
			}
			res.Body.Close()
			statuses[res.StatusCode]++
		}
		transport.CloseIdleConnections()
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		for _, name := range []fault{faultShortLength, faultLongLength, faultBomb, faultTrickle, faultHang, faultAuth, faultNoContent, faultPartial, faultNotModified, faultBroken, faultNoNext, "reset-reused"} {
			if n := s.Stats().Faults[string(name)]; n != 1 {
				t.Errorf("%s happened %d times", name, n)
			}
		}
		if statuses[0] < 1 || statuses[1] < 2 || statuses[401] != 1 || statuses[204] != 1 || statuses[206] != 1 || statuses[304] != 1 {
			t.Errorf("clients saw %v", statuses)
		}
	})
}

// A storm meets a row of requests and is over.
func TestAStormPasses(t *testing.T) {
	c := small(5)
	c.Faults = Faults{DealEvery: 3, Storm: 1e-12}
	s := New(c)
	refused := 0
	for range 40 {
		if do(s.Handler(), worksURL("cursor", "*")).Code == http.StatusServiceUnavailable {
			refused++
		}
	}
	if refused != stormLength+1 {
		t.Errorf("%d requests met the storm", refused)
	}
}
