package patra_test

import (
	"testing"

	"patra"
)

func TestAnEventSaysTheGravestThatHappened(t *testing.T) {
	for _, c := range []struct {
		o    patra.Observation
		want patra.EventType
	}{
		{patra.Observation{}, patra.EventUpserted},
		{patra.Observation{Retracted: true}, patra.EventRetracted},
		{patra.Observation{Deleted: true, Retracted: true}, patra.EventDeleted},
		{patra.Observation{Deleted: true, MergedInto: "2"}, patra.EventMerged},
	} {
		if got := c.o.Event(); got != c.want {
			t.Errorf("%+v is told as %s", c.o, got)
		}
	}
}
