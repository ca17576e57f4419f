package cli

import (
	"testing"

	"patra"
	"patra/internal/store/storetest"
)

// TestADoctorLooksWhileAHarvestGoesOn: what is half-way is no damage to somebody who looks at one moment.
func TestADoctorLooksWhileAHarvestGoesOn(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, e storetest.Engine) {
		t.Parallel()
		s := newScene(t, e, byToken)
		harvest, ended := s.startUntil(20)
		for looks := 0; ; looks++ {
			select {
			case err := <-ended:
				if err != nil {
					t.Fatalf("%v\n%s", err, harvest.Stderr)
				}
				if looks == 0 {
					t.Error("the harvest ended before anybody could look")
				}
				s.exact()
				return
			default:
			}
			if out, err := s.patra("doctor", "--deep").CombinedOutput(); err != nil {
				t.Errorf("look %d: %v\n%s", looks, err, out)
			}
		}
	})
}

func TestDamageCountsBeforeWhatIsAroundIt(t *testing.T) {
	ok, look, around, within := passed("a", ""), warn("b", "", ""), fail("c", "", ""), damaged("d", "", "")
	for _, c := range []struct {
		found []finding
		want  int
	}{{nil, exitOK}, {[]finding{ok, look}, exitOK}, {[]finding{ok, around, look}, exitEnvironment}, {[]finding{around, within}, exitFailed}, {[]finding{within, around}, exitFailed}} {
		if got := exitCode(diagnosis(c.found)); got != c.want {
			t.Errorf("%+v: exit code %d, want %d", c.found, got, c.want)
		}
	}
	if around.Verdict != patra.VerdictFail || around.Damage || !within.Damage {
		t.Error("what is around the store is no damage to it")
	}
}
