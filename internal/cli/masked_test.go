package cli

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"patra/internal/config"
	"patra/internal/strictyaml"
)

// Whatever a log line holds, it names nobody.
func TestLogsNameNobody(t *testing.T) {
	for _, format := range []string{"text", "json"} {
		var b bytes.Buffer
		a := &app{stderr: &b}
		log := a.logger(config.Config{Log: config.Log{Level: "debug", Format: format}})
		log = log.With("who", "ada@example.org").WithGroup("inside")
		log.Warn("from ada@example.org", "text", "write to ada@example.org", "error", errors.New("ada@example.org is refused"), "list", []string{"ada@example.org", "+49 30 1234567"},
			"phone", "tel. 030 1234567", "doi", "10.1038/s41586-020-2649-2", "n", 31978945)
		text := b.String()
		if strings.Contains(text, "ada@") || strings.Contains(text, "1234567") {
			t.Errorf("%s", text)
		}
		for _, kept := range []string{"10.1038/s41586-020-2649-2", "31978945", "is refused", "[e-mail", "[phone"} {
			if !strings.Contains(text, kept) {
				t.Errorf("%s is gone: %s", kept, text)
			}
		}
	}
}

// A secret that was given out, whoever got it, is in no line; nor is the password of the store.
func TestLogsShowNoSecretThatWasGivenOut(t *testing.T) {
	var b bytes.Buffer
	c := config.Default()
	c.Store.URL = "mysql://patra:store-password@db:3306/patra"
	c.Secrets = config.Secrets{}
	if err := strictyaml.Decode("x.yaml", []byte("secrets: {acme: 'env:ACME'}\n"), &c); err != nil {
		t.Fatal(err)
	}
	a := &app{environ: []string{"ACME=swordfish-0815"}, stderr: &b, config: &c}
	if set, err := a.have("acme"); err != nil || !set {
		t.Fatal(set, err)
	}
	a.logger(c).Warn("said", "text", "they say swordfish-0815 and store-password", "error", errors.New("SWORDFISH-0815"))
	if text := strings.ToLower(b.String()); strings.Contains(text, "swordfish") || strings.Contains(text, "store-password") || !strings.Contains(text, "redacted") {
		t.Error(text)
	}
}

// A server tells machines what it does, and a command tells a person what went wrong; unless somebody says otherwise.
func TestWhoLogsWhat(t *testing.T) {
	for _, c := range []struct {
		serving   bool
		log       config.Log
		json, all bool
	}{
		{false, config.Log{}, false, false}, {true, config.Log{}, true, true}, {true, config.Log{Level: "warn"}, true, false}, {true, config.Log{Format: "text"}, false, true}, {false, config.Log{Level: "info", Format: "json"}, true, true},
	} {
		var b bytes.Buffer
		a := &app{stderr: &b, serving: c.serving}
		log := a.logger(config.Config{Log: c.log})
		log.Info("info")
		log.Warn("warn")
		if got := b.String(); strings.HasPrefix(got, "{") != c.json || strings.Contains(got, "info") != c.all || !strings.Contains(got, "warn") {
			t.Errorf("serving %t with %+v: %s", c.serving, c.log, got)
		}
	}
}
