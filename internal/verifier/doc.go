// Package verifier judges a harvest from outside: it is given the tables, the kept answers and the logs of our processes on
// one side, and what the provider wrote down by itself on the other, and asks whether they can both be true.
//
// It shares no code with whoever plans, sends or stores, so that a mistake there is not repeated here, and it only reads.
// What can be asked of the tables alone is asked by internal/store/invariants; the rest is here.
//
// Its words: an invariant is a sentence that is true of every harvest, whatever happened; a finding is something that
// breaks it. An invariant that had nothing to look at says so, because then it proved nothing.
//
// A truth of a million versions takes some 230 MB of memory; everything else is read as it comes.
package verifier
