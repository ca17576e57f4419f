package source

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"patra"
)

// A link that leads away from the provider is a fault with a name of its own, and says where it leads and where it should.
func TestALinkThatLeadsAway(t *testing.T) {
	base, err := url.Parse("https://api.example.org/works")
	if err != nil {
		t.Fatal(err)
	}
	for link, leads := range map[string]string{
		"https://elsewhere.example/works?page=2":           "leads to https://elsewhere.example, away from https://api.example.org",
		"//elsewhere.example/":                             "leads to https://elsewhere.example, away from https://api.example.org",
		"http://api.example.org/works":                     "leads to http://api.example.org, away from https://api.example.org",
		"https://api.example.org:8443/works":               "leads to https://api.example.org:8443, away from https://api.example.org",
		"https://us:word@api.example.org/":                 "leads to https://somebody@api.example.org, away from https://api.example.org",
		"file:///etc/passwd":                               `leads to file://"", away from https://api.example.org`,
		"https://api.example.org\u202e.elsewhere.example/": `leads to https://"api.example.org\u202e.elsewhere.example", away from https://api.example.org`,
		"https://[::1":                                     "is no address; it should lead to https://api.example.org",
	} {
		_, err := follow(base, link, nil)
		fault, ok := errors.AsType[*patra.Fault](err)
		if !ok || fault.Code != patra.CodeLinkAway || !strings.Contains(fault.Text, leads) || strings.Contains(fault.Text, "word") {
			t.Errorf("%q: %v, want %q", link, err, leads)
		}
		if ok && (fault.Counts() || !fault.IsStrange()) {
			t.Errorf("%q: it opens a breaker, or is an ordinary answer", link)
		}
	}
}
