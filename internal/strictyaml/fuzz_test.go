package strictyaml_test

import (
	"errors"
	"strings"
	"testing"

	"patra"
	"patra/internal/strictyaml"
)

// FuzzDecode checks that no text makes the decoder panic, that every problem says what it is, that its place lies in
// the file, and that problems come by line.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		sample, "", "a", "- a\n", "name: x\nname: y\n", "{a: [1, {b: c}], }", "&a *a", "<<: *a\n", "!!map {}", "? a\n: b\n",
		"a: |2\n   x\n", "a: >+\n\n x\n\n", "'it''s': \"\\u00e9\"", "---\n---\n", "%TAG ! x\n---\na", "a:\r\n  b\r", "\ufeffa: 1",
		"schedules: [{cron: [}]", "either: {limit: {}}\n", "raw: &x [*x]\n", "any: !!binary |\n  aGk=\n", "*a : b\n&b c: d\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data string) {
		err := strictyaml.Decode("s.yaml", []byte(data), new(root))
		if err == nil {
			return
		}
		problems, ok := errors.AsType[patra.Problems](err)
		if !ok {
			t.Fatalf("not a problem list: %v", err)
		}
		last, total := 0, strings.Count(data, "\n")+strings.Count(data, "\r")+1
		for _, p := range problems {
			if p.Code == "" || p.Text == "" || p.File != "s.yaml" {
				t.Errorf("incomplete: %+v", p)
			}
			if p.Line < last || p.Line > total {
				t.Errorf("line %d after %d of %d: %s", p.Line, last, total, p)
			}
			last = p.Line
		}
	})
}
