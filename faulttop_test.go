package patra_test

import (
	"testing"

	"patra"
)

func TestWhatGoesWrongMostOftenComesFirst(t *testing.T) {
	fail := func(source, code string, at patra.Instant, batch int64) patra.Failure {
		return patra.Failure{Source: source, Endpoint: "works", Fault: patra.Fault{Code: code, Level: patra.LevelRetry, Text: "no"}, At: at, BatchID: batch}
	}
	top := patra.TopFailures([]patra.Failure{fail("a", "HTTP", 5, 50), fail("b", "HTTP", 9, 90), fail("a", "NETWORK", 3, 30), fail("a", "HTTP", 7, 70), fail("a", "HTTP", 1, 10)}, 2)
	if len(top) != 2 || top[0].Count != 3 || top[0].FirstAt != 1 || top[0].LastAt != 7 || top[0].Example.Batch != 70 || top[1].Source != "b" {
		t.Errorf("%+v", top)
	}
	if none := patra.TopFailures(nil, 5); none == nil || len(none) != 0 {
		t.Errorf("%v", none)
	}
}
