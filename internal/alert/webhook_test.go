package alert

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"patra"
	"patra/internal/relay"
	"patra/internal/store"
)

// nasty is what a provider could put into its errors.
const nasty = "<!channel> <@U123> @all @所有人 [click](https://evil.example) *bold* `code` ![x](https://evil.example/x.png) <https://evil.example|bank>\u202e\x1b[31m\nsecond line ada@example.org "

func nastyMessage() Message {
	now := patra.Date(2026, 11, 15)
	return MessageOf([]store.PendingNotification{{Notification: patra.Notification{ID: 7, Kind: patra.NoticeFired}, Alert: patra.StoredAlert{ID: 3, FiredAt: &now,
		Alert: patra.Alert{Kind: patra.AlertHalted, Severity: patra.SeverityCritical, Target: "demo/" + nasty, Said: strings.Repeat(nasty, 50), Next: nasty}}}})
}

// What stands in an alert comes from providers too: it mentions nobody, links nowhere, and is not longer than a message may be.
func TestAMessageIsOnlyText(t *testing.T) {
	means := map[string][]string{ // nothing to whoever reads JSON, who escapes for what they show
		Slack:    {"<", "@all", "@所有人", "@U123", "`"},
		DingTalk: {"<", "@all", "@所有人", "@U123", "[click](", "![x](", " *bold*"},
	}
	for name, form := range map[string]func(Message) ([]byte, error){Slack: Message.slack, DingTalk: Message.dingtalk, Generic: func(m Message) ([]byte, error) { return json.Marshal(m) }} {
		body, err := form(nastyMessage())
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		texts(t, body, &all)
		for _, text := range all {
			if strings.ContainsAny(text, "\x1b\u202e") || strings.Contains(text, "ada@example.org") {
				t.Errorf("%s: %q", name, text)
			}
			for _, bad := range means[name] {
				if strings.Contains(text, bad) {
					t.Errorf("%s has %q: %q", name, bad, text)
				}
			}
			if len(text) > 3000 {
				t.Errorf("%s: a text of %d bytes", name, len(text))
			}
		}
	}
}

// texts are all strings in some JSON.
func texts(t *testing.T, body []byte, all *[]string) {
	t.Helper()
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		t.Fatal(err)
	}
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			*all = append(*all, v)
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			for _, e := range v {
				walk(e)
			}
		}
	}
	walk(v)
}

// server answers every request alike and remembers the last one.
func server(t *testing.T, status int, answer string) (*httptest.Server, *http.Request, *[]byte) {
	last, body := &http.Request{}, new([]byte)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*last = *r
		*body, _ = io.ReadAll(r.Body)
		if status/100 == 3 {
			w.Header().Set("Location", answer)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(s.Close)
	return s, last, body
}

func post(t *testing.T, o WebhookOptions) (string, error) {
	t.Helper()
	o.Local = true
	h, err := OpenHook(o)
	if err != nil {
		t.Fatal(err)
	}
	return h.Post(t.Context(), TestMessage(patra.Date(2026, 11, 15)))
}

func TestMessagesAreSigned(t *testing.T) {
	at := time.UnixMilli(1577262236757)
	s, last, body := server(t, 200, "thanks")
	answer, err := post(t, WebhookOptions{URL: s.URL + "/x", Template: Generic, Secret: "hush", KeyID: "k1", Now: func() time.Time { return at }})
	if err != nil || answer != "thanks" {
		t.Fatal(answer, err)
	}
	if err := relay.Verify(last.Header.Get(relay.SignatureHeader), map[string]string{"k1": "hush"}, at, time.Minute, *body); err != nil {
		t.Error(err)
	}
	s, last, body = server(t, 200, `{"errcode":0,"errmsg":"ok"}`)
	if _, err := post(t, WebhookOptions{URL: s.URL + "/robot/send?access_token=abc", Template: DingTalk, Secret: "this is secret", Now: func() time.Time { return at }}); err != nil {
		t.Fatal(err)
	}
	q := last.URL.Query()
	// Computed elsewhere: base64(hmac-sha256("this is secret", "1577262236757\nthis is secret")).
	if q.Get("access_token") != "abc" || q.Get("timestamp") != "1577262236757" || q.Get("sign") != "hmPWwU+7lVdm3ZZz0r9tSfx0L4Q26jWOZr9+Gs6EZQM=" {
		t.Errorf("%v", q)
	}
	var m struct {
		Type     string            `json:"msgtype"`
		Markdown map[string]string `json:"markdown"`
	}
	if err := json.Unmarshal(*body, &m); err != nil || m.Type != "markdown" || m.Markdown["title"] == "" || !strings.Contains(m.Markdown["text"], "This is a test") {
		t.Errorf("%s", *body)
	}
	s, _, body = server(t, 200, "ok")
	if answer, err := post(t, WebhookOptions{URL: s.URL, Template: Slack}); err != nil || answer != "ok" || !strings.Contains(string(*body), `"blocks"`) || !strings.Contains(string(*body), `"text"`) {
		t.Errorf("%s %v %s", answer, err, *body)
	}
}

func TestWhatReceiversAnswer(t *testing.T) {
	inside, reached, _ := server(t, 200, "ok")
	for _, c := range []struct {
		name, template string
		status         int
		answer, want   string
	}{
		{"a refusal with a good status", DingTalk, 200, `{"errcode":310000,"errmsg":"sign not match"}`, "it refuses with errcode 310000"},
		{"something else", DingTalk, 200, "<html>", "something else than DingTalk"},
		{"a bad status", Slack, 404, "no_service", "it answered with status 404: no_service"},
		{"a way to somewhere else", Generic, 302, inside.URL, "it answered with status 302"},
		{"a very long answer", Generic, 500, strings.Repeat("x", 1<<20), "xxx…"},
		{"what it was told", Generic, 400, "no such /services/T00/B00/very-secret-word, signed with hunter2-hunter2", "no such ***, signed with ***"},
	} {
		s, _, _ := server(t, c.status, c.answer)
		_, err := post(t, WebhookOptions{URL: s.URL + "/services/T00/B00/very-secret-word", Template: c.template, Secret: "hunter2-hunter2"})
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "very-secret-word") || strings.Contains(err.Error(), "hunter2") || len(err.Error()) > 400 {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if reached.URL != nil {
		t.Error("it went where an answer pointed")
	}
	// An address within the network is refused, unless the user says so, and no error tells the address.
	for _, url := range []string{inside.URL + "/very-secret-word", "https://127.0.0.1:1/very-secret-word", "https://169.254.169.254/very-secret-word"} {
		h, err := OpenHook(WebhookOptions{URL: url, Template: Generic})
		if err == nil {
			_, err = h.Post(t.Context(), TestMessage(0))
		}
		if err == nil || strings.Contains(err.Error(), "very-secret-word") || !strings.Contains(err.Error(), "refused") {
			t.Errorf("%s: %v", url, err)
		}
	}
	if _, err := OpenHook(WebhookOptions{URL: "very-secret-word"}); err == nil || strings.Contains(err.Error(), "very-secret-word") {
		t.Error(err)
	}
}
