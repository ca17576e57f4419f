package relay

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"patra"
)

// Whatever fails, no event is sent before all older ones of its record were acknowledged, and none is sent twice.
func TestEventsOfARecordAreSentOneAfterTheOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var events []patra.Event
		revs := map[string]int64{}
		for _, key := range rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 1, 20).Draw(t, "keys") {
			revs[key]++
			events = append(events, patra.Event{Key: key, Seq: revs[key], ID: fmt.Sprint(key, revs[key])})
		}
		acked, sent := map[string]int64{}, map[string]bool{}
		errs := send(events, func(wave []patra.Event) []error {
			results := make([]error, len(wave))
			in := map[string]bool{}
			for i, e := range wave {
				if e.Seq != acked[e.Key]+1 || in[e.Key] || sent[e.ID] {
					t.Fatalf("%s is sent while %d of its record are acknowledged", e.ID, acked[e.Key])
				}
				in[e.Key], sent[e.ID] = true, true
				switch rapid.IntRange(0, 3).Draw(t, "result") {
				case 0:
					results[i] = errors.New("away")
				case 1:
					results[i] = ErrRefused
				}
			}
			for i, e := range wave {
				if results[i] == nil {
					acked[e.Key]++
				}
			}
			return results
		})
		for i, e := range events {
			if (errs[i] == nil) != (e.Seq <= acked[e.Key]) {
				t.Fatalf("%s: %v, and %d of its record are acknowledged", e.ID, errs[i], acked[e.Key])
			}
		}
	})
}

func TestPausesGrowAndEnd(t *testing.T) {
	var got []time.Duration
	for n := range int64(12) {
		got = append(got, pause(n, 0.5))
	}
	if !slices.IsSorted(got) || got[1] != time.Second || got[11] != 5*time.Minute || pause(1, 0) != 800*time.Millisecond || pause(90, 1) != 6*time.Minute {
		t.Error(got)
	}
}

func TestASearchForALiveEventEnds(t *testing.T) {
	tried := 0
	wave := make([]patra.Event, 50)
	sendOneByOne(func([]patra.Event) []error { tried++; return []error{errors.New("away")} }, 3)(wave)
	if tried != 3 {
		t.Errorf("%d events were tried", tried)
	}
	tried = 0
	errs := sendOneByOne(func([]patra.Event) []error {
		if tried++; tried == 2 {
			return []error{nil}
		}
		return []error{errors.New("bad")}
	}, 3)(wave)
	if tried != 50 || errs[1] != nil || errs[49] == nil {
		t.Errorf("%d events were tried", tried)
	}
}
