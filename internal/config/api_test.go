package config_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"patra"
	"patra/internal/config"
)

// Whoever lets others in must say who they are, and not in the clear.
func TestAnAPIForOthersNeedsTokensAndTLS(t *testing.T) {
	cert := config.TLS{Cert: "c", Key: "k"}
	for _, x := range []struct {
		name string
		api  config.API
		bad  []string
	}{
		{"nothing is said", config.API{Tokens: "off"}, nil},
		{"off", config.API{Listen: "off", Tokens: "off"}, nil},
		{"this machine", config.API{Listen: "127.0.0.1:1", Tokens: "off"}, nil},
		{"this machine, by name", config.API{Listen: "localhost:1", Tokens: "on"}, nil},
		{"this machine, v6", config.API{Listen: "[::1]:1", Tokens: "off"}, nil},
		{"everybody", config.API{Listen: "0.0.0.0:1", Tokens: "off"}, []string{"api.tokens", "api.tls"}},
		{"everybody, unsaid", config.API{Listen: ":1", Tokens: "off"}, []string{"api.tokens", "api.tls"}},
		{"everybody in the clear", config.API{Listen: "0.0.0.0:1", Tokens: "on"}, []string{"api.tls"}},
		{"everybody without tokens", config.API{Listen: "0.0.0.0:1", Tokens: "off", TLS: cert}, []string{"api.tokens"}},
		{"everybody, as it should be", config.API{Listen: "0.0.0.0:1", Tokens: "on", TLS: cert}, nil},
		{"behind a proxy", config.API{Listen: "10.0.0.1:1", Tokens: "on", Proxy: true}, nil},
		{"half a certificate", config.API{Tokens: "off", TLS: config.TLS{Cert: "c"}}, []string{"api.tls"}},
		{"a switch that is neither", config.API{Tokens: "maybe"}, []string{"api.tokens"}},
		{"no address", config.API{Listen: "here", Tokens: "off"}, []string{"api.listen"}},
	} {
		c := config.Default()
		c.API = x.api
		var at []string
		found, _ := errors.AsType[patra.Problems](c.Validate())
		for _, p := range found {
			at = append(at, p.Path)
		}
		if !slices.Equal(at, x.bad) {
			t.Errorf("%s: %v is wrong, and should be %v", x.name, at, x.bad)
		}
	}
}

// Numbers are told at an address, at the usual one if nothing is said, or nowhere.
func TestWhereNumbersAreTold(t *testing.T) {
	for listen, want := range map[string]struct {
		address string
		said    bool
	}{"": {config.UsualOps, false}, "off": {"", true}, "0.0.0.0:9091": {"0.0.0.0:9091", true}, "localhost:0": {"localhost:0", true}} {
		if address, said := (config.Ops{Listen: listen}).Address(); address != want.address || said != want.said {
			t.Errorf("%q: %q, %v", listen, address, said)
		}
		if _, err := load(t, "", "PATRA_OPS_LISTEN="+listen); err != nil {
			t.Errorf("%q: %v", listen, err)
		}
	}
	for _, listen := range []string{"here", "9090", "127.0.0.1:99999", "none"} {
		if _, err := load(t, "", "PATRA_OPS_LISTEN="+listen); err == nil || !strings.Contains(err.Error(), "ops.listen is not an address (BAD_VALUE at ops.listen). Write one such as 127.0.0.1:9090, or off") {
			t.Errorf("%q: %v", listen, err)
		}
	}
}
