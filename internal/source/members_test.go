package source

import (
	"fmt"
	"strings"
	"testing"
)

// Whoever looks for items where there are none is told what there is, as far as it can be told.
func TestWhatAnAnswerHasIsNamed(t *testing.T) {
	many := make([]string, 12)
	for i := range many {
		many[i] = fmt.Sprintf(`"m%02d": 1`, i)
	}
	for body, want := range map[string]string{
		`{"results": [], "meta": {}}`:                            "the answer has no such member; it has meta, results",
		`{"` + strings.Repeat("x", 41) + `": 1, "\u001b[2J": 1}`: "the answer has no such member",
		`[1]`:                               "the answer has no such member",
		`{` + strings.Join(many, ",") + `}`: "the answer has no such member; it has m00, m01, m02, m03, m04, m05, m06, m07, ...",
	} {
		_, err := jsonSplitter{text: "$.items", items: namePath{"items"}}.split([]byte(body))
		if err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", body, err, want)
		}
	}
}
