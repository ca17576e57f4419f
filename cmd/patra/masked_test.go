package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"patra/internal/config"
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
