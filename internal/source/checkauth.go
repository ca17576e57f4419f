package source

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"patra"
)

// headerName is what HTTP allows as the name of a header.
var headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$")

// ownHeaders are made by the connection itself.
var ownHeaders = []string{"host", "content-length", "content-type", "transfer-encoding", "connection", "accept-encoding"}

// auth checks how we show who we are, as it is after merging. What was written elsewhere is reported there.
func (c *checker) auth(at string, a Auth, params map[string]Parameter) {
	if !c.doc.Has(at) {
		return
	}
	c.oneOf(at+".type", a.Type, authTypes...)
	keys, known := authKeys[a.Type]
	if !known || a.Type == AuthNone && !c.doc.Has(at+".type") { // endpoints may say the type
		return
	}
	for _, key := range []string{"in", "name", "secret", "optional", "user", "userSecret", "clientId", "tokenUrl", "scopes", "audience", "signer", "options", "rate"} {
		if c.doc.Has(at+"."+key) && !slices.Contains(keys, key) {
			c.add(at+"."+key, "CONFLICT", fmt.Sprintf("%s means nothing with type: %s", key, a.Type), "leave it out; it has "+strings.Join(keys[1:], ", "))
		}
	}
	if a.Type == AuthNone {
		return
	}
	c.required(at+".secret", a.Secret)
	for _, n := range a.Secrets() {
		if !patra.IsSecretName(n.Name) { // it may be the secret itself, so it is not printed
			c.add(at+"."+n.Key, "BAD_VALUE", n.Key+" is not the name of a secret", "write a name such as ncbi, never the secret itself, and set it under secrets in patra.yaml")
		}
	}
	if c.doc.Has(at + ".rate") {
		c.speed(at+".rate", a.Rate.PerSecond, cmp.Or(a.Rate.Burst, 1))
		c.notZero(at+".rate.burst", a.Rate.Burst == 0)
		c.quota(at+".rate.quota", a.Rate.Quota, 1)
	}
	switch a.Type {
	case AuthKey:
		c.key(at, a)
	case AuthBasic:
		c.user(at, a, true)
	case AuthOAuth2:
		c.token(at, a, params)
	case AuthCustom:
		c.user(at, a, false)
		c.signer(at, a)
	}
}

// key checks where an API key goes.
func (c *checker) key(at string, a Auth) {
	c.oneOf(at+".in", a.In, InHeader, InQuery, InBody)
	c.required(at+".name", a.Name)
	if a.In == InHeader && a.Name != "" {
		c.header(at+".name", a.Name)
	}
}

func (c *checker) header(at, name string) {
	switch {
	case !headerName.MatchString(name):
		c.add(at, "BAD_VALUE", fmt.Sprintf("%q is not the name of a header", name), "write one such as X-Api-Key")
	case slices.Contains(ownHeaders, strings.ToLower(name)):
		c.add(at, "CONFLICT", fmt.Sprintf("the header %s is made by the connection", name), "write another one such as X-Api-Key")
	}
}

// user checks who the secret belongs to.
func (c *checker) user(at string, a Auth, required bool) {
	switch {
	case a.User != "" && a.UserSecret != "":
		c.add(at+".userSecret", "CONFLICT", "user and userSecret both say whose secret it is", "leave one of them out")
	case required && a.User == "" && a.UserSecret == "":
		c.add(at+".user", "REQUIRED", "user is required", "write user: NAME if it is the same for everybody, else userSecret: with the name of a secret")
	case strings.Contains(a.User, ":") && a.Type == AuthBasic:
		c.add(at+".user", "BAD_VALUE", "a user has no colon: behind it the password begins", "write the password as a secret")
	}
}

// token checks how tokens are asked for.
func (c *checker) token(at string, a Auth, params map[string]Parameter) {
	c.required(at+".clientId", a.ClientID)
	if a.In != "" {
		c.oneOf(at+".in", a.In, InHeader, InBody)
	}
	c.required(at+".tokenUrl", a.TokenURL)
	c.template(at+".tokenUrl", a.TokenURL, params)
	u, err := url.Parse(placeholder.ReplaceAllString(a.TokenURL, "x"))
	own := err == nil && u.Scheme == "" && u.Host == "" && strings.HasPrefix(u.Path, "/")
	if a.TokenURL != "" && (err != nil || !own && (u.Scheme != "https" || u.Host == "") || u.User != nil || u.Fragment != "") {
		c.add(at+".tokenUrl", "BAD_VALUE", fmt.Sprintf("tokenUrl %q is not an address that secrets may be sent to", a.TokenURL), "write https://host/path, or /path where it is at baseUrl")
	}
}

// signer checks the signer and its options.
func (c *checker) signer(at string, a Auth) {
	c.oneOf(at+".signer", a.Signer, Signers()...)
	check, known := signers[a.Signer]
	if !known {
		return
	}
	problems := check(a.Options)
	slices.SortFunc(problems, func(a, b patra.Problem) int { return strings.Compare(a.Path, b.Path) })
	for _, p := range problems {
		c.add(at+".options."+p.Path, p.Code, p.Text, p.Hint)
	}
	for _, name := range slices.Sorted(maps.Keys(a.Options)) {
		if strings.HasSuffix(name, "Header") && a.Options[name] != "" {
			c.header(at+".options."+name, a.Options[name])
		}
	}
}

// keyInBody refuses a key in the body of a request that has none.
func (c *checker) keyInBody(at string, e Endpoint, f *File) {
	a := merge(platform, f.Defaults, e.Blocks).Auth
	if a.Type != AuthKey || a.In != InBody || e.Request.Method == "POST" && (e.Request.Send == sendForm || e.Request.Send == sendJSON) {
		return
	}
	where := "defaults.auth.in"
	if c.doc.Has(at + ".auth.in") {
		where = at + ".auth.in"
	}
	c.once(where, "CONFLICT", fmt.Sprintf("the request of %s has no body for the key", lastPart(at)), "write in: HEADER or QUERY, or give the request method: POST and send: FORM or JSON")
}
