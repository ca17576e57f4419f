package observe

import (
	"strings"
	"sync"
	"unicode/utf8"

	"patra"
)

// MostSeries is more than one process can ever show, whatever is in its sources, keys, queries and tables. A usual one shows
// some hundreds.
const MostSeries = 20_000

// mostStatements is more than the store has; each has a name in the program.
const mostStatements = 500

// others is where the rest is counted.
const others = "other"

// mostLabel is how many bytes of a text are shown.
const mostLabel = 64

// label is a text that may stand in a label. What is too long, or no text, is shown with a hash, so that two that differ
// stay two.
func label(text string) string {
	if len(text) <= mostLabel && utf8.ValidString(text) {
		return text
	}
	head := strings.ToValidUTF8(text[:min(len(text), mostLabel-10)], "")
	return head + "~" + patra.HashBytes([]byte(text))[:8]
}

// labelLimiter gives labels to texts, until there are too many.
type labelLimiter struct {
	most  int
	mu    sync.Mutex
	known map[string]bool
}

func newBounded(most int) *labelLimiter { return &labelLimiter{most: most, known: map[string]bool{}} }

// admit reports whether a text has numbers of its own.
func (b *labelLimiter) admit(text string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.known[text] {
		if len(b.known) >= b.most {
			return false
		}
		b.known[text] = true
	}
	return true
}

func (b *labelLimiter) label(text string) string {
	if text = label(text); !b.admit(text) {
		return others
	}
	return text
}

// scopeLabels gives labels to sources, endpoints and operations, which are bounded together.
type scopeLabels struct{ *labelLimiter }

// at gives the labels of a place, and behind them some more, of which there are few.
func (p scopeLabels) at(source, endpoint string, op patra.Operation, more ...string) []string {
	source, endpoint, operation := label(source), label(endpoint), label(string(op))
	if !p.admit(source + "\x00" + endpoint + "\x00" + operation) {
		source, endpoint, operation = others, others, others
	}
	return append([]string{source, endpoint, operation}, more...)
}
