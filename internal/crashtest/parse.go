package crashtest

import (
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var (
	answered   = regexp.MustCompile(`^(-?\d+|\?)(?:<([^>]*)>)?`)
	descriptor = regexp.MustCompile(`^(\d+|AT_FDCWD)<([^>]*)>`)
	synonyms   = map[string]string{"open": "openat", "mkdir": "mkdirat", "unlink": "unlinkat", "rename": "renameat", "renameat2": "renameat", "link": "linkat"}
)

const (
	unfinished = " <unfinished ...>"
	resumed    = " resumed>"
)

// parse reads what strace wrote: the calls that succeeded, in the order in which they ended. Lines are long, so they are cut
// and not matched.
func parse(t testing.TB, raw []byte, name func(string) string) (all []event) {
	t.Helper()
	type half struct {
		args  string
		begun int
	}
	halves := map[string]half{}
	for line := range strings.Lines(string(raw)) {
		thread, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		rest = strings.TrimLeft(rest, " ")
		begun := half{begun: len(all)}
		var call string
		if other, ok := strings.CutPrefix(rest, "<... "); ok {
			begun = halves[thread]
			call, rest, _ = strings.Cut(other, resumed)
		} else if call, rest, ok = strings.Cut(rest, "("); !ok {
			continue
		}
		if args, ok := strings.CutSuffix(rest, unfinished); ok {
			halves[thread] = half{args, len(all)}
			continue
		}
		end := strings.LastIndex(rest, ") ")
		if end < 0 {
			continue
		}
		answer := answered.FindStringSubmatch(strings.TrimLeft(rest[end+1:], " ="))
		if answer == nil || answer[1] == "?" || strings.HasPrefix(answer[1], "-") {
			continue
		}
		if e, ok := read(t, call, begun.args+rest[:end], answer[1], answer[2], name); ok {
			e.begun = begun.begun
			all = append(all, e)
		}
	}
	return all
}

// unquoted takes the texts out of arguments. As all bytes are written as numbers, there is no quote inside of one.
func unquoted(t testing.TB, args string) (texts [][]byte, bare string) {
	t.Helper()
	for i, part := range strings.Split(args, `"`) {
		if i%2 == 0 {
			bare += part
		} else {
			texts = append(texts, bytesOf(t, part))
		}
	}
	return texts, bare
}

// read makes an event of one call.
func read(t testing.TB, call, args, answer, opened string, name func(string) string) (e event, ok bool) {
	t.Helper()
	e = event{call: call, path: outside, to: outside}
	if as := synonyms[call]; as != "" {
		e.call = as
	}
	texts, bare := unquoted(t, args)
	switch e.call {
	case "openat":
		e.fd, e.path, e.flags = answer, name(string(bytesOf(t, opened))), bare
	case "close", "lseek":
		return e, false
	case "mkdirat", "unlinkat", "renameat", "linkat":
		for i, text := range texts {
			path := string(text)
			if !filepath.IsAbs(path) {
				t.Fatalf("a path that is not absolute: %s(%s)", call, args)
			}
			if i == 0 {
				e.path = name(path)
			} else {
				e.to = name(path)
			}
		}
	default:
		m := descriptor.FindStringSubmatch(bare)
		if m == nil {
			return e, false
		}
		e.fd = m[1]
		path := string(bytesOf(t, m[2]))
		if strings.HasSuffix(path, "(deleted)") || strings.Contains(bare, "(deleted)") {
			return e, false // nobody will ever read it again
		}
		e.path = name(path)
		if call == "write" && e.fd == "1" && len(texts) > 0 {
			e.call, e.said = "said", string(texts[0])
			return e, true
		}
		if len(texts) > 0 {
			n, err := strconv.Atoi(answer)
			if err != nil || n > len(texts[0]) {
				t.Fatalf("%s(%s) = %s", call, bare, answer)
			}
			e.data = texts[0][:n]
		}
		if parts := strings.Split(bare, ", "); call == "pwrite64" || call == "ftruncate" {
			at, err := strconv.ParseInt(strings.TrimSpace(parts[len(parts)-1]), 10, 64)
			if err != nil {
				t.Fatalf("%s(%s)", call, bare)
			}
			e.at = at
		}
		if call == "writev" || call == "pwritev" || call == "fallocate" {
			if e.path != outside {
				t.Fatalf("%s of %s is not understood", call, e.path)
			}
		}
	}
	return e, e.path != outside || e.to != outside
}

// bytesOf decodes what is written as \x41\x42; what is written plainly stays as it is.
func bytesOf(t testing.TB, text string) []byte {
	t.Helper()
	if !strings.HasPrefix(text, `\x`) {
		return []byte(text)
	}
	out := make([]byte, 0, len(text)/4)
	for i := 0; i+4 <= len(text); i += 4 {
		n, err := strconv.ParseUint(text[i+2:i+4], 16, 8)
		if err != nil {
			t.Fatalf("%q: %v", text[i:i+4], err)
		}
		out = append(out, byte(n))
	}
	return out
}
