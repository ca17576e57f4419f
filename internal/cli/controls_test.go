package cli

import (
	"encoding/json"
	"testing"

	"patra"
)

func TestHealingIsToldInWords(t *testing.T) {
	for _, c := range []struct{ action, detail, want string }{
		{patra.HealOpen, `{"failures":3,"status":500,"text":"Internal Server Error","trips":1,"until":"2026-11-15T11:19:32.092Z"}`, "status 500, Internal Server Error, 3 failures in a row, until 11:19:32"},
		{patra.HealRestart, `{"pages":0,"scan":2,"text":"EOF"}`, "EOF, scan 2 begins"},
		{patra.HealDownshift, `{"from":0,"of":4,"to":3,"until":"2026-11-15T11:28:07.690Z"}`, "3 of 4 at once, until 11:28:07"},
		{patra.HealCooldown, `{"retry_after_seconds":2,"text":"the provider asks us to slow down"}`, "the provider asks us to slow down, asked to wait 2s"},
		{patra.HealCooldown, `{"retry_after_seconds":0,"text":"the provider asks us to slow down"}`, "the provider asks us to slow down"},
		{patra.HealAside, `{"id":"10.5555/a","text":"Not Found"}`, "10.5555/a, Not Found"},
		{patra.HealHalfOpen, `{"trips":1}`, "one request tries whether it answers again"},
		{patra.HealClose, `{"open_seconds":0.1,"trips":1}`, "it answers again"},
		{"NEW", `{"a":1}`, `{"a":1}`},
		{"NEW", "", ""},
	} {
		if got := healingText(patra.Healing{Action: c.action, Detail: json.RawMessage(c.detail)}); got != c.want {
			t.Errorf("%s %s is told as %q, want %q", c.action, c.detail, got, c.want)
		}
	}
}
