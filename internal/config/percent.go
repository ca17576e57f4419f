package config

import (
	"fmt"
	"strconv"
	"strings"
)

// Percent is a share that a person writes as 50%. The sign is not left out, as 0.5 and 50 could both be meant without it.
type Percent int

// UnmarshalText reads a whole percentage from 1% to 100%.
func (p *Percent) UnmarshalText(text []byte) error {
	digits, found := strings.CutSuffix(string(text), "%")
	n, err := strconv.ParseUint(digits, 10, 8)
	if err != nil || !found || !Percent(n).legal() {
		return fmt.Errorf("%q is not a percentage from 1%% to 100%%", text)
	}
	*p = Percent(n)
	return nil
}

func (p Percent) legal() bool { return p >= 1 && p <= 100 }

// Fraction is the share of one: 0.5 for 50%.
func (p Percent) Fraction() float64 { return float64(p) / 100 }

// String writes the percentage with its sign.
func (p Percent) String() string { return strconv.Itoa(int(p)) + "%" }

// MarshalText writes what UnmarshalText reads.
func (p Percent) MarshalText() ([]byte, error) { return []byte(p.String()), nil }
