package config_test

import (
	"testing"

	"patra/internal/config"
)

func TestAnAmountOfMemoryIsWrittenWithItsUnit(t *testing.T) {
	for text, want := range map[string]config.Bytes{"512MiB": 512 << 20, "2GiB": 2 << 30, "1024MiB": 1 << 30, "64KiB": 64 << 10, "0MiB": 0} {
		var b config.Bytes
		if err := b.UnmarshalText([]byte(text)); err != nil || b != want {
			t.Errorf("%s is %d, %v", text, b, err)
		}
		var again config.Bytes
		if err := again.UnmarshalText([]byte(b.String())); err != nil || again != b {
			t.Errorf("%s is written as %s", text, b)
		}
	}
	for _, text := range []string{"", "512", "512MB", "-1MiB", "1.5GiB", "MiB", "99999999999999GiB", "1 GiB"} {
		var b config.Bytes
		if err := b.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q was read as %d", text, b)
		}
	}
}
