package sim

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"
)

// jsonText writes JSON the way the real providers' serializers do: UTF-8 as it is, no spaces, and more characters
// escaped than needed, each provider in its own way, so that a reader who takes raw bytes for text is found out. It
// exists because a page has tens of thousands of values and encoding/json would be most of the time a page takes.
type jsonText struct {
	b      []byte
	escape *[256]bool // nil is Crossref's habit
	ascii  bool       // characters outside of ASCII are escaped too
}

// sep puts a comma unless a value or a container has just been opened. Text always ends in a quote, so the last byte
// tells.
func (j *jsonText) sep() {
	if len(j.b) == 0 {
		return
	}
	switch j.b[len(j.b)-1] {
	case '{', '[', ':':
	default:
		j.b = append(j.b, ',')
	}
}

func (j *jsonText) open(c byte) {
	j.sep()
	j.b = append(j.b, c)
}

func (j *jsonText) close(c byte) { j.b = append(j.b, c) }

// key writes a name of our own choice, which never needs escaping.
func (j *jsonText) key(k string) {
	j.sep()
	j.b = append(j.b, '"')
	j.b = append(j.b, k...)
	j.b = append(j.b, '"', ':')
}

func (j *jsonText) text(s string) {
	j.sep()
	j.b = append(j.b, '"')
	j.more(s)
	j.b = append(j.b, '"')
}

// The bytes that need an escape, and those that a serializer escapes besides: Crossref every slash, DataCite the signs
// that mean something in HTML, the others none.
var (
	plainEscapes = escapes("")
	slashEscapes = escapes("/")
	htmlEscapes  = escapes("<>&")
)

func escapes(more string) *[256]bool {
	var set [256]bool
	for c := range ' ' {
		set[c] = true
	}
	set['"'], set['\\'] = true, true
	for _, c := range []byte(more) {
		set[c] = true
	}
	return &set
}

// more appends escaped text to a string that is still open.
func (j *jsonText) more(s string) {
	const hex = "0123456789abcdef"
	if j.ascii {
		s = j.moreASCII(s)
	}
	set, start := j.escape, 0
	if set == nil {
		set = slashEscapes
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		if !set[c] {
			continue
		}
		j.b = append(j.b, s[start:i]...)
		switch c {
		case '"', '\\', '/':
			j.b = append(j.b, '\\', c)
		default:
			j.b = append(j.b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
		start = i + 1
	}
	j.b = append(j.b, s[start:]...)
}

// moreASCII appends text up to and including its last character outside of ASCII, and gives the rest.
func (j *jsonText) moreASCII(s string) string {
	for {
		i := strings.IndexFunc(s, func(c rune) bool { return c >= utf8.RuneSelf })
		if i < 0 {
			return s
		}
		c, size := utf8.DecodeRuneInString(s[i:])
		before := s[:i]
		s = s[i+size:]
		j.ascii = false
		j.more(before)
		j.ascii = true
		for _, unit := range utf16.Encode([]rune{c}) {
			j.b = fmt.Appendf(j.b, `\u%04x`, unit)
		}
	}
}

func (j *jsonText) number(n int64) {
	j.sep()
	j.b = strconv.AppendInt(j.b, n, 10)
}

// raw appends a value that is JSON already.
func (j *jsonText) raw(s string) {
	j.sep()
	j.b = append(j.b, s...)
}

func (j *jsonText) pair(key, value string) {
	j.key(key)
	j.text(value)
}

func (j *jsonText) count(key string, n int) {
	j.key(key)
	j.number(int64(n))
}

func (j *jsonText) list(key string, values ...string) {
	j.key(key)
	j.open('[')
	for _, v := range values {
		j.text(v)
	}
	j.close(']')
}

// dateParts writes {"date-parts":[[2024,1,31]] and leaves the object open.
func (j *jsonText) dateParts(key string, parts ...int) {
	j.key(key)
	j.open('{')
	j.key("date-parts")
	j.open('[')
	j.open('[')
	for _, p := range parts {
		j.number(int64(p))
	}
	j.b = append(j.b, ']', ']')
}

// moment writes a time in the three forms the provider gives each of its times. The text is cut to the second, the
// timestamp is not: that is how the real one does it.
func (j *jsonText) moment(key string, ms int64) {
	t := time.UnixMilli(ms).UTC()
	y, m, d := t.Date()
	hour, minute, second := t.Clock()
	j.dateParts(key, y, int(m), d)
	j.b = append(j.b, `,"date-time":"`...)
	j.digits(y/100, y%100)
	j.b = append(j.b, '-')
	j.digits(int(m))
	j.b = append(j.b, '-')
	j.digits(d)
	j.b = append(j.b, 'T')
	j.digits(hour)
	j.b = append(j.b, ':')
	j.digits(minute)
	j.b = append(j.b, ':')
	j.digits(second)
	j.b = append(j.b, 'Z', '"')
	j.key("timestamp")
	j.number(ms)
	j.close('}')
}

func (j *jsonText) digits(pairs ...int) {
	for _, n := range pairs {
		j.b = append(j.b, byte('0'+n/10), byte('0'+n%10))
	}
}
