// Package source is a provider as data: a YAML file becomes an immutable Spec, and a Spec builds requests, reads
// answers and finds the next page.
//
// It holds no socket, no clock and no SQL, and it knows no provider by name: what Crossref does differently from
// Europe PMC is a value in a file. Everything the executor needs is in the Spec, which is stored with the plan; a
// source file that changes tomorrow changes nothing about the plan of today.
//
// Its words: a block is a group of settings (http, rate, retry, pagination, response, window); a position is where
// a page starts; an item is one element of an answer, kept byte for byte; a mapping is how an item's fields are read.
package source
