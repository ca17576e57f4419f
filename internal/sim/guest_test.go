package sim

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// A port that a connection had before belongs to another one when that has ended.
func TestAPortIsNoConnection(t *testing.T) {
	c := small(5)
	c.Faults = Faults{Reset: 1}
	s := New(c)
	ask := func(closes bool) {
		r := httptest.NewRequest(http.MethodGet, worksURL("cursor", "*"), nil)
		r.RemoteAddr, r.Close = "127.0.0.1:4711", closes
		func() {
			defer func() { _ = recover() }() // a recorder has no connection that could be broken off
			s.Handler().ServeHTTP(httptest.NewRecorder(), r)
		}()
	}
	ask(true)
	ask(false)
	ask(false)
	if n := s.Stats().Faults["reset-reused"]; n != 0 {
		t.Errorf("%d connections are taken for one that was used before", n)
	}
}
