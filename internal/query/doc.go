// Package query is the query side of a plan: what is asked, apart from when, and how a provider is asked for it.
//
// A query is a small tree (Node). People write it as text (Parse, Format), the tables hold it as JSON, and both are
// hashed after normalising, so that two spellings of one question share one cursor. A Grammar is the query block of a
// source file: which fields a provider knows, what may be asked of them, and what each clause becomes. Render turns a
// query into provider parameters by a grammar.
//
// The package is pure. It knows no provider by name, sends nothing, reads no clock and encodes nothing for URLs. Above
// all it never approximates: a clause that the provider cannot answer exactly as it stands is refused with a reason,
// not widened, narrowed, inverted or left out.
//
// Its words: an atom is a node that looks at one field; a clause is an atom as people see it; a fragment is a piece of
// the provider's query language; a standard parameter is the name that render rules use, which the parameter map turns
// into the provider's name; the prototype of a plan is its query without a window, and Bind adds one.
package query
