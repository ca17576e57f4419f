package source

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"patra"
)

// SignerHMAC signs with a key that both sides know.
const SignerHMAC = "HMAC_SHA256"

// signers are the signers that there are, and how their options are checked. How a request is signed is the business of
// whoever sends it.
var signers = map[string]func(map[string]string) patra.Problems{
	SignerHMAC: func(options map[string]string) patra.Problems {
		_, problems := ReadHMAC(options)
		return problems
	},
}

// Signers are the names of the signers that there are.
func Signers() []string { return slices.Sorted(maps.Keys(signers)) }

// HMAC is how a request is signed with HMAC-SHA256.
type HMAC struct {
	SignatureHeader string
	SignaturePrefix string   // before the signature, such as "HMAC-SHA256 "
	DateHeader      string   // the moment of signing, so that a signature cannot be used for ever
	DateFormat      string   // ISO, HTTP or UNIX
	KeyHeader       string   // whose signature it is; empty: it is not sent
	Signed          []string // the parts, in their order, each on a line of its own
	Encoding        string   // HEX or BASE64
}

// The parts of a request that a signature may cover.
const (
	SignMethod = "method"
	SignPath   = "path"
	SignQuery  = "query"
	SignDate   = "date"
	SignBody   = "body" // its SHA-256 in hex
)

var signedParts = []string{SignMethod, SignPath, SignQuery, SignDate, SignBody}

// ReadHMAC reads the options of an HMAC signer. The path of a problem is the name of the option.
func ReadHMAC(options map[string]string) (HMAC, patra.Problems) {
	h := HMAC{
		SignatureHeader: cmp.Or(options["signatureHeader"], "X-Signature"), SignaturePrefix: options["signaturePrefix"],
		DateHeader: cmp.Or(options["dateHeader"], "X-Date"), DateFormat: cmp.Or(strings.ToUpper(options["dateFormat"]), "ISO"),
		KeyHeader: options["keyHeader"], Encoding: cmp.Or(strings.ToUpper(options["encoding"]), "HEX"),
	}
	for part := range strings.SplitSeq(cmp.Or(options["signed"], strings.Join(signedParts, " ")), " ") {
		if part = strings.Trim(part, ","); part != "" {
			h.Signed = append(h.Signed, part)
		}
	}
	var found patra.Problems
	bad := func(option, text, hint string) {
		found = append(found, patra.Problem{Code: "BAD_VALUE", Path: option, Text: text, Hint: hint})
	}
	known := []string{"signatureHeader", "signaturePrefix", "dateHeader", "dateFormat", "keyHeader", "signed", "encoding"}
	for _, name := range slices.Sorted(maps.Keys(options)) {
		if !slices.Contains(known, name) {
			found = append(found, patra.Problem{Code: "UNKNOWN_KEY", Path: name, Text: fmt.Sprintf("%s has no option %q", SignerHMAC, name), Hint: "options: " + strings.Join(known, ", ")})
		}
		if strings.ContainsAny(options[name], "\r\n\x00") {
			bad(name, "a header holds no line breaks", "")
		}
	}
	if !slices.Contains([]string{"ISO", "HTTP", "UNIX"}, h.DateFormat) {
		bad("dateFormat", fmt.Sprintf("dateFormat %q is not known", options["dateFormat"]), "write ISO, HTTP or UNIX")
	}
	if !slices.Contains([]string{"HEX", "BASE64"}, h.Encoding) {
		bad("encoding", fmt.Sprintf("encoding %q is not known", options["encoding"]), "write HEX or BASE64")
	}
	for _, part := range h.Signed {
		if !slices.Contains(signedParts, part) {
			bad("signed", fmt.Sprintf("%q is no part of a request that can be signed", part), "parts: "+strings.Join(signedParts, " "))
		}
	}
	if len(h.Signed) == 0 {
		bad("signed", "a signature covers at least one part", "parts: "+strings.Join(signedParts, " "))
	}
	return h, found
}
