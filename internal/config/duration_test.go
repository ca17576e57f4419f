package config_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"patra/internal/config"
)

func TestDuration(t *testing.T) {
	tests := []struct {
		text string
		want time.Duration
		back string
	}{
		{"60s", time.Minute, "1m"},
		{"10m", 10 * time.Minute, "10m"},
		{"90d", 90 * 24 * time.Hour, "90d"},
		{"1d12h", 36 * time.Hour, "1d12h"},
		{"1h30m", 90 * time.Minute, "1h30m"},
		{"1h0m5s", time.Hour + 5*time.Second, "1h0m5s"},
		{"24h", 24 * time.Hour, "1d"},
		{"1.5s", 1500 * time.Millisecond, "1.5s"},
		{"0s", 0, "0s"},
		{"0", 0, "0s"},
		{"0d", 0, "0s"},
		{"106751d", 106751 * 24 * time.Hour, "106751d"},
	}
	for _, tt := range tests {
		var d config.Duration
		if err := d.UnmarshalText([]byte(tt.text)); err != nil || time.Duration(d) != tt.want || d.String() != tt.back {
			t.Errorf("%s: got %s (%s), %v", tt.text, time.Duration(d), d, err)
		}
	}
	for _, text := range []string{
		"", "d", "60", "-5s", "-1d", "1d-5h", "+1s", "1d+5h", "1.5d", "PT10M", "P1D", "soon", "5 s", "1dd", "1h1d",
		"106752d", "99999999999999d", "4294967296d", "9223372036854775807h",
	} {
		d := config.Duration(7)
		if err := d.UnmarshalText([]byte(text)); err == nil || d != 7 {
			t.Errorf("%q: read as %s", text, d)
		}
	}
}

// What is written is read back the same.
func TestDurationRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := config.Duration(rapid.Int64Min(0).Draw(t, "ns"))
		if rapid.Bool().Draw(t, "round") {
			want = want / config.Duration(time.Hour) * config.Duration(time.Hour)
		}
		text, _ := want.MarshalText()
		var got config.Duration
		if err := got.UnmarshalText(text); err != nil || got != want {
			t.Fatalf("%s: got %s, %v", text, got, err)
		}
	})
}
