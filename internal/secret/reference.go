package secret

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
)

// Reference says where a secret is. The zero value is nowhere.
type Reference struct {
	kind  string // env or file
	where string
}

// The kinds of place.
const (
	kindEnv  = "env"
	kindFile = "file"
)

// howToRefer ends the sentence about a reference that is none.
const howToRefer = `write "env:NAME" for an environment variable or "file:/path" for a file`

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// UnmarshalText reads env:NAME or file:/path. What is neither may be a secret that somebody wrote where its place
// belongs, so it is never repeated.
func (r *Reference) UnmarshalText(text []byte) error {
	kind, where, ok := strings.Cut(string(text), ":")
	switch {
	case ok && kind == kindEnv && variableName.MatchString(where):
	case ok && kind == kindEnv:
		return errors.New(`behind "env:" stands the name of an environment variable, such as NCBI_API_KEY`)
	case ok && kind == kindFile && filepath.IsAbs(where):
	case ok && kind == kindFile:
		return errors.New(`behind "file:" stands a whole path, such as /run/secrets/wos`)
	default:
		return fmt.Errorf("secrets are not written here, only where they are: %s", howToRefer)
	}
	*r = Reference{kind, where}
	return nil
}

// MarshalText writes what was read.
func (r Reference) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// String is the reference as people write it.
func (r Reference) String() string {
	if r.kind == "" {
		return ""
	}
	return r.kind + ":" + r.where
}
