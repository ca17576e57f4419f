package simtest

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// seedsEach is within how many worlds a wrong rule must be found. Most are found in the first; which one it is hangs on the order of
// goroutines too, so that luck may cost time and must not decide.
const seedsEach = 40

// TestMustStillFail: every rule that is known to be wrong is found by the judge within a few worlds. The long form also
// lives through the same world without the wrong rule, and finds nothing. WRONG=name,name runs some only.
func TestMustStillFail(t *testing.T) {
	clean := map[string]bool{}
	for _, r := range wrongRules() {
		if only := os.Getenv("WRONG"); only != "" && !slices.Contains(strings.Split(only, ","), r.name) {
			continue
		}
		t.Run(r.name, func(t *testing.T) {
			p, err := profileNamed(r.profile)
			if err != nil {
				t.Fatal(err)
			}
			r.promises = 4
			for seed := uint64(1); seed <= seedsEach; seed++ {
				out := Run(t, seed, p, options{days: cmp.Or(r.days, 7), wrong: r})
				if len(out.findings) > 0 {
					t.Logf("%s (%s): found in world %d of %s after %.1f s by %s: %s", r.name, r.says, seed, r.profile, out.took.Seconds(), strings.Join(out.rules(), ", "), out.findings[0].text)
					if os.Getenv("SIMULATE_SEEDS") != "" {
						r.without(t, seed, p, clean)
					}
					return
				}
			}
			t.Errorf("%s: %s: nobody noticed in %d worlds of %s", r.name, r.says, seedsEach, r.profile)
		})
	}
}

// without lives through the world in which a wrong rule was found, with the same weather and the same fates, and without
// the rule. What was lived through before is clean already.
func (r *wrong) without(t *testing.T, seed uint64, p profile, clean map[string]bool) {
	t.Helper()
	right := &wrong{weather: r.weather, pause: r.pause, perDay: r.perDay}
	key := fmt.Sprint(seed, p.name, r.days, r.pause, r.perDay, r.weather)
	if clean[key] {
		return
	}
	clean[key] = true
	for _, f := range Run(t, seed, p, options{days: cmp.Or(r.days, 7), wrong: right}).findings {
		t.Errorf("world %d of %s without the wrong rule: %s: %s", seed, p.name, f.rule, f.text)
	}
}

// rules are those that found something.
func (o outcome) rules() (all []string) {
	for _, f := range o.findings {
		if !slices.Contains(all, f.rule) {
			all = append(all, f.rule)
		}
	}
	return all
}
