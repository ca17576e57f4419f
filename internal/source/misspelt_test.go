package source

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

func TestMisspeltFunction(t *testing.T) {
	for _, tt := range []struct{ format, text, want string }{
		{formatXML, "title | lowr", `"lowr" is not a function; did you mean lower? An element of this name is written ./lowr`},
		{formatXML, "title | splt(';')", `"splt" is not a function; did you mean split?`},
		{formatXML, "author {name: name} | lsit", `"lsit" is not a function; did you mean list?`},
		{formatXML, "author {name: name} | shout", `only functions can follow an object, and "shout" is none; known: after,`},
		{formatXML, "author {name: name} |", `only functions can follow an object, and "" is none`},
		{formatXML, "author {name: name | list", `is not closed`},
		{formatJSON, "$.author[*] {name: $.name", `is not closed`},
		{formatXML, "title | ./lowr", ""},
		{formatXML, "created | date", ""},
		{formatXML, "AbstractText | Text", ""},
		{formatXML, "a:title | b:text | first", ""},
	} {
		_, err := parseMapping(tt.format, tt.text)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: got %v, want %q", tt.text, err, tt.want)
		}
	}
}

func TestUnknownRoleIsTheOnlyProblem(t *testing.T) {
	text, err := os.ReadFile("../../sources/pubmed.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, err = Load("mine.yaml", bytes.Replace(text, []byte("role: DETAIL"), []byte("role: DETAILS"), 1))
	if err == nil || strings.Contains(err.Error(), "endpoints.fetch.window") || strings.Contains(err.Error(), "endpoints.fetch.pagination") || strings.Contains(err.Error(), "BAD_MAPPING") || !strings.Contains(err.Error(), `Did you mean "DETAIL"?`) {
		t.Errorf("got %v, want what is wrong with the role and not what follows from it", err)
	}
}
