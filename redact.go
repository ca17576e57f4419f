package patra

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

// Redactor takes known secrets out of texts, however they are written there. The zero value knows none.
type Redactor struct {
	inText []string
	inBody [][]byte
}

// NewRedactor knows some secrets. Those of fewer than four letters are not looked for: they are found everywhere.
func NewRedactor(secrets ...string) Redactor {
	var r Redactor
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

// Text is a text without secrets, in whatever case: some of what is told of an answer was made small before.
func (r Redactor) Text(s string) string {
	if len(r.inText) == 0 {
		return s
	}
	small := lower(s)
	for _, form := range r.inText {
		if form = lower(form); strings.Contains(small, form) {
			s = replaceFold(s, small, form)
			small = lower(s)
		}
	}
	return s
}

// replaceFold takes a form out of s; small is s in small letters.
func replaceFold(s, small, form string) string {
	var b strings.Builder
	for {
		at := strings.Index(small, form)
		if at < 0 {
			return b.String() + s
		}
		b.WriteString(s[:at] + redacted)
		s, small = s[at+len(form):], small[at+len(form):]
	}
}

// lower makes the letters of ASCII small, and so keeps every byte where it is.
func lower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// Body is a body without secrets. It is the same body where there are none, which is nearly always.
func (r Redactor) Body(b []byte) []byte {
	for _, form := range r.inBody {
		if bytes.Contains(b, form) {
			b = bytes.ReplaceAll(b, form, []byte(redacted))
		}
	}
	return b
}

// spellings are the ways in which a secret comes back: as it is, in an address, in JSON, in XML, and in codes that look
// like letters. Messages are often JSON inside of JSON, so each of them may be escaped once more.
func spellings(secret string) []string {
	query, path := url.QueryEscape(secret), url.PathEscape(secret)
	forms := []string{secret, query, path, lowerEscapes(query), lowerEscapes(path), hex.EncodeToString([]byte(secret)), strings.ToUpper(hex.EncodeToString([]byte(secret)))}
	forms = append(append(forms, inXML(secret)...), inJSON(secret)...)
	for _, form := range slices.Clone(forms) {
		forms = append(forms, inJSON(form)...)
	}
	forms = append(forms, inBase64(secret, base64.RawStdEncoding)...)
	forms = append(forms, inBase64(secret, base64.RawURLEncoding)...)
	slices.Sort(forms)
	return slices.DeleteFunc(slices.Compact(forms), func(s string) bool { return len(s) < shortestInText })
}

// inJSON is a text inside of a JSON text, as different programs write it.
func inJSON(text string) []string {
	quoted, err := json.Marshal(text)
	if err != nil {
		return nil
	}
	escaped := string(quoted[1 : len(quoted)-1])
	plain := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(escaped)
	return []string{escaped, plain, strings.ReplaceAll(plain, "/", `\/`), strings.ReplaceAll(escaped, "/", `\/`)}
}

// inXML is a text inside of XML: what must be escaped between two tags is less than what must be inside of one, and there
// are two ways to write a quotation mark.
func inXML(text string) []string {
	between := strings.NewReplacer("&", "&amp;", "<", "&lt;").Replace(text)
	both := strings.ReplaceAll(between, ">", "&gt;")
	named := strings.NewReplacer(`"`, "&quot;", "'", "&apos;").Replace(both)
	return []string{between, both, strings.ReplaceAll(both, `"`, "&quot;"), strings.ReplaceAll(both, `"`, "&#34;"), strings.ReplaceAll(between, `"`, "&quot;"), named, html.EscapeString(text)}
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
