package sim

import (
	"math/bits"
	"math/rand/v2"
)

// dice is a small generator held by value, so that one paper's draws cost no allocation and depend on nothing but
// the two numbers it was made of.
type dice struct{ pcg rand.PCG }

func newDice(a, b uint64) dice { return dice{*rand.NewPCG(mix(a), mix(a^mix(b)))} }

// mix spreads neighbouring seeds (days, indexes, request numbers) over the whole range (splitmix64).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// n gives a number in [0, limit).
func (d *dice) n(limit int) int {
	hi, _ := bits.Mul64(d.pcg.Uint64(), uint64(limit))
	return int(hi)
}

func (d *dice) percent(p int) bool { return d.n(100) < p }

func (d *dice) chance(p float64) bool { return float64(d.pcg.Uint64()>>11)/(1<<53) < p }

func (d *dice) pick(words []string) string { return words[d.n(len(words))] }
