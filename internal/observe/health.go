package observe

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"time"
)

// Check is something that must be so before a process may be given work.
type Check struct {
	Name string
	Do   func(ctx context.Context) error
}

// checkTime is how long one check may take.
const checkTime = 2 * time.Second

// Health says whether a process is alive and whether it is ready.
type Health struct {
	// Drains is done when the process takes no more work.
	Drains context.Context
	Checks []Check
}

// checkResult is what came of one check.
type checkResult struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Reason string `json:"reason,omitempty"`
}

// readiness is the answer of whoever is asked whether it is ready.
type readiness struct {
	Ready  bool          `json:"ready"`
	Checks []checkResult `json:"checks"`
}

// Alive answers as long as anybody is there.
func (h *Health) Alive(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }

// Ready answers with each check, and with 503 unless all are well. A check that does not come to an end is not.
func (h *Health) Ready(w http.ResponseWriter, r *http.Request) {
	drains := checkResult{Name: "draining", OK: h.Drains.Err() == nil}
	if !drains.OK {
		drains.Reason = "the process was told to stop, and finishes what it is at"
	}
	said := readiness{Ready: drains.OK, Checks: []checkResult{drains}}
	for _, c := range h.Checks {
		one := c.run(r.Context())
		said.Ready = said.Ready && one.OK
		said.Checks = append(said.Checks, one)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	if !said.Ready {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_ = json.NewEncoder(w).Encode(said) // who is gone is not told
}

func (c Check) run(ctx context.Context) checkResult {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- c.Do(ctx) }()
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err == nil {
		return checkResult{Name: c.Name, OK: true}
	}
	if ctx.Err() != nil {
		return checkResult{Name: c.Name, Reason: "there was no answer in " + checkTime.String()}
	}
	return checkResult{Name: c.Name, Reason: err.Error()}
}

// NotReady reads from the answer of somebody who is not ready why that is, to be put after a sentence; nothing from any other answer.
func NotReady(answer io.Reader) (why string) {
	var said readiness
	if json.NewDecoder(io.LimitReader(answer, 64<<10)).Decode(&said) != nil {
		return ""
	}
	for _, c := range said.Checks {
		if !c.OK {
			why += "; " + c.Name + ": " + strconv.QuoteToGraphic(c.Reason)
		}
	}
	return why
}
