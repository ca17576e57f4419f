package witnesstest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"
)

// cells are all kinds of providers.
func cells() (all []cell) {
	for _, total := range []string{"EXACT", "ESTIMATE", "NONE"} {
		for _, lag := range []time.Duration{0, time.Minute} {
			for _, c := range []cell{
				{paging: byOffset, order: ascending, sound: true},
				{paging: byOffset, order: fixed, sound: true},
				{paging: byOffset, order: free, sound: true},
				{paging: byPage, order: ascending, sound: true, sizes: []int{5, 12, 13, 14, 15}}, // pages overlap from 12 on
				{paging: byPage, order: fixed, sound: true, sizes: []int{3, 12, 13}},
				{paging: byURL, order: fixed, sound: true},
				{paging: byHidden, order: free, sound: true},
				{paging: byHidden, order: free, sound: true, census: true},
				{paging: byKey, order: fixed, sound: true},
				{paging: byKey, order: ascending, sound: true},
				{paging: byTies, order: ascending}, // it loses rows where nothing moves
				{paging: bySnapshot, order: ascending, sound: true},
				{paging: byTime, order: ascending, sound: true, sizes: []int{3, 4, 5, 7, 9, 12}},
			} {
				c.total, c.lag = total, lag
				if c.sizes == nil {
					c.sizes = []int{2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}
				}
				c.family = families(c)
				c.name = fmt.Sprintf("%s/%s/%s", c.paging, c.order, c.total)
				if c.census {
					c.name += "/CENSUS"
				}
				if lag > 0 {
					c.name += "/LAG"
				}
				all = append(all, c)
			}
		}
	}
	return all
}

// seedsOf says how many worlds of each cell are harvested, and from which seed on.
func seedsOf(t *testing.T, usual int) (first uint64, seeds int) {
	t.Helper()
	seeds = usual
	if text := os.Getenv("WITNESS_SEEDS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			t.Fatalf("WITNESS_SEEDS is %q", text)
		}
		seeds = n
	}
	if text := os.Getenv("WITNESS_SEED"); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("WITNESS_SEED is %q", text)
		}
		first = n
	}
	return first, seeds
}

// TestASealedWindowLostNothing harvests worlds of all kinds, and holds each seal against the truth.
func TestASealedWindowLostNothing(t *testing.T) {
	first, seeds := seedsOf(t, 8)
	for _, c := range cells() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.hold(t, c.run(t, first, seeds))
		})
	}
}

// TestAProofOutlivesItsProcess: what a process has read before it was stopped is evidence for the next one.
func TestAProofOutlivesItsProcess(t *testing.T) {
	first, seeds := seedsOf(t, 4)
	for _, c := range cells() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.cutOff, c.faults = 5, 0.1
			c.hold(t, c.run(t, first, min(seeds, 200)))
		})
	}
}

// TestWhatIsConfirmedLostNothing: of a walk that is left before its end, only what is proved counts.
func TestWhatIsConfirmedLostNothing(t *testing.T) {
	first, seeds := seedsOf(t, 12)
	for _, c := range cells() {
		if c.order != ascending {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.early, c.sound = 2, false // nothing is sealed at the first try
			out := c.run(t, first, min(seeds, 200))
			if c.hold(t, out); out.confirmed == 0 && c.paging != byTies && c.paging != byPage {
				t.Error("nothing was confirmed")
			}
		})
	}
}

// hold complains of what may not be.
func (c cell) hold(t *testing.T, out outcome) {
	t.Helper()
	t.Logf("%d worlds, %d seals by %v, windows %v; %d of %d that stood still sealed at the first try; %d excused, %d confirmed",
		out.windows, out.sealed, out.witnesses, out.states, out.first, out.still, out.excused, out.confirmed)
	if len(out.lost) > 0 {
		t.Errorf("%d false seals; the smallest story of the first: %s", len(out.lost), c.smallest(t, out.lost[0]).story)
	}
	if c.sound && out.first*100 < out.still*99 {
		t.Errorf("%d of %d windows that stood still are not sealed at the first try; one of them: %s", out.still-out.first, out.still, out.unsealed[0])
	}
}

// TestTheOnlyWorldOfASeed harvests one world, which is how a failure is looked at: WITNESS_CELL, WITNESS_SEED and WITNESS_SIZE name it.
func TestTheOnlyWorldOfASeed(t *testing.T) {
	size, err := strconv.Atoi(os.Getenv("WITNESS_SIZE"))
	if err != nil {
		t.Skip("WITNESS_CELL, WITNESS_SEED and WITNESS_SIZE name a world")
	}
	first, _ := seedsOf(t, 1)
	for _, c := range cells() {
		if c.name == os.Getenv("WITNESS_CELL") {
			c.sizes = []int{size}
			c.hold(t, c.run(t, first, 1))
		}
	}
}

// TestWindowsThatHaveJustEndedWaitForTheCopies: while copies lag, a record that changed at the end of a window is at the end of one
// copy and in the middle of another, so that no order holds.
func TestWindowsThatHaveJustEndedWaitForTheCopies(t *testing.T) {
	first, seeds := seedsOf(t, 8)
	seeds = min(seeds, 200)
	for _, total := range []string{"EXACT", "NONE"} {
		for _, paging := range []string{byOffset, byPage, byKey, byTime} {
			t.Run(paging+"/"+total, func(t *testing.T) {
				t.Parallel()
				c := cell{paging: paging, order: ascending, total: total, lag: 10 * time.Minute, sizes: []int{4}, fresh: true, sound: true}
				if paging == byPage {
					c.sizes = []int{12}
				}
				c.family = func(r *rand.Rand, seed uint64, _ int) rules {
					f := rules{copies: 2, lag: time.Duration(1+r.IntN(600)) * time.Second, ties: 1, changes: true, disturbed: true, family: "changes at the end", rate: 0.6}
					if seed%4 == 0 {
						f.rate, f.changes, f.disturbed = 0, false, false
					}
					return f
				}
				all := outcome{}
				for seed := range uint64(seeds) {
					out := c.run(t, first+seed, 1)
					all.sealed += out.sealed
					if c.hold(t, out); t.Failed() {
						return
					}
				}
				t.Logf("%d of %d windows are sealed", all.sealed, seeds)
				if all.sealed == 0 {
					t.Error("nothing is sealed")
				}
			})
		}
	}
}

// TestWitnessesCostWhatIsSaid counts the requests of windows in which nothing moves.
func TestWitnessesCostWhatIsSaid(t *testing.T) {
	still := func(*rand.Rand, uint64, int) rules { return rules{copies: 1, ties: 1, family: "still"} }
	for _, c := range []struct {
		cell
		witness string
		price   float64
	}{
		{cell{paging: byOffset, order: ascending, total: "EXACT", sizes: []int{100}}, "SEAM", 1.04},
		{cell{paging: byOffset, order: fixed, total: "NONE", sizes: []int{100}}, "SEAM", 1.04},
		{cell{paging: byPage, order: fixed, total: "NONE", sizes: []int{25}}, "SIZES", 1.33},
		{cell{paging: byPage, order: fixed, total: "NONE", sizes: []int{100}}, "SIZES", 1.2},
		{cell{paging: byKey, order: fixed, total: "NONE", sizes: []int{25, 100}}, "KEYSET", 1},
		{cell{paging: bySnapshot, order: ascending, total: "EXACT", sizes: []int{25, 100}}, "SNAPSHOT", 1},
		{cell{paging: byURL, order: fixed, total: "NONE", sizes: []int{25, 100}}, "MET_AGAIN", 2},
		{cell{paging: byHidden, order: free, total: "EXACT", sizes: []int{25, 100}}, "MET_AGAIN", 2},
	} {
		c.most, c.family = 15*c.sizes[len(c.sizes)-1], still
		t.Run(fmt.Sprintf("%s/%s/%v", c.witness, c.total, c.sizes), func(t *testing.T) {
			t.Parallel()
			out := c.run(t, 7, 12)
			asked, plain := out.requests[c.witness], out.plain[c.witness]
			if atomic := out.requests["ATOMIC"]; atomic > out.plain["ATOMIC"] {
				t.Errorf("windows that fit one answer took %d requests, and a plain walk takes %d", atomic, out.plain["ATOMIC"])
			}
			t.Logf("%d requests, and %d of a plain walk: %.3f; %v", asked, plain, float64(asked)/float64(plain), out.witnesses)
			if out.witnesses[c.witness] == 0 || float64(asked) > c.price*float64(plain) {
				t.Errorf("%d requests, and a plain walk takes %d", asked, plain)
			}
		})
	}
}
