package patra

import (
	"encoding/binary"
	"hash/fnv"
)

// InLogSample says whether something is one of the share that is told of: a share of 0.01 is one in a hundred. It depends on
// the numbers that name the thing and on nothing else, so that every process says the same, and whoever looks for a page
// in the log knows whether it can be there. What is of a smaller share is of every larger one.
func InLogSample(share float64, name ...int64) bool {
	h := fnv.New64a()
	var b [8]byte
	for _, n := range name {
		binary.BigEndian.PutUint64(b[:], uint64(n))
		_, _ = h.Write(b[:])
	}
	x := h.Sum64() // numbers that follow each other differ in few bits of it: these are spread over all (splitmix64)
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	x ^= x >> 31
	return float64(x>>11)/(1<<53) < share
}
