package query

import (
	"bytes"
	"encoding/json"
)

// Strings is a text or a list of texts; most files need one.
type Strings []string

// UnmarshalYAML reads a scalar or a list.
func (s *Strings) UnmarshalYAML(read func(any) error) error {
	var one string
	if read(&one) == nil {
		*s = Strings{one}
		return nil
	}
	var many []string
	if err := read(&many); err != nil {
		return err
	}
	*s = many
	return nil
}

// MarshalJSON writes the shorter form.
func (s Strings) MarshalJSON() ([]byte, error) {
	if len(s) == 1 {
		return json.Marshal(s[0])
	}
	return json.Marshal([]string(s))
}

// UnmarshalJSON reads both forms.
func (s *Strings) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte(`"`)) {
		*s = make(Strings, 1)
		return json.Unmarshal(data, &(*s)[0])
	}
	return json.Unmarshal(data, (*[]string)(s))
}
