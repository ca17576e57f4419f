// Package registry turns source files into the rows of the registry and back, and says which row and which field
// counted at an instant.
//
// It is pure: rows come in as values and go out as values. It reads no table, no clock and no file, and it has no
// rules of its own about what a source may say: those are the source package's, and a compiled spec is made there.
// It knows the keys of a source file only as far as they have a table; a key that has none is kept with the endpoint,
// so that a source file can grow without this package.
//
// Its words: a dimension is an aspect of a source with a table of its own; a scope is what a row speaks for (the
// source, one endpoint, one operation, or both); a layer is where a field of a spec came from.
package registry
