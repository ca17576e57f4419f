package patra

import (
	"bytes"
	"encoding/base64"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// However a text is built around a secret, the secret is not in it afterwards, and the rest is.
func TestASecretIsFoundAnywhere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		secret := rapid.StringMatching(`[ -~]{8,40}`).Draw(t, "secret")
		before, after := rapid.StringMatching(`[ -~]{0,20}`).Draw(t, "before"), rapid.StringMatching(`[ -~]{0,20}`).Draw(t, "after")
		r := NewRedactor(secret)
		for _, form := range spellings(secret) {
			for _, got := range []string{r.Text(before + form + after), string(r.Body([]byte(before + form + after))), r.Text(strings.ToUpper(before + form + after))} {
				if strings.Contains(strings.ToLower(got), strings.ToLower(form)) && !strings.Contains(strings.ToLower(redacted), strings.ToLower(form)) {
					t.Fatalf("%q is still in %q", form, got)
				}
			}
		}
		whole := base64.StdEncoding.EncodeToString([]byte(before + secret + after))
		if got := string(r.Body([]byte(whole))); len(secret) >= 12 && got == whole {
			t.Fatalf("nothing was found in %q", whole)
		}
	})
}

// A secret that is part of what stands in its place must not be looked for without end.
func TestASecretMayLookLikeItsReplacement(t *testing.T) {
	for _, secret := range []string{"REDACTED", "redacted", "acted", "EDRE"} {
		if got := NewRedactor(secret).Text("a " + secret + " b " + secret); !strings.HasPrefix(got, "a ") || len(got) > 100 {
			t.Errorf("%s: %q", secret, got)
		}
	}
}

func TestShortSecretsDoNotSpoilRecords(t *testing.T) {
	r := NewRedactor("heart", "of")
	body := []byte(`{"title":"On the heart of the matter"}`)
	if got := r.Body(body); !bytes.Equal(got, body) {
		t.Errorf("%s", got)
	}
	if got := r.Text("no heart of mine"); got != "no REDACTED of mine" {
		t.Errorf("%s", got)
	}
	var none Redactor
	if none.Text("x") != "x" || string(none.Body(body)) != string(body) {
		t.Error("nothing is known, and something was found")
	}
}

func BenchmarkRedactBody(b *testing.B) {
	body := bytes.Repeat([]byte(`{"DOI":"10.5072/abc.2026.0001","title":"Persistent fatigue of cells in culture","author":[{"family":"Fernandez"}]},`), 10_000)
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		NewRedactor("4a6f8c0e12d34b56f78a90bc12de34fa5678").Body(body)
	}
}
