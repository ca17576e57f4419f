package patra

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Trigger is one trigger: somebody or something asked for work. It is kept when compilation fails.
type Trigger struct {
	ID            int64           `json:"id"`
	Scheduler     string          `json:"scheduler"`
	JobID         string          `json:"job_id"`
	LogID         string          `json:"log_id"`
	Trigger       string          `json:"trigger"`
	TriggeredAt   Instant         `json:"triggered_at"`
	Params        json.RawMessage `json:"params"`
	Source        string          `json:"source"`
	Endpoint      string          `json:"endpoint"`
	Operation     Operation       `json:"operation"`
	ExprProtoHash string          `json:"expr_proto_hash,omitempty"`
	Spec          string          `json:"spec_fingerprint,omitempty"`
	Status        Status          `json:"status"`
	Error         json.RawMessage `json:"error,omitempty"`
}

// Plan is one total window of one source, with the query and the source's configuration frozen.
type Plan struct {
	ID            int64           `json:"id"`
	Key           string          `json:"key"`
	Generation    int64           `json:"generation"`
	InstanceID    int64           `json:"schedule_instance_id"`
	Source        string          `json:"source"`
	Endpoint      string          `json:"endpoint"`
	Operation     Operation       `json:"operation"`
	Campaign      string          `json:"campaign,omitempty"`
	CursorID      int64           `json:"cursor_id"`
	Window        Window          `json:"window"`
	Inputs        json.RawMessage `json:"window_inputs"`
	ExprProtoHash string          `json:"expr_proto_hash"`
	ExprProto     json.RawMessage `json:"expr_proto"`
	Spec          string          `json:"spec_fingerprint"`
	Strategy      Strategy        `json:"slice_strategy"`
	SliceParams   json.RawMessage `json:"slice_params"`
	BaseURL       string          `json:"base_url,omitempty"`
	Priority      int             `json:"priority"`
	SliceCount    int64           `json:"slice_count"`
	Records       int64           `json:"estimated_records,omitempty"`
	Requests      int64           `json:"estimated_requests,omitempty"`
	Status        Status          `json:"status"`
	Reason        string          `json:"reason,omitempty"`
	Warnings      json.RawMessage `json:"warnings"`
	CreatedAt     Instant         `json:"created_at"`
	Trace         string          `json:"traceparent,omitempty" doc:"the trace that its making and its runs belong to, if it was traced"`
	Repository    string          `json:"repository,omitempty" doc:"which of the providers behind the source it asks; nothing where the source is one provider"`
	Ended         PlanEnd         `json:"ended,omitempty" enum:"DONE,FAILED,CANCELLED,DISPUTED" doc:"how its work ended; nothing while there is work, or more to be cut. Only lists say it"`
}

// PlanEnd is how the work of a plan ended. READY says that a plan is cut and no more: it stays READY when all is read.
type PlanEnd string

// The ends.
const (
	PlanDone      PlanEnd = "DONE"
	PlanFailed    PlanEnd = "FAILED"    // of some of it all attempts are used up
	PlanCancelled PlanEnd = "CANCELLED" // somebody called off a part of it
	PlanDisputed  PlanEnd = "DISPUTED"  // all of it was read, and the provider counts a part of it differently
)

// PlanOutcome says how the work of a plan ended: left is whether any of it is still to be done, failed and cancelled whether any
// of it came to nothing, and disputed whether the provider counts a part of it differently. A failure comes before what a person wanted.
func PlanOutcome(status Status, left, failed, cancelled, disputed bool) PlanEnd {
	switch {
	case status != Ready || left:
		return ""
	case failed:
		return PlanFailed
	case cancelled:
		return PlanCancelled
	case disputed:
		return PlanDisputed
	}
	return PlanDone
}

// PlanKey names a plan readably and uniquely, so that triggering the same again finds it.
func PlanKey(p Plan) string {
	parts := []string{p.Source, p.Endpoint, string(p.Operation), p.ExprProtoHash[:8], p.Spec[:8], p.Window.String()}
	if p.Campaign != "" {
		parts = append(parts, p.Campaign)
	}
	if p.Strategy == StrategyIDRange {
		parts = append(parts, "by-id")
	}
	key := strings.Join(parts, "/")
	if p.Generation > 0 {
		key += fmt.Sprintf("#%d", p.Generation)
	}
	return key
}

// Snapshot is a compiled source configuration: everything an executor needs, immutable, stored once.
type Snapshot struct {
	Fingerprint string
	Source      string
	Endpoint    string
	Operation   Operation
	Body        json.RawMessage
	Origin      json.RawMessage // which layer each field is from
}
