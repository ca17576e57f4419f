package patra_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"patra"
)

func TestConditionsOnFields(t *testing.T) {
	for text, want := range map[string]string{
		"type=journal-article": `$."type" = journal-article`,
		"title ~ heart 100%":   `$."title" ~ heart 100%`,
		"published>=2026-01":   `$."published" >= 2026-01`,
		"a.b-c!=x=y":           `$."a"."b-c" != x=y`,
		"title=":               `$."title" = `,
	} {
		got, err := patra.ParseFieldTest(text)
		if err != nil || got.JSONPath()+" "+got.Op+" "+got.Value != want {
			t.Errorf("%s: %s %s %s, %v", text, got.JSONPath(), got.Op, got.Value, err)
		}
	}
	for _, text := range []string{"", "title", "=x", `a"b=x`, "a..b=x", "a[0]=x", "$.a=x", "a b=x", "1a=x"} {
		if got, err := patra.ParseFieldTest(text); err == nil {
			t.Errorf("%s became %+v", text, got)
		}
	}
}

// Whatever is written, the path has only names in quotes: nothing can leave them.
func TestNoConditionEscapesItsPath(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, err := patra.ParseFieldTest(rapid.StringMatching(`[a-c."'$\[\]\\ ]{1,6}(=|~|>=)[a-z'"%]{0,4}`).Draw(t, "text"))
		if err != nil {
			return
		}
		inside := strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(f.JSONPath(), `$."`), `"`), `"."`, "")
		if strings.ContainsAny(inside, `"'\$[]() `) {
			t.Fatalf("%q", f.JSONPath())
		}
	})
}
