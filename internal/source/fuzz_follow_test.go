package source

import (
	"net/url"
	"testing"
)

// FuzzFollow: wherever a provider's link leads, a request goes to the host that was to be asked and to no other, by the same
// scheme, without anybody's name in it, and with our own parameters.
func FuzzFollow(f *testing.F) {
	for _, link := range []string{"?cursor=abc", "/works?cursor=a b", "https://api.example.org/works?page=2#top", "https://api.example.org@elsewhere.example/", "//elsewhere.example/works", "http://api.example.org/works",
		"https://user:word@api.example.org/", "https://api.example.org:443/", "https://API.example.org/", "file:///etc/passwd", "javascript:alert(1)", "https:opaque", "\\\\elsewhere.example\\", "https://[::ffff:127.0.0.1]/", "%2f%2felsewhere.example", "../../..//elsewhere.example",
		"?mailto=somebody@else.example", "https://api.example.org\t.elsewhere.example/", "/.//elsewhere.example/", "?a=%zz"} {
		f.Add(link)
	}
	base, err := url.Parse("https://api.example.org/v1/works")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, link string) {
		to, err := follow(base, link, url.Values{"mailto": {"us@example.org"}})
		if err != nil {
			return
		}
		u, err := url.Parse(to)
		if err != nil {
			t.Fatalf("%q leads to %q, which is no address: %v", link, to, err)
		}
		if u.Scheme != "https" || u.Host != base.Host || u.User != nil || u.Fragment != "" || u.Opaque != "" {
			t.Errorf("%q leads to %q", link, to)
		}
		if !u.Query().Has("mailto") {
			t.Errorf("%q lost our parameter: %q", link, to)
		}
	})
}
