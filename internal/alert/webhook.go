package alert

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"patra/internal/egress"
	"patra/internal/relay"
)

// The forms of messages.
const (
	Generic  = "generic"  // what Message says, as JSON, signed
	Slack    = "slack"    // a message for Slack, or for what understands the same
	DingTalk = "dingtalk" // Markdown for a robot of DingTalk, signed as it wants it
)

// Templates are all forms.
var Templates = []string{Generic, Slack, DingTalk}

// WebhookOptions say where to post, and how.
type WebhookOptions struct {
	URL      string
	Template string
	Secret   string // signs; empty: nothing is signed
	KeyID    string // of the generic form: which secret that is
	Local    bool   // the user says that this very address may be a local one, and without encryption
	Timeout  time.Duration
	Now      func() time.Time
}

// Webhook is a receiver that is a web address.
type Webhook struct {
	o      WebhookOptions
	url    *url.URL
	client *http.Client
}

// OpenHook makes the client. It goes out by the same rules as every other request: with encryption, to public addresses only, and
// never to where an answer points. The address may be a secret, so no error says it.
func OpenHook(o WebhookOptions) (*Webhook, error) {
	u, err := url.Parse(o.URL)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, errors.New("the address is not a URL that begins with https://")
	}
	if o.Timeout == 0 {
		o.Timeout = 10 * time.Second
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Webhook{o, u, egress.NewClient(egress.Options{Host: u.Host, Trusted: o.Local, Connect: 5 * time.Second, Headers: o.Timeout, Total: o.Timeout})}, nil
}

// mostAnswer is how much of an answer is read, and shownAnswer how much of it people are shown.
const (
	mostAnswer  = 64 << 10
	shownAnswer = 200
)

// Post implements Poster.
func (h *Webhook) Post(ctx context.Context, m Message) (answer string, err error) {
	defer h.client.CloseIdleConnections()
	body, address, sign, err := h.request(m)
	if err != nil {
		return "", err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return "", errors.New("the address is not a URL")
	}
	req.Header.Set("Content-Type", "application/json; charset=utf-8")
	if sign != "" {
		req.Header.Set(relay.SignatureHeader, sign)
	}
	resp, err := h.client.Do(req)
	if err != nil {
		return "", errors.New(h.discreet(egress.Cause(err).Error()))
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, mostAnswer))
	if err != nil {
		return "", fmt.Errorf("the answer broke off: %w", egress.Cause(err))
	}
	answer = OneLine(h.discreet(string(text)), shownAnswer)
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return answer, describeError(fmt.Sprintf("it answered with status %d", resp.StatusCode), answer)
	}
	if h.o.Template == DingTalk { // which says with a good status that it refuses
		var code struct {
			Code *int64 `json:"errcode"`
		}
		if json.Unmarshal(text, &code) != nil || code.Code == nil {
			return answer, describeError("it answered something else than DingTalk does", answer)
		}
		if *code.Code != 0 {
			return answer, describeError(fmt.Sprintf("it refuses with errcode %d", *code.Code), answer)
		}
	}
	return answer, nil
}

// describeError is what went wrong, with what was answered.
func describeError(what, answer string) error {
	if answer == "" {
		return errors.New(what)
	}
	return fmt.Errorf("%s: %s", what, answer)
}

// request is the body of a message, where it goes, and what stands in its header of signatures.
func (h *Webhook) request(m Message) (body []byte, address, sign string, err error) {
	now := h.o.Now()
	switch h.o.Template {
	case Slack:
		body, err = m.slack()
		return body, h.o.URL, "", err
	case DingTalk:
		body, err = m.dingtalk()
		return body, dingTalkAddress(*h.url, h.o.Secret, now), "", err
	}
	if body, err = json.Marshal(m); err == nil && h.o.Secret != "" {
		sign = relay.Sign(h.o.Secret, h.o.KeyID, now, body)
	}
	return body, h.o.URL, sign, err
}

// dingTalkAddress adds to an address the time in milliseconds, and the signature of it: the HMAC-SHA256 of the time and the secret
// with a line break between them, under the secret, in base64.
func dingTalkAddress(u url.URL, secret string, now time.Time) string {
	if secret == "" {
		return u.String()
	}
	at := strconv.FormatInt(now.UnixMilli(), 10)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(at + "\n" + secret))
	q := u.Query()
	q.Set("timestamp", at)
	q.Set("sign", base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	u.RawQuery = q.Encode()
	return u.String()
}

// discreet is a text without the address and the secret, which a receiver may send back.
func (h *Webhook) discreet(text string) string {
	hidden := []string{h.o.URL, h.o.Secret, h.url.RequestURI(), strings.Trim(h.url.Path, "/"), h.url.RawQuery}
	for _, values := range h.url.Query() {
		hidden = append(hidden, values...)
	}
	hidden = append(hidden, strings.Split(h.url.Path, "/")...)
	for _, secret := range hidden {
		if len(secret) >= 8 { // shorter ones are words
			text = strings.ReplaceAll(text, secret, "***")
		}
	}
	return text
}
