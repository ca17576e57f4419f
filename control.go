package patra

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ControlScope is what somebody steers: a source, a place in it, or a piece of work.
type ControlScope string

// The scopes, from the widest to the narrowest.
const (
	ScopeSource    ControlScope = "SOURCE"    // crossref
	ScopeEndpoint  ControlScope = "ENDPOINT"  // crossref/works
	ScopeOperation ControlScope = "OPERATION" // crossref/works/HARVEST, or crossref/*/HARVEST at every endpoint
	ScopeCursor    ControlScope = "CURSOR"    // the id of a cursor: one campaign, one question
	ScopePlan      ControlScope = "PLAN"
	ScopeSlice     ControlScope = "SLICE"
	ScopeTask      ControlScope = "TASK"
)

// ControlKind is what a control does.
type ControlKind string

// The kinds.
const (
	KindPause   ControlKind = "PAUSE"   // a person holds work back
	KindBreaker ControlKind = "BREAKER" // an endpoint does not answer, and is left alone for a while
	KindHalt    ControlKind = "HALT"    // an endpoint answers what only a person can mend
	KindQuota   ControlKind = "QUOTA"   // what a provider permits is used up until a moment
	KindLimit   ControlKind = "LIMIT"   // fewer tasks of a partition than configured run at the same time
)

// The states of controls.
const (
	Paused   Status = "PAUSED"
	Halted   Status = "HALTED"
	Closed   Status = "CLOSED"
	HalfOpen Status = "HALF_OPEN"
	Limited  Status = "LIMITED"
	UsedUp   Status = "USED_UP"
	Free     Status = "FREE"
)

// The machines of controls. OPEN is shared with everything else that can be open.
var (
	PauseMoves   = StateMachine{Running: {Paused}, Paused: {Running, Paused}}
	HaltMoves    = StateMachine{Running: {Halted, Running}, Halted: {Running, Halted}}
	BreakerMoves = StateMachine{Closed: {Open, Closed}, Open: {HalfOpen, Closed, Open}, HalfOpen: {Closed, Open, HalfOpen}}
	QuotaMoves   = StateMachine{Free: {UsedUp, Free}, UsedUp: {UsedUp, Free}}
	LimitMoves   = StateMachine{Free: {Limited, Free}, Limited: {Limited, Free}}
)

// Target is what a control is about.
type Target struct {
	Scope ControlScope `json:"scope"`
	Key   string       `json:"key"`
}

// anyEndpoint stands for every endpoint of a source.
const anyEndpoint = "*"

// works are the scopes that are named by an id, and the word that people write before it.
var works = map[string]ControlScope{"cursor": ScopeCursor, "plan": ScopePlan, "slice": ScopeSlice, "task": ScopeTask}

// TargetForms is the grammar of targets, for people.
const TargetForms = "SOURCE, SOURCE/ENDPOINT, SOURCE/ENDPOINT/OPERATION, SOURCE/*/OPERATION, SOURCE/*/*/REPOSITORY, cursor:ID, plan:ID, slice:ID or task:ID"

// ParseTarget reads what a person writes.
func ParseTarget(text string) (Target, error) {
	bad := fmt.Errorf("%q names nothing that can be steered; write %s", text, TargetForms)
	if place, repository, ok := cutRepository(text); ok {
		return parseRepositoryTarget(place, repository, bad)
	}
	if word, id, ok := strings.Cut(text, ":"); ok {
		n, err := strconv.ParseInt(id, 10, 64)
		scope, known := works[word]
		if err != nil || n <= 0 || !known {
			return Target{}, bad
		}
		return WorkTarget(scope, n), nil
	}
	parts := strings.Split(text, "/")
	if slices.Contains(parts, "") || (parts[0] == anyEndpoint) {
		return Target{}, bad
	}
	switch {
	case len(parts) == 1:
		return Target{ScopeSource, text}, nil
	case len(parts) == 2 && parts[1] != anyEndpoint:
		return Target{ScopeEndpoint, text}, nil
	case len(parts) == 3:
		op := Operation(strings.ToUpper(parts[2]))
		if slices.Contains(Operations, op) {
			return Target{ScopeOperation, Partition(parts[0], parts[1], op)}, nil
		}
	}
	return Target{}, bad
}

// cutRepository takes a target of one repository apart: SOURCE/ENDPOINT/OPERATION, and the repository behind it.
func cutRepository(text string) (place, repository string, ok bool) {
	parts := strings.SplitN(text, "/", 4)
	if len(parts) < 4 || strings.Contains(parts[0], ":") {
		return text, "", false
	}
	return strings.Join(parts[:3], "/"), parts[3], true
}

// parseRepositoryTarget reads a target of one repository; of its endpoints and operations * is any.
func parseRepositoryTarget(place, repository string, bad error) (Target, error) {
	parts := strings.Split(place, "/")
	op := Operation(strings.ToUpper(parts[2]))
	if slices.Contains(parts, "") || parts[0] == anyEndpoint || repository == "" || op != anyEndpoint && !slices.Contains(Operations, op) {
		return Target{}, bad
	}
	t := Target{ScopeOperation, Partition(parts[0], parts[1], op) + "/" + RepositoryKey(repository)}
	if op == anyEndpoint {
		t.Scope = ScopeEndpoint
	}
	return t, nil
}

// WorkTarget is a piece of work by its id.
func WorkTarget(scope ControlScope, id int64) Target {
	return Target{scope, strconv.FormatInt(id, 10)}
}

// String is what ParseTarget reads.
func (t Target) String() string {
	for word, scope := range works {
		if scope == t.Scope {
			return word + ":" + t.Key
		}
	}
	return t.Key
}

// ID is the id of a piece of work; 0 where a target is named otherwise.
func (t Target) ID() int64 {
	if t.IsScope() {
		return 0
	}
	id, _ := strconv.ParseInt(t.Key, 10, 64)
	return id
}

// IsScope reports whether a target is a place at a provider, and not a piece of work.
func (t Target) IsScope() bool {
	return t.Scope == ScopeSource || t.Scope == ScopeEndpoint || t.Scope == ScopeOperation
}

// WorkScope takes a wide target apart; what it does not name is empty.
func (t Target) WorkScope() WorkScope {
	if !t.IsScope() {
		return WorkScope{}
	}
	key, repository, _ := cutRepository(t.Key)
	parts := append(strings.Split(key, "/"), "", "")
	p := WorkScope{Source: parts[0], Endpoint: parts[1], Operation: Operation(parts[2]), Repository: repository}
	if p.Endpoint == anyEndpoint {
		p.Endpoint = ""
	}
	if p.Operation == anyEndpoint {
		p.Operation = ""
	}
	return p
}

// Holds reports whether a place lies in another, or is it.
func (t Target) Holds(place Target) bool {
	if t == place {
		return true
	}
	if !t.IsScope() || !place.IsScope() {
		return false
	}
	p, c := t.WorkScope(), place.WorkScope()
	return p.Source == c.Source && (p.Endpoint == "" || p.Endpoint == c.Endpoint) && (p.Operation == "" || p.Operation == c.Operation) &&
		(p.Repository == "" || p.Repository == c.Repository)
}

// WorkScope is where a piece of work stands. Every target that it belongs to can hold it back.
type WorkScope struct {
	Source    string
	Endpoint  string
	Operation Operation
	CursorID  int64
	PlanID    int64
	SliceID   int64
	TaskID    int64
	Fence     int64 // of the run that asks; 0 where nobody runs

	Repository string // which of the providers behind the source; empty: it is one
}

// Prober is the run, for a breaker that it tries.
func (p WorkScope) Prober() BreakerProbe { return BreakerProbe{p.TaskID, p.Fence} }

// EndpointTarget is the endpoint: breakers and halts are about it, because whoever asks there asks the same machine.
// Of a source with many repositories it is that of one: the others are other machines.
func (p WorkScope) EndpointTarget() Target {
	if p.Repository != "" {
		return p.atRepository(ScopeEndpoint, p.Endpoint, anyEndpoint)
	}
	return Target{ScopeEndpoint, p.Source + "/" + p.Endpoint}
}

// ProviderTarget is all that is asked of one provider: the source, or one of its repositories.
func (p WorkScope) ProviderTarget() Target {
	if p.Repository != "" {
		return p.atRepository(ScopeEndpoint, anyEndpoint, anyEndpoint)
	}
	return Target{ScopeSource, p.Source}
}

// ShareTarget is one operation at all endpoints of a provider.
func (p WorkScope) ShareTarget() Target {
	if p.Repository != "" {
		return p.atRepository(ScopeOperation, anyEndpoint, p.Operation)
	}
	return Target{ScopeOperation, Partition(p.Source, anyEndpoint, p.Operation)}
}

// PartitionTarget is the operation at the endpoint: limits are about it.
func (p WorkScope) PartitionTarget() Target {
	if p.Repository != "" {
		return p.atRepository(ScopeOperation, p.Endpoint, p.Operation)
	}
	return Target{ScopeOperation, Partition(p.Source, p.Endpoint, p.Operation)}
}

func (p WorkScope) atRepository(scope ControlScope, endpoint string, op Operation) Target {
	return Target{scope, Partition(p.Source, endpoint, op) + "/" + RepositoryKey(p.Repository)}
}

// Partition is the unit of fairness that the work belongs to.
func (p WorkScope) Partition() string { return p.PartitionTarget().Key }

// Targets are all that the work belongs to, widest first.
func (p WorkScope) Targets() []Target {
	whole := p
	whole.Repository = ""
	all := []Target{{ScopeSource, p.Source}, whole.EndpointTarget(), whole.ShareTarget(), whole.PartitionTarget()}
	if p.Repository != "" {
		all = append(all, p.ProviderTarget(), p.EndpointTarget(), p.ShareTarget(), p.PartitionTarget())
	}
	for _, w := range []struct {
		scope ControlScope
		id    int64
	}{{ScopeCursor, p.CursorID}, {ScopePlan, p.PlanID}, {ScopeSlice, p.SliceID}, {ScopeTask, p.TaskID}} {
		if w.id != 0 {
			all = append(all, WorkTarget(w.scope, w.id))
		}
	}
	return all
}

// WorkScope is where the task of a claim stands.
func (c *Claim) WorkScope() WorkScope {
	p := c.Task.WorkScope()
	p.SliceID, p.TaskID, p.Fence = c.Slice.ID, c.TaskID, c.Fence
	return p
}

// WorkScope is where a task stands.
func (t Task) WorkScope() WorkScope {
	return WorkScope{Source: t.Source, Endpoint: t.Endpoint, Operation: t.Operation, CursorID: t.CursorID, PlanID: t.PlanID, SliceID: t.SliceID, TaskID: t.ID, Repository: t.Repository}
}

// WorkScope is where a plan stands.
func (p Plan) WorkScope() WorkScope {
	return WorkScope{Source: p.Source, Endpoint: p.Endpoint, Operation: p.Operation, CursorID: p.CursorID, PlanID: p.ID, Repository: p.Repository}
}

// Control is one row of what holds work back, or has held it back.
type Control struct {
	Target
	Kind     ControlKind   `json:"kind"`
	State    Status        `json:"state"`
	Until    Instant       `json:"until,omitzero"` // 0: until somebody ends it
	Failures int64         `json:"failures,omitempty"`
	Reason   string        `json:"reason,omitempty"`
	Actor    string        `json:"actor,omitempty"`
	Version  int64         `json:"version"`
	Detail   ControlDetail `json:"detail"`
}

// ControlDetail is what only some kinds of control have.
type ControlDetail struct {
	Since   Instant        `json:"since,omitzero"`    // when it came into this state
	Fault   *Fault         `json:"fault,omitempty"`   // of a breaker or a halt: what went wrong
	Trips   int64          `json:"trips,omitempty"`   // of a breaker: how often in a row it opened
	Prober  BreakerProbe   `json:"prober,omitzero"`   // of a breaker: who tries it
	Recent  RecentRequests `json:"recent,omitzero"`   // of a breaker: how the last requests fared
	Limit   int64          `json:"limit,omitempty"`   // of a limit: how many may run
	Of      int64          `json:"of,omitempty"`      // of a limit: how many would run without it
	Refused []Instant      `json:"refused,omitempty"` // of a limit: when the provider last asked us to slow down

	Failed []FailedSlice `json:"failed,omitempty"` // of a halt: slices that failed by strange answers, each of another window

	Quota *QuotaError `json:"quota,omitempty"` // of a quota: which one, and how much of it
}

// InForce reports whether a control holds anything back, or is about to.
func (c Control) InForce() bool {
	switch c.State {
	case Paused, Halted, Open, HalfOpen, Limited, UsedUp:
		return true
	}
	return false
}

// machines says which moves a kind of control has.
var machines = map[ControlKind]StateMachine{KindPause: PauseMoves, KindHalt: HaltMoves, KindBreaker: BreakerMoves, KindLimit: LimitMoves, KindQuota: QuotaMoves}

// Machine is the state machine of a kind of control.
func (k ControlKind) Machine() StateMachine { return machines[k] }

// InactiveState is the state in which a kind of control holds nothing back.
func (k ControlKind) InactiveState() Status {
	switch k {
	case KindBreaker:
		return Closed
	case KindLimit, KindQuota:
		return Free
	}
	return Running
}

// ControlChange is one step of a control. Healing tells of it, where it is worth telling.
type ControlChange struct {
	Was, Is Control
	Hold    Admission // what it says to the next request
	Healing *Healing
}

// ControlResult is what became of the work when somebody steered it.
type ControlResult struct {
	Changed []Control `json:"changed,omitempty"` // as they are now; of a resume as they were
	Queued  int64     `json:"queued"`            // tasks that wait
	Running int64     `json:"running"`           // tasks that are being worked on
	Ended   int64     `json:"ended,omitempty"`
	Revived int64     `json:"revived,omitempty"`
	Covered int64     `json:"covered,omitempty"` // of a retry: somebody else did it, or is at it
	Uncut   int64     `json:"uncut,omitempty"`   // of a retry: could not be cut, and would end early again
}
