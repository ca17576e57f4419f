package config_test

import (
	"testing"

	"patra/internal/config"
)

func TestPercent(t *testing.T) {
	tests := []struct {
		text string
		want float64
	}{
		{"1%", 0.01}, {"50%", 0.5}, {"100%", 1},
	}
	for _, tt := range tests {
		var p config.Percent
		if err := p.UnmarshalText([]byte(tt.text)); err != nil || p.Fraction() != tt.want || p.String() != tt.text {
			t.Errorf("%s: got %s (%v), %v", tt.text, p, p.Fraction(), err)
		}
	}
	for _, text := range []string{"", "%", "50", "0.5", "0%", "101%", "356%", "-1%", "+1%", "50 %", "50%%", "half", "1e1%"} {
		p := config.Percent(7)
		if err := p.UnmarshalText([]byte(text)); err == nil || p != 7 {
			t.Errorf("%q: read as %s", text, p)
		}
	}
}
