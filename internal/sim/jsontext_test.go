package sim

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestAnyTextSurvivesAsJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := []string{rapid.String().Draw(t, "a"), rapid.StringOf(rapid.RuneFrom([]rune("\"\\/\n\x00<é{[:,"))).Draw(t, "b")}
		var j jsonText
		j.open('{')
		j.list("x", want...)
		j.count("n", len(want))
		j.close('}')
		var got struct {
			X []string `json:"x"`
			N int      `json:"n"`
		}
		if err := json.Unmarshal(j.b, &got); err != nil || got.X[0] != want[0] || got.X[1] != want[1] || got.N != 2 {
			t.Fatalf("%q became %s, read as %q: %v", want, j.b, got.X, err)
		}
	})
}

func TestSlashesAreEscapedAsTheProviderDoes(t *testing.T) {
	w := do(New(small(1)).Handler(), "/works?rows=10")
	if body := w.Body.String(); !strings.Contains(body, `"DOI":"10.`) || strings.Contains(strings.ReplaceAll(body, `\/`, ""), "/") {
		t.Errorf("a bare slash in %s", body)
	}
}
