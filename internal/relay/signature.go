package relay

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// SignatureHeader is where the signature of a webhook stands: t=1763172900,kid=2026-11,v1=<hex>. The signature is the
// HMAC-SHA256 of the time, the key id and the body with dots between them.
const SignatureHeader = "Patra-Signature"

// Sign makes the value of the header.
func Sign(secret, keyID string, at time.Time, body []byte) string {
	t := strconv.FormatInt(at.Unix(), 10)
	return fmt.Sprintf("t=%s,kid=%s,v1=%s", t, keyID, mac(secret, t, keyID, body))
}

func mac(secret, t, keyID string, body []byte) string {
	h := hmac.New(sha256.New, []byte(secret))
	h.Write([]byte(t + "." + keyID + "."))
	h.Write(body)
	return hex.EncodeToString(h.Sum(nil))
}

// What is wrong with a signature.
var (
	ErrBadSignature = errors.New("the signature is not right")
	ErrOldSignature = errors.New("the signature is too old, or from the future")
)

// Verify is what a receiver does: find the secret by the key id, compare, and refuse what is older than a few minutes, so
// that nobody can send again what they have seen.
func Verify(header string, secrets map[string]string, now time.Time, window time.Duration, body []byte) error {
	parts := map[string]string{}
	for part := range strings.SplitSeq(header, ",") {
		name, value, _ := strings.Cut(part, "=")
		parts[name] = value
	}
	secret, known := secrets[parts["kid"]]
	if !known || !hmac.Equal([]byte(mac(secret, parts["t"], parts["kid"], body)), []byte(parts["v1"])) {
		return ErrBadSignature
	}
	seconds, err := strconv.ParseInt(parts["t"], 10, 64)
	if err != nil {
		return ErrBadSignature
	}
	if age := now.Sub(time.Unix(seconds, 0)); age > window || age < -window {
		return ErrOldSignature
	}
	return nil
}
