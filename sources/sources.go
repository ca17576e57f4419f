// Package sources holds the source files that are shipped with the program.
package sources

import "embed"

// Files are the shipped source files, one YAML file a source.
//
//go:embed *.yaml
var Files embed.FS
