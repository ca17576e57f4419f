package executor

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"time"

	"patra/internal/source"
)

// signers put a signature on a request, by the name that source files use. A new one is a line here, and another in
// internal/source that checks its options.
var signers = map[string]func(i *requestAuth, req *http.Request, body []byte) error{
	source.SignerHMAC: (*requestAuth).signHMAC,
}

// signHMAC signs parts of a request with HMAC-SHA256. Each part is on a line of its own.
func (i *requestAuth) signHMAC(req *http.Request, body []byte) error {
	h, problems := source.ReadHMAC(i.auth.Options)
	if len(problems) > 0 {
		return i.authFault(problems[0].Text)
	}
	date := dateOf(time.Now().UTC(), h.DateFormat)
	hash := sha256.Sum256(body)
	parts := map[string]string{
		source.SignMethod: req.Method, source.SignPath: req.URL.EscapedPath(), source.SignQuery: req.URL.RawQuery,
		source.SignDate: date, source.SignBody: hex.EncodeToString(hash[:]),
	}
	var lines []string
	for _, part := range h.Signed {
		lines = append(lines, parts[part])
	}
	mac := hmac.New(sha256.New, []byte(i.secret))
	mac.Write([]byte(strings.Join(lines, "\n")))
	signature := hex.EncodeToString(mac.Sum(nil))
	if h.Encoding == "BASE64" {
		signature = base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}
	req.Header.Set(h.DateHeader, date)
	req.Header.Set(h.SignatureHeader, h.SignaturePrefix+signature)
	if h.KeyHeader == "" || i.user == "" {
		return nil
	}
	return i.setHeader(req, h.KeyHeader, i.user)
}

// dateOf writes the moment of signing.
func dateOf(t time.Time, format string) string {
	switch format {
	case "HTTP":
		return t.Format(http.TimeFormat)
	case "UNIX":
		return strconv.FormatInt(t.Unix(), 10)
	}
	return t.Format("2006-01-02T15:04:05Z")
}
