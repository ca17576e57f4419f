package observe_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/trace"

	"patra/internal/observe"
)

// canary is a secret that holds what has to be escaped somewhere.
const canary = `ca/nary+Log="1"&<x>\y`

// disguised are the ways in which a secret stands in other texts.
func disguised(secret string) []string {
	quoted, _ := json.Marshal(secret)
	return []string{secret, url.QueryEscape(secret), url.PathEscape(secret), string(quoted[1 : len(quoted)-1]), base64.StdEncoding.EncodeToString([]byte(secret)), hex.EncodeToString([]byte(secret)), strings.ToUpper(secret)}
}

func shows(line, secret string) string {
	for _, form := range disguised(secret) {
		if strings.Contains(strings.ToLower(line), strings.ToLower(form)) {
			return form
		}
	}
	return ""
}

// speaker says itself how it is logged.
type speaker struct{ text string }

func (s speaker) LogValue() slog.Value {
	return slog.GroupValue(slog.String("inside", s.text), slog.Any("error", errors.New(s.text)))
}

// bomb cannot say what it is.
type bomb struct{ text string }

func (b bomb) Error() string { panic(b.text) }

// box hides a text where only JSON finds it.
type box struct {
	Text *string
	More []map[string]any
}

func boxed(s string) box { return box{&s, []map[string]any{{"deep": []any{s}}}} }

// values are all kinds of values that hold a text.
func values(s string) []any {
	return []any{s, errors.New(s), fmt.Errorf("sent %s: %w", s, errors.New(s)), speaker{s}, bomb{s}, boxed(s), ptr(boxed(s)), []byte(s), json.RawMessage(strings.TrimSpace(jsonOf(s))), []string{s}, map[string]any{s: s},
		&url.URL{Scheme: "https", Host: "h", RawQuery: "x=" + url.QueryEscape(s)}, slog.GroupValue(slog.String("a", s), slog.Group("b", "c", s)), func() {}, make(chan int), nil, time.Now(), time.Second, 5, true}
}

func ptr[T any](v T) *T { return &v }

func jsonOf(s string) string {
	b, _ := json.Marshal(map[string]string{"text": s})
	return string(b)
}

// TestLinesShowNoSecret: a secret that is known is in no line, wherever it stood: in the message, in a key, in a value of
// any kind, inside a group, in what a logger was made with, before or after it became known.
func TestLinesShowNoSecret(t *testing.T) {
	for _, asJSON := range []bool{true, false} {
		for _, form := range disguised(canary) {
			for i, v := range values("x" + form + "y") {
				var b bytes.Buffer
				secrets := &observe.Secrets{}
				log := observe.NewLog(&b, observe.LogOptions{Level: slog.LevelDebug, JSON: asJSON, Secrets: secrets})
				early := log.With("early", v)
				secrets.Add(canary)
				log.Info("said "+form, "value", v, form, v, slog.Group("g", "v", v))
				log.With("with", v, slog.Group(form, "v", v)).WithGroup("group "+form).Error("said", "value", v)
				early.Warn("known since")
				if found := shows(b.String(), canary); found != "" {
					t.Errorf("json %t, value %d (%T) as %q: %q is in %s", asJSON, i, v, form, found, b.String())
				}
				if n := strings.Count(b.String(), "\n"); n != 3 {
					t.Errorf("%d lines: %s", n, b.String())
				}
			}
		}
	}
}

// What looks like a secret is hidden though nobody knows it, and what only looks a little like one stays.
func TestLinesHideWhatLooksLikeASecret(t *testing.T) {
	const s = "hunter2hunter2"
	for _, text := range []string{
		"https://me:" + s + "@api.example.org/works?page=2", "GET https://" + s + "@h/", "mysql://patra:" + s + "/x@db:3306/patra", "redis://:" + s + "@cache:6379/0",
		"https://h/works?api_key=" + s + "&page=2", "https://h/?a=b&apiKey=" + s, "https://h/?access_token=" + s + "#x", "token=" + s, "next=1;password=" + s, "X-Token%3D" + s, "https://h/?key=" + s, "https://h/?sig=" + s + "&b=1",
		"Authorization: Bearer " + s, "authorization=[Basic " + s + "]", `map[Authorization:[Bearer ` + s + `]]`, "sent bearer " + s, `{"api_key":"` + s + `"}`, `{"body":"{\"client_secret\":\"` + s + `\"}"}`, "Cookie: session=" + s + "; x=" + s, "x-api-key: " + s,
	} {
		var b bytes.Buffer
		log := observe.NewLog(&b, observe.LogOptions{JSON: true})
		log.Info("said", "text", text, "error", errors.New(text), "list", []string{text})
		log.Info(text)
		log.With("text", text, "error", errors.New(text)).WithGroup(text).Info("said", slog.Group("g", "text", text, slog.Group("deep", "list", []any{text})), "speaker", speaker{text})
		if strings.Contains(b.String(), "hunter2") {
			t.Errorf("%s: %s", text, b.String())
		}
	}
	for _, text := range []string{"https://api.crossref.org/works?rows=20&cursor=AoJ%2B123", "keyword=heart", "basic research", "the token is asked for again", "10.1038/s41586-020-2649-2", "monkey=7", "crossref/works/HARVEST", `{"pages":3,"text":"too slow"}`, "2026-05-01~2026-05-02"} {
		var b bytes.Buffer
		observe.NewLog(&b, observe.LogOptions{}).Info("said", "text", text)
		if strings.Contains(b.String(), "***") {
			t.Errorf("%s became %s", text, b.String())
		}
	}
	var b bytes.Buffer
	observe.NewLog(&b, observe.LogOptions{JSON: true}).Info("said", "password", 12345, "api_key", "x", "who", "ada@example.org", "card", "11010519491231002X", "phone", "tel. 030 1234567")
	for _, gone := range []string{"12345", `"x"`, "ada@", "11010519491231002X", "1234567"} {
		if strings.Contains(b.String(), gone) {
			t.Errorf("%s is in %s", gone, b.String())
		}
	}
}

// A value cannot make a line of its own, nor move the cursor of a terminal.
func TestAValueForgesNoLine(t *testing.T) {
	const forged = "ok\n{\"level\":\"ERROR\",\"msg\":\"forged\"}\r\nlevel=ERROR\u2028\x1b[2J\x00\x85"
	for _, asJSON := range []bool{true, false} {
		var b bytes.Buffer
		log := observe.NewLog(&b, observe.LogOptions{JSON: asJSON})
		log.With(forged, forged).WithGroup(forged).Info(forged, "v", forged, forged, errors.New(forged), "bytes", []byte(forged))
		line, rest, _ := bytes.Cut(b.Bytes(), []byte("\n"))
		if len(rest) > 0 || bytes.ContainsAny(line, "\r\x1b\x00\u2028") {
			t.Errorf("json %t: %q", asJSON, b.String())
		}
	}
}

// A line that is written in a span says which, and a line of JSON is JSON.
func TestALineSaysItsSpan(t *testing.T) {
	in := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, TraceFlags: trace.FlagsSampled})
	var b bytes.Buffer
	log := observe.NewLog(&b, observe.LogOptions{JSON: true})
	log.InfoContext(trace.ContextWithSpanContext(t.Context(), in), "page is kept", "run_id", int64(7), "plan", map[string]int{"n": 1})
	log.InfoContext(trace.ContextWithSpanContext(t.Context(), in.WithTraceFlags(0)), "not traced")
	var first, second map[string]any
	dec := json.NewDecoder(&b)
	if err := errors.Join(dec.Decode(&first), dec.Decode(&second)); err != nil {
		t.Fatal(err)
	}
	if first["trace_id"] != in.TraceID().String() || first["span_id"] != in.SpanID().String() || first["run_id"] != 7.0 || first["plan"].(map[string]any)["n"] != 1.0 || !strings.HasSuffix(first["time"].(string), "Z") {
		t.Errorf("%v", first)
	}
	if _, traced := second["trace_id"]; traced {
		t.Errorf("%v", second)
	}
}

// The text of a panic loses its secrets before anybody sees it, and the process ends as it would have.
func TestAPanicShowsNoSecret(t *testing.T) {
	if os.Getenv("PATRA_TEST_PANIC") != "" {
		secrets := &observe.Secrets{}
		secrets.Add(canary)
		log := observe.NewLog(os.Stderr, observe.LogOptions{JSON: true, Secrets: secrets})
		done := make(chan int)
		go func() {
			defer observe.RecoverPanic(log)()
			panic(fmt.Errorf("cannot read https://h/?k=%s", url.QueryEscape(canary)))
		}()
		<-done
	}
	c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestAPanicShowsNoSecret$")
	c.Env = append(os.Environ(), "PATRA_TEST_PANIC=1")
	out, err := c.CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 2 {
		t.Errorf("ended with %v", err)
	}
	if found := shows(string(out), canary); found != "" || !strings.Contains(string(out), `"msg":"the program broke"`) || !strings.Contains(string(out), "cannot read") {
		t.Errorf("%q is in %s", found, out)
	}
}

// Many tokens come and go; the newest are known, and so is all that does not pass.
func TestSecretsForgetTheOldestThatPass(t *testing.T) {
	s := &observe.Secrets{}
	for i := range 50 {
		s.Add(fmt.Sprintf("password-%04d", i))
	}
	for i := range 200 {
		s.AddTemporary("password-0049", fmt.Sprintf("token-number-%04d", i))
	}
	if got := s.Redact("token-number-0199 token-number-0000 password-0000 password-0049"); got != "REDACTED token-number-0000 REDACTED REDACTED" {
		t.Error(got)
	}
	var none *observe.Secrets
	none.Add("x")
	if none.Redact("x") != "x" {
		t.Error("nobody knows nothing")
	}
}

func FuzzLogRedaction(f *testing.F) {
	for _, seed := range []string{"", "https://h/?k=", "Authorization: Bearer ", "\n{\"msg\":\"", `\"`, "a@", "\xff", "%", "=", "://"} {
		f.Add(canary, seed, seed, "key", uint8(0))
		f.Add("plain-secret-12", seed, "", seed, uint8(3))
	}
	f.Fuzz(func(t *testing.T, secret, before, after, key string, kind uint8) {
		if len(secret) < 8 || len(secret) > 200 || len(before)+len(after)+len(key) > 4000 || shows("REDACTED *** !PANIC: (and more) time level msg INFO", secret) != "" || strings.ToValidUTF8(secret, "") != secret || strings.ContainsFunc(secret, func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Skip()
		}
		var alone bytes.Buffer // what is there without any secret does not come from it
		all := values(before + secret + after)
		v := all[int(kind)%len(all)]
		for _, asJSON := range []bool{true, false} {
			var b bytes.Buffer
			secrets := &observe.Secrets{}
			secrets.Add(secret)
			write := func(w *bytes.Buffer, text string, v any) {
				log := observe.NewLog(w, observe.LogOptions{Level: slog.LevelDebug, JSON: asJSON, Secrets: secrets})
				log.With(key+text, v).WithGroup("g"+text).InfoContext(context.Background(), before+text+after, key, v, text, "v")
			}
			write(&b, secret, v)
			alone.Reset()
			write(&alone, "", values(before + after)[int(kind)%len(all)])
			if found := shows(b.String(), secret); found != "" && shows(alone.String(), secret) == "" {
				t.Fatalf("%q is in %s", found, b.String())
			}
			if strings.Count(b.String(), "\n") != 1 || !strings.HasSuffix(b.String(), "\n") {
				t.Fatalf("not one line: %q", b.String())
			}
			if asJSON && !json.Valid(b.Bytes()) {
				t.Fatalf("not JSON: %s", b.String())
			}
		}
	})
}
