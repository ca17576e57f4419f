package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Bytes is an amount of memory or storage that a person writes as 512MiB.
type Bytes int64

var byteUnits = []struct {
	name string
	size int64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}}

// UnmarshalText reads a whole number with its unit.
func (b *Bytes) UnmarshalText(text []byte) error {
	for _, u := range byteUnits {
		digits, found := strings.CutSuffix(string(text), u.name)
		if !found {
			continue
		}
		n, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || n < 0 || n > math.MaxInt64/u.size {
			break
		}
		*b = Bytes(n * u.size)
		return nil
	}
	return fmt.Errorf("%q is not an amount of memory such as 512MiB or 2GiB", text)
}

// String writes the amount in the largest unit that holds it whole.
func (b Bytes) String() string {
	for _, u := range byteUnits {
		if n := int64(b); n >= u.size && n%u.size == 0 {
			return strconv.FormatInt(n/u.size, 10) + u.name
		}
	}
	return strconv.FormatFloat(float64(b)/(1<<10), 'f', -1, 64) + "KiB"
}

// MarshalText writes what UnmarshalText reads.
func (b Bytes) MarshalText() ([]byte, error) { return []byte(b.String()), nil }
