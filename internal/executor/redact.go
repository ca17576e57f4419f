package executor

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"html"
	"net/url"
	"slices"
	"strings"
)

// redacted stands where a secret was. It is valid inside the texts of JSON, XML and addresses.
const redacted = "REDACTED"

// How long a secret has to be to be looked for. Shorter ones are found by chance: in a sentence that is a pity, in a
// record it would be damage.
const (
	shortestInText = 4
	shortestInBody = 8
)

// redactor takes known secrets out of texts, however they are written there. The zero value knows none.
type redactor struct {
	inText []string
	inBody [][]byte
}

func newRedactor(secrets ...string) redactor {
	var r redactor
	for _, secret := range secrets {
		if len(secret) < shortestInText {
			continue
		}
		for _, form := range spellings(secret) {
			r.inText = append(r.inText, form)
			if len(secret) >= shortestInBody {
				r.inBody = append(r.inBody, []byte(form))
			}
		}
	}
	longestFirst := func(a, b int) int { return cmp.Compare(b, a) } // a short one may be part of a long one
	slices.SortStableFunc(r.inText, func(a, b string) int { return longestFirst(len(a), len(b)) })
	slices.SortStableFunc(r.inBody, func(a, b []byte) int { return longestFirst(len(a), len(b)) })
	return r
}

// text is a text without secrets.
func (r redactor) text(s string) string {
	for _, form := range r.inText {
		s = strings.ReplaceAll(s, form, redacted)
	}
	return s
}

// body is a body without secrets. It is the same body where there are none, which is nearly always.
func (r redactor) body(b []byte) []byte {
	for _, form := range r.inBody {
		if bytes.Contains(b, form) {
			b = bytes.ReplaceAll(b, form, []byte(redacted))
		}
	}
	return b
}

// spellings are the ways in which a secret comes back: as it is, in an address, in JSON, in XML, and in codes that look
// like letters.
func spellings(secret string) []string {
	query, path := url.QueryEscape(secret), url.PathEscape(secret)
	forms := []string{secret, query, path, lowerEscapes(query), lowerEscapes(path), html.EscapeString(secret), hex.EncodeToString([]byte(secret)), strings.ToUpper(hex.EncodeToString([]byte(secret)))}
	if quoted, err := json.Marshal(secret); err == nil {
		inner := string(quoted[1 : len(quoted)-1])
		plain := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(inner)
		forms = append(forms, inner, plain, strings.ReplaceAll(plain, "/", `\/`))
	}
	forms = append(forms, inBase64(secret, base64.RawStdEncoding)...)
	forms = append(forms, inBase64(secret, base64.RawURLEncoding)...)
	slices.Sort(forms)
	return slices.DeleteFunc(slices.Compact(forms), func(s string) bool { return len(s) < shortestInText })
}

// inBase64 is what a secret looks like inside of a longer text that was encoded as a whole. Three bytes become four
// letters, so there are three ways to begin; the letters at both ends also depend on the neighbours and are left out.
func inBase64(secret string, enc *base64.Encoding) []string {
	var forms []string
	for before := range 3 {
		whole := enc.EncodeToString([]byte(strings.Repeat("\x00", before) + secret))
		begin := []int{0, 2, 3}[before]
		end := (before + len(secret)) * 8 / 6 // letters that depend on nothing behind
		if end-begin >= shortestInBody {
			forms = append(forms, whole[begin:end])
		}
	}
	return forms
}

// lowerEscapes writes %2F as %2f, which means the same.
func lowerEscapes(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			b.WriteString(strings.ToLower(s[i : i+3]))
			i += 2
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
