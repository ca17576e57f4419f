package main

import (
	"fmt"
	"slices"
)

// spread is what several rounds of a measurement came to.
type spread struct {
	Mid, Low, High float64
	Rounds         int
}

// spreadOf is the middle of the rounds, and how far they lie apart.
func spreadOf(all ...float64) spread {
	if len(all) == 0 {
		return spread{}
	}
	sorted := slices.Sorted(slices.Values(all))
	n := len(sorted)
	return spread{Mid: (sorted[(n-1)/2] + sorted[n/2]) / 2, Low: sorted[0], High: sorted[n-1], Rounds: n}
}

// ratios divides what two came to in the same round: a machine that slows down slows both.
func ratios(a, b []float64) spread {
	var all []float64
	for i := range min(len(a), len(b)) {
		if b[i] > 0 {
			all = append(all, a[i]/b[i])
		}
	}
	return spreadOf(all...)
}

// text is a spread in a unit: the middle, and from where to where if there were several rounds.
func (s spread) text(u unit) string {
	if s.Rounds < 2 || u.number(s.Low) == u.number(s.High) {
		return u.number(s.Mid) + u.name
	}
	return fmt.Sprintf("%s%s (%s–%s)", u.number(s.Mid), u.name, u.number(s.Low), u.number(s.High))
}

// unit is how numbers of a kind are written.
type unit struct {
	name   string
	digits int
	times  float64 // 0 is 1
}

var (
	percent  = unit{" %", 0, 100}
	times    = unit{"x", 1, 0}
	finely   = unit{"x", 2, 0}
	millis   = unit{" ms", 2, 0}
	coarse   = unit{" ms", 0, 0}
	megas    = unit{" MB", 0, 0}
	plainly  = unit{"", 0, 0}
	fraction = unit{" %", 1, 100}
)

func (u unit) number(v float64) string {
	if u.times != 0 {
		v *= u.times
	}
	if u.digits == 0 {
		return grouped(int64(v + 0.5))
	}
	return fmt.Sprintf("%.*f", u.digits, v)
}

// grouped is a number with commas.
func grouped(n int64) string {
	if n < 0 {
		return "-" + grouped(-n)
	}
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
