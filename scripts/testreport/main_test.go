package main

import (
	"strings"
	"testing"
)

const (
	passes = `{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestA","Output":"a quiet line\n"}
{"Action":"pass","Package":"p","Test":"TestA","Elapsed":2.5}
{"Action":"output","Package":"p","Test":"TestB","Output":"    b_test.go:3: it needs a server\n"}
{"Action":"output","Package":"p","Test":"TestB","Output":"--- SKIP: TestB (0.00s)\n"}
{"Action":"skip","Package":"p","Test":"TestB","Elapsed":0}
{"Action":"output","Package":"p","Output":"PASS\n"}
{"Action":"output","Package":"p","Output":"ok  \tp\t2.6s\n"}
{"Action":"pass","Package":"p","Elapsed":2.6}
`
	fails = `{"Action":"output","Package":"q","Test":"TestC","Output":"    c_test.go:7: 1 is not 2\n"}
{"Action":"fail","Package":"q","Test":"TestC","Elapsed":0.1}
{"Action":"output","Package":"q","Output":"FAIL\tq\t0.2s\n"}
{"Action":"fail","Package":"q","Elapsed":0.2}
`
	cutOff = `{"Action":"output","Package":"r","Test":"TestD","Output":"the last line before a panic\n"}
{"Action":"fail","Package":"r","Elapsed":0.2}
`
	doesNotBuild = `{"ImportPath":"s","Action":"build-output","Output":"s.go:1:1: expected package\n"}
{"ImportPath":"s","Action":"build-fail"}
`
)

func TestAReportPassesOnlyWhereAllPackagesPass(t *testing.T) {
	for name, c := range map[string]struct {
		events string
		want   bool
		shown  []string
	}{
		"all pass":           {passes, true, []string{"ok  \tp", "2.5 s  p TestA", "1 tests skipped", "p TestB: b_test.go:3: it needs a server"}},
		"one fails":          {passes + fails, false, []string{"1 is not 2", "FAIL\tq"}},
		"one is cut off":     {cutOff, false, []string{"did not end: r TestD", "the last line before a panic"}},
		"no build":           {doesNotBuild + passes, false, []string{"expected package"}},
		"no package":         {"go: no such tool\n", false, []string{"go: no such tool", "no package was tested"}},
		"a line of a script": {"installing\n" + passes, true, []string{"installing\n"}},
	} {
		var out strings.Builder
		if got := run(strings.NewReader(c.events), &out); got != c.want {
			t.Errorf("%s: passed is %v", name, got)
		}
		for _, s := range c.shown {
			if !strings.Contains(out.String(), s) {
				t.Errorf("%s: %q is not shown in\n%s", name, s, &out)
			}
		}
		if strings.Contains(out.String(), "a quiet line") {
			t.Errorf("%s: output of a test that passed is shown", name)
		}
	}
}
