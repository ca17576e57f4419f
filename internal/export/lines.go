package export

import (
	"encoding/json"
	"io"

	"patra"
)

// lines writes one JSON object a line.
type lines struct {
	enc  *json.Encoder
	form Form
}

func newLines(w io.Writer, f Form) *lines {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return &lines{enc, f}
}

// bare is a record without what the provider sent.
type bare struct {
	patra.Record
	Raw *struct{} `json:"raw,omitempty"` // hides the one inside
}

func (l *lines) write(r patra.Record) error {
	r, err := Narrow(r, l.form.Fields)
	if err != nil {
		return err
	}
	if !l.form.Raw {
		return l.enc.Encode(bare{Record: r})
	}
	return l.enc.Encode(r)
}

func (l *lines) pending() int64 { return 0 }
func (l *lines) flush() error   { return nil }
func (l *lines) close() error   { return nil }
