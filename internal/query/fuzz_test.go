package query_test

import (
	"testing"

	"patra/internal/query"
)

func FuzzParse(f *testing.F) {
	for _, text := range []string{`title:"heart failure" AND mesh:(Humans OR -Animals)`, `year:[2000 TO 2010} OR abstract:* x*`, `type:["a", b] ^x =y ~"z w"`, `((a)`, "title:\"\\", "a\nb:\tc", `NOT NOT *`} {
		f.Add(text)
	}
	fields := europe().Fields
	f.Fuzz(func(t *testing.T, text string) {
		for _, fields := range []query.Fields{nil, fields} {
			n, err := query.Parse(text, fields)
			if err != nil {
				for _, p := range problems(err) {
					if p.Line < 1 || p.Col < 1 || p.Text == "" || p.Hint == "" {
						t.Fatalf("%q: %#v says not where or why", text, p)
					}
				}
				continue
			}
			written := query.Format(n, fields)
			back, err := query.Parse(written, fields)
			if err != nil || back.Hash() != n.Hash() {
				t.Fatalf("%q is written %q and reads back as %s, %v", text, written, back, err)
			}
			if again := query.Format(back, fields); again != written {
				t.Fatalf("%q is written %q and then %q", text, written, again)
			}
		}
	})
}

func FuzzJSON(f *testing.F) {
	for _, text := range []string{`{"op":"CONST","value":true}`, `{"op":"NOT","args":[{"op":"TERM","field":"a","text":"x","match":"EXACT"}]}`, `{"op":"RANGE","field":"y","range":"NUMBER","to":{"number":1.5,"kind":"OPEN"}}`} {
		f.Add([]byte(text))
	}
	g := europe()
	f.Fuzz(func(t *testing.T, data []byte) {
		n, err := query.ParseJSON(data)
		if err != nil {
			return
		}
		back, err := query.ParseJSON(n.JSON())
		if err != nil || back.Hash() != n.Hash() {
			t.Fatalf("%s reads back as %s, %v", n.JSON(), back.JSON(), err)
		}
		if text, err := query.Parse(n.String(), nil); err != nil || text.Hash() != n.Hash() {
			t.Fatalf("%s is written %s and reads back as %s, %v", n.JSON(), n, text.JSON(), err)
		}
		if out, err := g.Render(n); err == nil && !out.Empty && len(out.Params["query"]) != 1 {
			t.Fatalf("%s asks %v", n, out)
		}
	})
}
