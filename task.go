package patra

import (
	"encoding/json"
	"time"
)

// Task is the queue entry of one slice.
type Task struct {
	ID          int64           `json:"id"`
	PlanID      int64           `json:"plan_id"`
	SliceID     int64           `json:"slice_id"`
	CursorID    int64           `json:"cursor_id"`
	Source      string          `json:"source"`
	Endpoint    string          `json:"endpoint"`
	Operation   Operation       `json:"operation"`
	Priority    int             `json:"priority"`
	ScheduledAt Instant         `json:"scheduled_at"`
	Status      Status          `json:"status"`
	WaitCode    string          `json:"wait_code,omitempty"`
	LeaseOwner  string          `json:"lease_owner,omitempty"`
	LeaseCount  int64           `json:"lease_count"`
	LeasedUntil Instant         `json:"leased_until"`
	Attempts    int64           `json:"attempt_count"`
	MaxAttempts int64           `json:"max_attempts"`
	ScanNo      int64           `json:"scan_no"`
	NextOrdinal int64           `json:"next_ordinal"`
	NextDetail  int64           `json:"next_detail_ordinal"`
	LastError   json.RawMessage `json:"last_error,omitempty"`
	Window      Window          `json:"window"`
	Repository  string          `json:"repository,omitempty" doc:"which of the providers behind the source it asks; nothing where the source is one provider"`
}

// TaskKey is the idempotency key of a task. The plan is part of it, so a look-back at a window that another
// plan has already read really runs.
func TaskKey(planKey, signature, exprHash string, op Operation, trigger string, params json.RawMessage) string {
	return Hash([]any{planKey, signature, exprHash, op, trigger, params})
}

// Lease is the right to write for a task. Time decides only who may take it over; the fence decides who may
// write, so an owner that was paused for an hour cannot spoil what its successor did.
type Lease struct {
	TaskID int64
	RunID  int64
	Owner  string        // random, new for every process incarnation
	Fence  int64         // lease_count: grows by one on every claim
	For    time.Duration // how long each renewal lasts
}

// ClaimRequest is a worker asking for something to do.
type ClaimRequest struct {
	Owner        string
	Lease        time.Duration
	CursorID     int64  // only work of this cursor; 0 is any
	PlanID       int64  // only work of this plan; 0 is any
	PerPartition int    // no more than this many at once in one partition; 0 is no limit
	Turn         uint64 // grows with every claim of the process: the partitions take turns by it
}

// Claim is a task taken by a worker, with all that it needs to run.
type Claim struct {
	Lease
	Task    Task
	Slice   Slice
	PlanKey string
	Query   json.RawMessage // the plan's question, without any window
	BaseURL string          // set when the plan was made for a mirror or a simulator
	Spec    string          // fingerprint of the stored snapshot
	Resume  *Position

	InstanceID int64  // the trigger of the plan
	Trace      string // traceparent of the plan; empty: it was not traced
}

// Position is where the last committed page of a scan left off.
type Position struct {
	After   string
	HasNext bool // false: the scan was read to its end, only the closing was lost
	Total   *int64
}

// Run is one attempt of a task.
type Run struct {
	ID         int64           `json:"id"`
	TaskID     int64           `json:"task_id"`
	AttemptNo  int64           `json:"attempt_no"`
	PlanID     int64           `json:"plan_id"`
	SliceID    int64           `json:"slice_id"`
	Source     string          `json:"source"`
	Operation  Operation       `json:"operation"`
	LeaseOwner string          `json:"lease_owner"`
	Window     Window          `json:"window"`
	ScanNo     int64           `json:"scan_no"`
	Exhausted  bool            `json:"exhausted"`
	Stats      json.RawMessage `json:"stats"`
	Error      json.RawMessage `json:"error,omitempty"`
	Status     Status          `json:"status"`
	StartedAt  Instant         `json:"started_at"`
	FinishedAt *Instant        `json:"finished_at,omitempty"`
}
