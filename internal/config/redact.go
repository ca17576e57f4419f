package config

import (
	"regexp"
	"slices"
	"strings"
)

const mask = "***"

// secretParameter finds query parameters that are secrets by their name.
var secretParameter = regexp.MustCompile(`(?i)([?&][^=&]*(?:pass|pwd|secret|token|key)[^=&]*=)[^&]*`)

// Redacted is the configuration as it may be printed and logged: without the passwords of the store and of Redis, and
// without all that makes the address of a receiver of alerts a secret.
func (c Config) Redacted() Config {
	c.Store.URL, c.Gate.Redis.URL = redactURL(c.Store.URL), redactLogin(c.Gate.Redis.URL)
	c.Alerts.Notify = slices.Clone(c.Alerts.Notify)
	for i := range c.Alerts.Notify {
		c.Alerts.Notify[i].URL = redactHook(c.Alerts.Notify[i].URL)
	}
	return c
}

// redactLogin hides all that stands before the host: a password alone is easily written where a name belongs.
func redactLogin(url string) string {
	url = secretParameter.ReplaceAllString(url, "${1}"+mask)
	at := strings.LastIndex(url, "@")
	if at < 0 {
		return url
	}
	scheme, _, ok := strings.Cut(url[:at], "://")
	if !ok {
		return mask + url[at:]
	}
	return scheme + "://" + mask + url[at:]
}

// redactURL does not parse the URL, for the one that does not parse is the one that ends up in a message. The password
// ends at the last "@", as it may hold one itself; a host that is lost along with it is the cheaper mistake.
func redactURL(url string) string {
	url = secretParameter.ReplaceAllString(url, "${1}"+mask)
	scheme, rest, ok := strings.Cut(url, ":")
	if !ok || scheme == "sqlite" {
		return url
	}
	slashes := rest[:len(rest)-len(strings.TrimLeft(rest, "/"))]
	rest = rest[len(slashes):]
	at := strings.LastIndex(rest, "@")
	if at < 0 {
		return url
	}
	user, _, found := strings.Cut(rest[:at], ":")
	switch {
	case found:
		return scheme + ":" + slashes + user + ":" + mask + rest[at:]
	case slashes == "":
		// A URL that lost its scheme: what looks like one is the user, and the rest is the password.
		return scheme + ":" + mask + rest[at:]
	}
	return url
}

// redactHook leaves the scheme and the host of an address: whoever knows the rest can write there.
func redactHook(url string) string {
	if url == "" || strings.HasPrefix(url, secretURL) {
		return url
	}
	scheme, rest, ok := strings.Cut(url, "://")
	host, _, _ := strings.Cut(rest, "/")
	host, _, _ = strings.Cut(host, "?")
	if !ok || strings.Contains(host, "@") {
		return mask
	}
	return scheme + "://" + host + "/" + mask
}
