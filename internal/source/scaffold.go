package source

import (
	_ "embed"
	"strings"
)

//go:embed scaffold.yaml
var scaffold string

// Scaffold is a commented source file to begin a new source with. It is valid as it stands.
func Scaffold(code string) string { return strings.ReplaceAll(scaffold, "CODE", code) }
