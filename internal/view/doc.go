// Package view has the read models that the command line, the API and the dashboard show: how things stand, what a harvest left
// open, where a record came from, what a comparison with the provider found. Each fact is derived in one function, so that the
// doors cannot disagree about it.
//
// It reads the store and the rules of the root package. It plans nothing, sends nothing, and prints nothing. A Verdict is made of
// facts that others have read: Cursor, Plan, Source and Installation are pure. What `patra coverage gaps` lists is what a verdict
// is about (CursorFacts.Gaps), and Tally decides both its exit code and Verdict.Complete.
//
// Words: a reason is one thing that keeps a verdict from OK, with a sentence and a next step; the health of something is the
// gravest of its reasons. A note is a reason that changes no health.
package view
