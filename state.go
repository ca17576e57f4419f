package patra

import (
	"fmt"
	"slices"
	"strings"
)

// Status is a state of one of the nouns.
type Status string

// All states, shared by name between the nouns that have them.
const (
	Accepted  Status = "ACCEPTED"
	Planned   Status = "PLANNED"
	Rejected  Status = "REJECTED"
	Draft     Status = "DRAFT"
	Slicing   Status = "SLICING"
	Ready     Status = "READY"
	Partial   Status = "PARTIAL"
	Split     Status = "SPLIT"
	Queued    Status = "QUEUED"
	Running   Status = "RUNNING"
	Succeeded Status = "SUCCEEDED"
	Failed    Status = "FAILED"
	Cancelled Status = "CANCELLED"
	Released  Status = "RELEASED"
	Lost      Status = "LOST"
	Skipped   Status = "SKIPPED"
	Open      Status = "OPEN"
)

// StateMachine is a state machine: for every state, the states it may become. What is not listed is refused.
type StateMachine map[Status][]Status

// The machines. Each arrow is one store method in one transaction.
var (
	InstanceMoves = StateMachine{Accepted: {Planned, Rejected}}
	PlanMoves     = StateMachine{
		Draft:   {Slicing, Failed, Cancelled},
		Slicing: {Ready, Partial, Failed, Cancelled},
		Partial: {Slicing, Cancelled},
		Ready:   {Cancelled},

		Cancelled: {Partial}, // retried: what was not cut is cut later
	}
	SliceMoves = StateMachine{
		Ready:     {Succeeded, Partial, Failed, Cancelled},
		Partial:   {Split, Failed, Cancelled},
		Failed:    {Ready},
		Cancelled: {Ready, Partial},
	}
	TaskMoves = StateMachine{
		Queued:    {Running, Failed, Cancelled},
		Running:   {Running, Queued, Succeeded, Partial, Failed, Cancelled},
		Partial:   {Failed, Cancelled}, // the rest of its slice cannot be cut, or somebody calls it off
		Failed:    {Queued},
		Cancelled: {Queued, Partial},
	}
	RunMoves   = StateMachine{Running: {Succeeded, Partial, Failed, Cancelled, Released, Lost}}
	BatchMoves = StateMachine{Running: {Succeeded, Failed, Skipped}}
	// AnswerMoves is how an answer changes without a new scan: a person accepts a dispute, or a later count seals what was
	// never counted, or begins a dispute.
	AnswerMoves = StateMachine{
		Status(StateRead):     {Status(StateSealed), Status(StateDisputed)},
		Status(StateDisputed): {Status(StateSealed), Status(StateRead)},
		Status(StateSealed):   {Status(StateDisputed), Status(StateSealed)}, // the latter: what an older version sealed is proved
	}
)

// States are the names of all that there are, in the order of the alphabet.
func (m StateMachine) States() (names []string) {
	for from, to := range m {
		for _, s := range append([]Status{from}, to...) {
			names = append(names, string(s))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// State is the state of a name, and the empty one for none. A name of no state here is an error that tells those that there are: a list
// of what is in it would be empty, and say that there is nothing.
func (m StateMachine) State(name string) (Status, error) {
	if names := m.States(); name != "" && !slices.Contains(names, name) {
		return "", fmt.Errorf("%q is not a state here; write one of %s", name, strings.Join(names, ", "))
	}
	return Status(name), nil
}

// Allows reports whether the step is legal.
func (m StateMachine) Allows(from, to Status) bool {
	for _, s := range m[from] {
		if s == to {
			return true
		}
	}
	return false
}

// Check is the legal step, or ErrIllegalMove with the step named.
func (m StateMachine) Check(from, to Status) error {
	if m.Allows(from, to) {
		return nil
	}
	return fmt.Errorf("%s to %s: %w", from, to, ErrIllegalMove)
}
