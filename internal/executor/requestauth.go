package executor

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
	"strings"

	"patra"
	"patra/internal/source"
)

// requestAuth is who we are in one request. Nil is nobody: such a request is anonymous.
type requestAuth struct {
	auth                 source.Auth
	secret, user, client string

	token   *oauthToken // of OAUTH2
	keeper  *tokenCache
	secrets patra.Redactor
}

// show puts who we are into a request. body is what the request carries.
func (i *requestAuth) show(req *http.Request, spec *source.Spec, body []byte) error {
	if i == nil {
		return nil
	}
	if !source.MaySendSecret(req.URL) {
		return i.authFault("a secret is not sent without encryption; " + req.URL.Host + " needs https")
	}
	switch i.auth.Type {
	case source.AuthKey:
		return i.showKey(req, spec, body)
	case source.AuthBearer:
		return i.setHeader(req, "Authorization", "Bearer "+i.secret)
	case source.AuthBasic:
		req.SetBasicAuth(i.user, i.secret)
		return nil
	case source.AuthOAuth2:
		return i.setHeader(req, "Authorization", "Bearer "+i.token.value)
	case source.AuthCustom:
		sign, ok := signers[i.auth.Signer]
		if !ok {
			return i.authFault("this program has no signer " + i.auth.Signer)
		}
		return sign(i, req, body)
	}
	return i.authFault("this program does not know auth " + i.auth.Type)
}

func (i *requestAuth) showKey(req *http.Request, spec *source.Spec, body []byte) error {
	switch i.auth.In {
	case source.InHeader:
		return i.setHeader(req, i.auth.Name, i.secret)
	case source.InQuery:
		req.URL.RawQuery = withParameter(req.URL.RawQuery, i.auth.Name, i.secret)
		return nil
	}
	body, kind, err := spec.BodyWithKey(body, i.secret)
	if err != nil {
		return i.authFault(err.Error())
	}
	req.Header.Set("Content-Type", kind)
	req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	return nil
}

// setHeader sets a header, unless no header could hold the value.
func (i *requestAuth) setHeader(req *http.Request, name, value string) error {
	if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
		return i.authFault("it holds a line break or another character that no header can carry")
	}
	req.Header.Set(name, value)
	return nil
}

// authFault is why a request cannot show who we are. A person has to change something.
func (i *requestAuth) authFault(why string) error {
	return &patra.Fault{Level: patra.LevelFatal, Code: patra.CodeAuth, Path: "auth", Text: "the secret " + i.auth.Secret + " cannot be used: " + why}
}

// withParameter sets one parameter of a query and leaves the rest as it is written: some tokens must not be encoded anew.
func withParameter(query, name, value string) string {
	var kept []string
	for part := range strings.SplitSeq(query, "&") {
		key, _, _ := strings.Cut(part, "=")
		if plain, err := url.QueryUnescape(key); part != "" && (err != nil || plain != name) {
			kept = append(kept, part)
		}
	}
	return strings.Join(append(kept, url.QueryEscape(name)+"="+url.QueryEscape(value)), "&")
}

// registerSecrets collects what must be seen nowhere, and tells it. A user that stands in the source file is not a secret.
func (i *requestAuth) registerSecrets() []string {
	values := []string{i.secret, i.client}
	if i.auth.UserSecret != "" {
		values = append(values, i.user)
	}
	if i.auth.Type == source.AuthBasic {
		values = append(values, i.user+":"+i.secret)
	}
	if i.token != nil {
		values = append(values, i.token.value)
	}
	i.secrets = patra.NewRedactor(values...)
	return values
}

// redact takes our secrets out of a text.
func (i *requestAuth) redact(text string) string {
	if i == nil {
		return text
	}
	return i.secrets.Text(text)
}

// hideBody takes our secrets out of an answer, and says whether there were none: some providers send back what they were
// sent, in links and in messages.
func (i *requestAuth) hideBody(body []byte) (hidden []byte, clean bool) {
	if i == nil {
		return body, true
	}
	hidden = i.secrets.Body(body)
	return hidden, len(body) == 0 || len(hidden) == len(body) && &hidden[0] == &body[0] // which it is if nothing was found
}

// judge is a fault as others may see it. A token that the provider takes no longer is replaced, once; then the request may
// be sent again.
func (i *requestAuth) judge(f patra.Fault, status int) patra.Fault {
	if i == nil {
		return f
	}
	if status == http.StatusUnauthorized && i.token != nil && i.keeper.refused(i.token) {
		f = patra.Fault{Level: patra.LevelRetry, Code: patra.CodeAuth, Status: status, Text: "the provider no longer takes our token (auth OAUTH2, secret " + i.auth.Secret + "); a new one is asked for"}
	}
	if hidden := i.redact(f.Text); hidden != f.Text {
		f.Text, f.Err = hidden, nil // the error inside says the same in its own words
	}
	return f
}
