// Package store keeps everything: plans, the queue, the ledger, cursors, coverage and records, in SQLite or in
// the MySQL family, from one SQL text.
//
// A method is one transition of a state machine in one transaction. Where a run writes, the first statement of
// that transaction is the guarded update of its task row: it takes the lock before anything else is written, and
// when it changes no row the lease was lost, everything is rolled back and the caller gets patra.ErrLeaseLost.
//
// The package never decides what the rules are: windows, coverage, versions and legal steps are functions of the
// root package. It never talks to a provider, never hands out a transaction, and never compares a worker's clock
// with a lease: leases are measured by the database's clock inside the statement.
//
// Its words: a dialect is the handful of fragments in which the engines differ; a stmt is a named SQL text; the
// guard is the fenced update that begins every write of a run.
package store
