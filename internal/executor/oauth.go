package executor

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"patra"
	"patra/internal/source"
)

// tokenRequest asks for a token with a client's own credentials. It goes the way of all requests: through the gate, with
// a row of its own, and out by the guarded client; the only other host that it may go to is the one in tokenUrl.
type tokenRequest struct {
	transport
	spec    *source.Spec
	who     *requestAuth
	address string
	dial    func() *http.Client
}

func (w transport) tokenRequest(spec *source.Spec, who *requestAuth) (*tokenRequest, error) {
	address, place, own, err := spec.TokenAddress(w.base, w.vars)
	if err != nil {
		return nil, who.authFault(err.Error())
	}
	w.grants = newGrants() // a page that waits for the token has one of its own
	base := ""
	if own {
		base = w.base
	}
	return &tokenRequest{transport: w, spec: spec, who: who, address: address, dial: func() *http.Client { return w.dial(place, base) }}, nil
}

// key is what a token depends on: whoever asks the same with the same client shares it. The secret itself is left out: one
// that is changed counts from the next token on.
func (r *tokenRequest) key() string {
	a := r.spec.Auth
	return strings.Join([]string{r.address, a.ClientID, r.who.client, a.Secret, a.In, a.Audience, strings.Join(a.Scopes, " ")}, "\x00")
}

// ask sends the request.
func (r *tokenRequest) ask(ctx context.Context) (*oauthToken, error) {
	client := r.dial()
	defer client.CloseIdleConnections() // the next one is far away
	var t *oauthToken
	own := tollOf(r.spec, r.spec.Limit(false, r.transport.address(r.spec)))
	_, err := r.sendStandalone(ctx, own, patra.RequestAuth, func(requestID string, pass *permit) (response, error) {
		req, err := r.request(ctx, requestID)
		if err != nil {
			return response{}, notSentError(err)
		}
		got, err := pass.exchange(ctx, req, client, r.spec, r.who)
		if err != nil {
			return got, err
		}
		fault := (*patra.Fault)(nil)
		if t, fault = readToken(got, r.spec.Auth); fault != nil {
			return got, got.failed(fault)
		}
		return got, nil
	})
	return t, err
}

// request is the request as RFC 6749 has it. The id and the secret are encoded before they are put into the header, which
// is easily overlooked.
func (r *tokenRequest) request(ctx context.Context, requestID string) (*http.Request, error) {
	a := r.spec.Auth
	form := url.Values{"grant_type": {"client_credentials"}}
	if len(a.Scopes) > 0 {
		form.Set("scope", strings.Join(a.Scopes, " "))
	}
	if a.Audience != "" {
		form.Set("audience", a.Audience)
	}
	if a.In == source.InBody {
		form.Set("client_id", r.who.client)
		form.Set("client_secret", r.who.secret)
	}
	call := source.Call{Method: http.MethodPost, URL: r.address, Body: []byte(form.Encode()), Headers: map[string]string{"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}}
	if name := r.spec.UserAgent(r.vars); name != "" {
		call.Headers["User-Agent"] = name
	}
	req, err := request(ctx, call, requestID)
	if err != nil {
		return nil, r.who.authFault("tokenUrl is not an address")
	}
	if !source.MaySendSecret(req.URL) {
		return nil, r.who.authFault("a secret is not sent without encryption; " + req.URL.Host + " needs https")
	}
	if a.In != source.InBody {
		req.SetBasicAuth(url.QueryEscape(r.who.client), url.QueryEscape(r.who.secret))
	}
	return req, nil
}

// Tokens whose life is not said are used for a while; one that is refused is replaced in any case.
const (
	usualLife   = time.Hour
	longestLife = 24 * time.Hour
)

// maxReason bounds what is kept of a provider's own words.
const maxReason = 200

// readToken reads the answer to a request for a token.
func readToken(got response, a source.Auth) (*oauthToken, *patra.Fault) {
	var said struct {
		Token       string `json:"access_token"`
		Type        string `json:"token_type"`
		Expires     any    `json:"expires_in"` // a number, and at some providers a text
		Error       string `json:"error"`
		Description string `json:"error_description"`
	}
	err := json.Unmarshal(got.body, &said)
	if got.status != http.StatusOK {
		return nil, refusedToken(got.status, a, got.who.redact(strings.Trim(said.Error+": "+said.Description, ": "))) // hidden before it is cut
	}
	f := &patra.Fault{Level: patra.LevelFatal, Code: patra.CodeAuth, Path: "auth.tokenUrl", Status: got.status}
	switch {
	case err != nil:
		f.Level, f.Code, f.Text = patra.LevelRetry, patra.CodeBadBody, "the answer to the request for a token is not JSON"
	case said.Token == "":
		f.Text = "the answer to the request for a token holds no access_token; is tokenUrl right?"
	case said.Type != "" && !strings.EqualFold(said.Type, "Bearer"):
		f.Text = fmt.Sprintf("the provider gives tokens of the type %.40q, and only Bearer is known", said.Type)
	default:
		return &oauthToken{value: said.Token, until: got.exchange.SentAt.Time().Add(usable(life(said.Expires)))}, nil
	}
	return nil, f
}

// refusedToken says what an answer without a token means.
func refusedToken(status int, a source.Auth, reason string) *patra.Fault {
	f := &patra.Fault{Level: patra.LevelFatal, Code: patra.CodeAuth, Path: "auth.tokenUrl", Status: status}
	switch {
	case status == http.StatusTooManyRequests:
		f.Level, f.Code, f.Text = patra.LevelRetry, patra.CodeRateLimited, "whoever gives tokens asks us to slow down"
	case status >= 500, status == http.StatusRequestTimeout:
		f.Level, f.Code, f.Text = patra.LevelRetry, patra.CodeHTTP, "whoever gives tokens cannot do so now"
	case status >= 300 && status < 400:
		f.Text = "whoever gives tokens sends us elsewhere, and redirects are not followed; is tokenUrl right?"
	default:
		f.Text = fmt.Sprintf("no token is given to us (auth OAUTH2, client id %q, secret %q); check both under secrets in patra.yaml, and the scopes and the audience of the source", a.ClientID, a.Secret)
		if reason != "" {
			f.Text += "; the provider says " + strconv.Quote(reason[:min(len(reason), maxReason)])
		}
	}
	return f
}

// life is how long a token lives, as the provider says.
func life(expires any) time.Duration {
	seconds := 0.0
	switch v := expires.(type) {
	case float64:
		seconds = v
	case string:
		seconds, _ = strconv.ParseFloat(v, 64)
	}
	if !(seconds > 0) {
		return usualLife
	}
	return time.Duration(min(seconds, longestLife.Seconds()) * float64(time.Second))
}

// usable is how long a token is used: it is replaced before it expires on its way.
func usable(life time.Duration) time.Duration { return life - min(life/10, time.Minute) }
