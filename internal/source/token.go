package source

import (
	"fmt"
	"net/url"
	"strings"
)

// TokenAddress is where tokens are asked for, and the spec by which a client for that place is made. Own reports that it
// is at the source's own address, so that whatever stands in for the source stands in for it too.
func (s *Spec) TokenAddress(baseURL string, vars Vars) (address string, place *Spec, own bool, err error) {
	address = vars.fill(s.Auth.TokenURL, s.Parameters)
	if !strings.HasPrefix(address, "/") {
		there := *s
		there.HTTP.BaseURL = address
		return address, &there, false, nil
	}
	if baseURL == "" {
		baseURL = s.Address(vars)
	}
	base, err := url.Parse(baseURL)
	if err != nil {
		return "", nil, false, fmt.Errorf("base URL %q is not an address", baseURL)
	}
	at, err := url.Parse(address)
	if err != nil {
		return "", nil, false, fmt.Errorf("tokenUrl %q is not a path", address)
	}
	joined := base.JoinPath(at.Path)
	joined.RawQuery = at.RawQuery
	return joined.String(), s, true, nil
}

// UserAgent is the name under which we speak to others than the source itself.
func (s *Spec) UserAgent(vars Vars) string {
	for name, value := range s.HTTP.Headers {
		if strings.EqualFold(name, "User-Agent") {
			return vars.fill(value, s.Parameters)
		}
	}
	return ""
}
