package api

import (
	"encoding/base64"
	"encoding/json"
	"testing"
)

// FuzzRecordPosition: a position that a list never gave is refused in a sentence, or is one that a list could have given. Who
// made it up gets no further than to another place of the same list.
func FuzzRecordPosition(f *testing.F) {
	for _, text := range []string{"{}", `{"i":7}`, `{"i":-1}`, `{"c":9223372036854775807,"i":1}`, `{"t":"work","k":"10.5555/\u0000"}`, `[]`, `null`, `{"i":1}{"i":2}`, `{"i":"1"}`, `{"i":1e3}`, "{\"k\":\"\xff\"}", "\x00"} {
		f.Add(base64.RawURLEncoding.EncodeToString([]byte(text)))
	}
	f.Add("no base64")
	f.Add("e30=")
	f.Fuzz(func(t *testing.T, cursor string) {
		at, err := recordPosition(cursor)
		switch {
		case cursor == "" && (at != nil || err != nil):
			t.Fatal(at, err)
		case cursor == "":
			return
		case err != nil && at != nil || err == nil && at == nil:
			t.Fatalf("%+v and %v", at, err)
		case err != nil:
			return
		}
		text, err := json.Marshal(at)
		if err != nil {
			t.Fatal(err)
		}
		again, err := recordPosition(base64.RawURLEncoding.EncodeToString(text))
		if err != nil || *again != *at {
			t.Errorf("%+v becomes %+v, %v", at, again, err)
		}
	})
}
