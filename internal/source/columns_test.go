package source

import "testing"

func TestAColumnIsAListWhereTheMappingGivesOne(t *testing.T) {
	for _, c := range []struct {
		format, text string
		list, flat   bool
	}{
		{"JSON", "$.DOI | lower", false, true},
		{"JSON", "$.title[0]", false, true},
		{"JSON", "$.keywords[*]", true, true},
		{"JSON", "$.keywords[*] | first", false, true},
		{"JSON", "$.keywords[*] | join('; ')", false, true},
		{"JSON", "$.categories | split(' ')", true, true},
		{"JSON", "$.x[*] | distinct", true, true},
		{"JSON", "$.x[*] | count", false, true},
		{"JSON", "$.author[*] {name: $.name}", false, false},
		{"XML", "subject | list", true, true},
		{"XML", "title | first", false, true},
	} {
		if list, flat := columnOf(c.format, c.text); list != c.list && c.flat || flat != c.flat {
			t.Errorf("%s: list %v, flat %v", c.text, list, flat)
		}
	}
}
