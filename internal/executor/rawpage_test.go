package executor

import (
	"bytes"
	"testing"

	"patra"
	"patra/internal/zstdchunks"
)

// Raw content is found in the answer as it was kept, in what the items were completed to, or else in a copy of what became records.
func TestTheRawContentOfAPage(t *testing.T) {
	body, apart := []byte("[a][b][c]"), []byte("[a!][b!][c!]")
	kept := &patra.StoredBody{Pieces: [][]byte{[]byte("packed already")}}
	of := func(text []byte, spans ...[2]int) (all []patra.Observation) {
		for _, s := range spans {
			all = append(all, patra.Observation{Raw: text[s[0]:s[1]]})
		}
		return all
	}
	for name, c := range map[string]struct {
		got     response
		apart   []byte
		records []patra.Observation
		same    []byte // what it is, and no copy of it
		want    string
	}{
		"in the answer":                        {response{body: body, kept: kept}, nil, of(body, [2]int{0, 3}, [2]int{6, 9}), body, "[a][b][c]"},
		"in an answer that is not kept":        {response{body: body}, nil, of(body, [2]int{0, 3}, [2]int{6, 9}), nil, "[a][c]"},
		"apart":                                {response{body: body, kept: kept}, apart, of(apart, [2]int{0, 4}, [2]int{4, 8}, [2]int{8, 12}), apart, "[a!][b!][c!]"},
		"apart, with one that is no record":    {response{body: body, kept: kept}, apart, of(apart, [2]int{0, 4}, [2]int{8, 12}), nil, "[a!][c!]"},
		"elsewhere, though it is just as long": {response{body: body}, apart, of(bytes.Clone(apart), [2]int{0, 4}, [2]int{4, 8}, [2]int{8, 12}), nil, "[a!][b!][c!]"},
	} {
		t.Run(name, func(t *testing.T) {
			var want [][]byte
			for _, o := range c.records {
				want = append(want, bytes.Clone(o.Raw))
			}
			raw := rawPage(c.got, c.apart, c.records)
			if string(raw.Body) != c.want || c.same != nil && &raw.Body[0] != &c.same[0] {
				t.Fatalf("it is %s", raw.Body)
			}
			for i, o := range c.records {
				if _, ok := patra.SpanIn(raw.Body, o.Raw); !ok || !bytes.Equal(o.Raw, want[i]) {
					t.Errorf("record %d is %s, and in it: %t", i, o.Raw, ok)
				}
			}
			if &raw.Body[0] == &body[0] {
				return // as it was packed
			}
			if got, err := zstdchunks.Open(bytes.Join(raw.Pieces, nil), nil); err != nil || string(got) != c.want {
				t.Errorf("packed is %s, %v", got, err)
			}
		})
	}
}
