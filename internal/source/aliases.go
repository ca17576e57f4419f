package source

import (
	"errors"

	"patra"
	"patra/internal/strictyaml"
)

// LoadWithAliases is Load for a file that may use other words for codes: reword is given every single value with its
// path, and what it returns counts as written there.
func LoadWithAliases(file string, data []byte, reword func(path, text string) string) (*File, error) {
	doc, err := strictyaml.Parse(file, data)
	if err != nil {
		return nil, err
	}
	doc.Rewrite(func(path, text string) (string, bool) { return reword(path, text), true })
	f := &File{}
	if err := doc.Decode(f); err != nil {
		if found, ok := errors.AsType[patra.Problems](err); ok {
			return f, found
		}
		return nil, err
	}
	return f, validate(doc, f).Err()
}
