package config_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"patra"
	"patra/internal/config"
)

func TestReceiversOfAlerts(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       string // part of the problem; empty: it is right
	}{
		{"one", `[{name: ops, url: "https://h/x"}]`, ""},
		{"all that can be said", `[{name: ops, type: webhook, url: "https://h/x", template: generic, secret: s, keyId: k-1, severity: NOTICE, kinds: [HALTED, IDLE], sources: [pubmed], repeat: 0s}, {name: b, url: "secret:s", template: slack}, {name: c, url: "https://h/y?access_token=1", template: dingtalk, secret: s}]`, ""},
		{"a local one", `[{name: a, url: "http://127.0.0.1:8080/x", local: true}]`, ""},
		{"no name", `[{url: "https://h/x"}]`, "alerts.notify[0].name"},
		{"the same name", `[{name: a, url: "https://h/x"}, {name: a, url: "https://h/y"}]`, "alerts.notify[1].name"},
		{"an unknown type", `[{name: a, type: webhok, url: "https://h/x"}]`, `Did you mean "webhook"?`},
		{"an unknown template", `[{name: a, url: "https://h/x", template: slak}]`, `Did you mean "slack"?`},
		{"an unknown severity", `[{name: a, url: "https://h/x", severity: FATAL}]`, "CRITICAL, WARNING, NOTICE"},
		{"an unknown kind", `[{name: a, url: "https://h/x", kinds: [HALTD]}]`, `Did you mean "HALTED"?`},
		{"no address", `[{name: a}]`, "is no web address"},
		{"a user", `[{name: a, url: "https://u:hunter2@h/x"}]`, "names a user"},
		{"without encryption", `[{name: a, url: "http://h/x"}]`, "local: true"},
		{"an address that is an unknown secret", `[{name: a, url: "secret:nowhere"}]`, "there is no secret"},
		{"an unknown secret", `[{name: a, url: "https://h/x", secret: nowhere}]`, "there is no secret"},
		{"a signature for Slack", `[{name: a, url: "https://h/x", template: slack, secret: s}]`, "is not signed"},
		{"a key id without a secret", `[{name: a, url: "https://h/x", keyId: k}]`, "key id"},
		{"too often", `[{name: a, url: "https://h/x", repeat: 5s}]`, "at least 1m"},
		{"an unknown key", `[{name: a, url: "https://h/x", path: y}]`, `unknown key "path"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cfg, err := load(t, "secrets: {s: \"env:X\"}\nalerts: {notify: "+tt.text+"}")
			switch {
			case tt.want == "" && err != nil:
				t.Error(err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("got %v, want %q", err, tt.want)
			case err != nil && strings.Contains(err.Error(), "hunter2"):
				t.Errorf("it says the password: %v", err)
			case tt.want == "" && (cfg.Alerts.Notify[0].Template == "" || cfg.Alerts.Notify[0].Severity == ""):
				t.Errorf("%+v", cfg.Alerts.Notify[0])
			}
		})
	}
}

func TestRulesOfAlerts(t *testing.T) {
	for text, want := range map[string]string{
		`{every: 1s}`:                        "0s or at least 5s",
		`{group: 0}`:                         "from 1 to 50",
		`{rules: {lag: 0s}}`:                 "alerts.rules.off",
		`{rules: {off: [SURGES]}}`:           `Did you mean "SURGE"?`,
		`{sources: {pubmed: {off: [NONE]}}}`: "alerts.sources.pubmed.off",
		`{rules: {errorShare: 0.05}}`:        "percentage",
		`{rules: {surgeSigmas: 0}}`:          "from 1 to 100",
	} {
		if _, err := load(t, "alerts: "+text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
	if got := config.Default().Alerts.Patra(); !reflect.DeepEqual(got.For("any"), func() patra.AlertRules { r := patra.DefaultAlertRules; r.Sources = got.Sources; return r }()) {
		t.Errorf("the defaults are others than those of the rules: %+v", got)
	}
	cfg, err := load(t, "alerts: {sources: {pubmed: {lag: 2h, errorShare: 20%, off: [VOLUME]}}}")
	if err != nil {
		t.Fatal(err)
	}
	own := cfg.Alerts.Patra().For("pubmed")
	if own.Lag != 2*time.Hour || own.ErrorShare != 0.2 || own.ThrottleShare != 0.05 || len(own.Off) != 1 || cfg.Alerts.Patra().For("crossref").Lag != 30*time.Minute {
		t.Errorf("%+v", own)
	}
}

// An address of a receiver is a secret, whoever prints the settings.
func TestAddressesOfReceiversAreNotShown(t *testing.T) {
	for _, url := range []string{"https://hooks.example.org/services/T0/B0/hunter2", "https://h.example.org?access_token=hunter2", "https://x:hunter2@h/y", "hunter2", "https:hunter2"} {
		cfg := config.Default()
		cfg.Alerts.Notify = []config.Notify{{URL: url}}
		if got := fmt.Sprintf("%+v", cfg.Redacted()); strings.Contains(got, "hunter2") {
			t.Errorf("%s: %s", url, got)
		}
		if cfg.Alerts.Notify[0].URL != url {
			t.Error("the settings themselves were changed")
		}
	}
	cfg := config.Default()
	cfg.Alerts.Notify = []config.Notify{{URL: "secret:chat"}, {URL: "https://hooks.example.org/x"}}
	if got := cfg.Redacted().Alerts.Notify; got[0].URL != "secret:chat" || got[1].URL != "https://hooks.example.org/***" {
		t.Errorf("%+v", got)
	}
}
