package config

import (
	"fmt"
	"strconv"
	"strings"

	"patra/internal/strictyaml"
)

// Switch is on or off. YAML reads the bare words as texts, as people write them.
type Switch string

// On reports whether it is on.
func (s Switch) On() bool { return s == "on" }

// Address is where the API listens, and whether somebody said so; empty is nowhere.
func (a API) Address() (address string, said bool) { return listenAt(a.Listen, UsualListen) }

// Address is where numbers are told, and whether somebody said so; empty is nowhere.
func (o Ops) Address() (address string, said bool) { return listenAt(o.Listen, UsualOps) }

func listenAt(said, usual string) (string, bool) {
	switch said {
	case "":
		return usual, false
	case ListenOff:
		return "", true
	}
	return said, true
}

func (a API) findings() []finding {
	var all findings
	bad := func(path, hint, text string, args ...any) finding {
		return finding{paths: []string{path}, code: strictyaml.CodeBadValue, text: fmt.Sprintf(text, args...), hint: hint}
	}
	all.add(bad("api.tokens", "write on or off", "api.tokens is on or off, and not %q", a.Tokens), a.Tokens == "on" || a.Tokens == "off")
	all.add(bad("api.tls", "write both cert and key, or neither", "a certificate needs its key, and a key its certificate"), (a.TLS.Cert == "") == (a.TLS.Key == ""))
	address, _ := a.Address()
	if address == "" {
		return all
	}
	if !hasPort(address) {
		all.add(bad("api.listen", "write one such as "+UsualListen+", or off", "api.listen is not an address"), false)
		return all
	}
	if isLoopback(address) {
		return all
	}
	all.add(bad("api.tokens", "write tokens: on, and make one with patra token create", "whoever can reach %s could steer everything", address), a.Tokens.On())
	all.add(bad("api.tls", "name a certificate and its key, or write proxy: true if a proxy of yours has them", "tokens would cross the network in the clear"), a.TLS.Cert != "" || a.Proxy)
	return all
}

// hasPort reports whether an address ends in a port.
func hasPort(address string) bool {
	_, err := strconv.ParseUint(address[strings.LastIndex(address, ":")+1:], 10, 16)
	return err == nil && strings.Contains(address, ":")
}
