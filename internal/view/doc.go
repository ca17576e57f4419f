// Package view has the read models that the command line, the API and the dashboard show: what a harvest left open, where
// a record came from, what a comparison with the provider found. Each fact is derived in one function, so that the doors
// cannot disagree about it.
//
// It reads the store and the rules of the root package. It plans nothing, sends nothing, and prints nothing.
package view
