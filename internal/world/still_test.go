package world

import (
	"cmp"
	"os"
	"slices"
	"strings"
	"testing"
)

// seedsEach is within how many worlds a wrong rule must be found.
const seedsEach = 3

// TestMustStillFail: every rule that is known to be wrong is found by the judge within a few worlds. WRONG=name runs one.
func TestMustStillFail(t *testing.T) {
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
					return
				}
			}
			t.Errorf("%s: %s: nobody noticed in %d worlds of %s", r.name, r.says, seedsEach, r.profile)
		})
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
