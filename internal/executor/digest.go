package executor

import (
	"encoding/json"
	"slices"

	"patra"
)

// Bounds of what is kept of the headers of an answer: a provider that sends more has something else in mind.
const (
	maxHeaderNames = 64
	maxHeaderValue = 512
)

// forgotten are headers that are nobody's business, or another way to say who we are.
var forgotten = []string{"Set-Cookie", "Www-Authenticate", "Authentication-Info"}

// digest is what is kept of an answer beside its body: the status and the headers, without what nobody may see.
func (a response) digest() json.RawMessage {
	b, err := json.Marshal(map[string]any{"status": a.status, "headers": a.headers()})
	if err != nil {
		return nil
	}
	return b
}

// headers are those of the answer, without what nobody may see.
func (a response) headers() map[string]string {
	headers := map[string]string{}
	for name, values := range a.header {
		if slices.Contains(forgotten, name) || len(values) == 0 || len(headers) == maxHeaderNames {
			continue
		}
		v := patra.Mask(a.who.redact(values[0])) // before it is cut
		headers[name] = v[:min(len(v), maxHeaderValue)]
	}
	return headers
}
