package config_test

import (
	"strings"
	"testing"

	"patra/internal/config"
)

func TestSinks(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       string // part of the problem; empty: it is right
	}{
		{"a file", `[{name: feed, type: FILE, url: "file:events.jsonl"}]`, ""},
		{"all kinds", `[{name: a, type: NATS, url: "nats://u@h:4222", secret: s}, {name: b, type: KAFKA, url: "kafka://h:9092"}, {name: c, type: WEBHOOK, url: "https://h/x", secret: s, keyId: k-1, events: [record.*, patra.task.failed]}]`, ""},
		{"no name", `[{type: FILE, url: "file:x"}]`, "sinks[0].name"},
		{"a long name", `[{name: ` + strings.Repeat("a", 48) + `, type: FILE, url: "file:x"}]`, "from 1 to 47"},
		{"the same name", `[{name: a, type: FILE, url: "file:x"}, {name: a, type: FILE, url: "file:y"}]`, "sinks[1].name"},
		{"an unknown type", `[{name: a, type: FIL, url: "file:x"}]`, `Did you mean "FILE"?`},
		{"an address of another type", `[{name: a, type: NATS, url: "https://h"}]`, "begins with nats: or tls:"},
		{"nothing behind the colon", `[{name: a, type: FILE, url: "file:"}]`, "sinks[0].url"},
		{"a password", `[{name: a, type: NATS, url: "nats://u:p@h:4222"}]`, "holds a password"},
		{"a password in another address", `[{name: a, type: NATS, url: "nats://h:4222,nats://u:p@i:4222"}]`, "holds a password"},
		{"a password without the scheme", `[{name: a, type: KAFKA, url: "kafka://h:9092,u:p@i:9092"}]`, "holds a password"},
		{"a password that breaks the address", `[{name: a, type: NATS, url: "nats://u:50%off@h:4222"}]`, "holds a password"},
		{"a password with a slash", `[{name: a, type: KAFKA, url: "kafka://u:p/w@h:9092"}]`, "holds a password"},
		{"no address", `[{name: a, type: WEBHOOK, url: "https://h:port/x"}]`, "is not a URL"},
		{"several addresses", `[{name: a, type: NATS, url: "nats://u@h:4222,nats://u@i:4222", secret: s}, {name: b, type: KAFKA, url: "kafka://u@h:9092,i:9092", secret: s}]`, ""},
		{"an address of a person", `[{name: a, type: WEBHOOK, url: "https://h/x:y@z?to=a:b@c"}]`, ""},
		{"a user of a webhook", `[{name: a, type: WEBHOOK, url: "https://u@h/x"}]`, "names a user"},
		{"an unknown secret", `[{name: a, type: NATS, url: "nats://h:4222", secret: nowhere}]`, "there is no secret"},
		{"a webhook without encryption", `[{name: a, type: WEBHOOK, url: "http://h/x"}]`, "local: true"},
		{"a local one", `[{name: a, type: WEBHOOK, url: "http://127.0.0.1:8080/x", local: true}]`, ""},
		{"unknown events", `[{name: a, type: FILE, url: "file:x", events: [records.*]}]`, "there are no events"},
		{"an unknown start", `[{name: a, type: FILE, url: "file:x", from: END}]`, "sinks[0].from"},
		{"an unknown key", `[{name: a, type: FILE, url: "file:x", path: y}]`, `unknown key "path"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cfg, err := load(t, "secrets: {s: \"env:X\"}\nsinks: "+tt.text)
			switch {
			case tt.want == "" && err != nil:
				t.Error(err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("got %v, want %q", err, tt.want)
			case tt.want == "" && (cfg.Sinks[0].From != config.FromStart || cfg.Sinks[0].Rotate == 0):
				t.Errorf("%+v", cfg.Sinks[0])
			}
		})
	}
}
