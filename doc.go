// Package patra holds the nouns of a literature harvest and the pure rules that keep every record.
//
// Data flows one way, and planner and executor meet only in the tables:
//
//	trigger ──► planner ──► store{plan, slice, task} ──► executor ──► store.CommitPage ──► records
//	(CLI)        pure         the tables are the          claim, gate,  one transaction: ledger,
//	             slicing      only hand-over              fetch, map    records, quarantine, checkpoint
//
// The life of work is: schedule instance → plan → slice → task → run → batch → cursor event → cursor,
// and everything can be traced along that line in both directions.
//
// What belongs here: windows and interval algebra ([Window], [Coverage]), what a slice is ([SliceSpec]),
// how things are named and hashed ([Canonical], [Hash], [PlanKey]), which steps a state machine allows
// ([Moves]), how two versions of a record are compared ([Merge.Decide]), and how failures are classified ([Fault]).
//
// What never belongs here: SQL, sockets, files, clocks. The package imports the standard library only, and
// every function is a function of its arguments. A store method, a planner step or a page commit is correct
// because these rules are, and they are proved by properties in the tests beside them.
package patra
