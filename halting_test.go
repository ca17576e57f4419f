package patra_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"patra"
)

func TestStrangeAnswersAreToldFromOthers(t *testing.T) {
	for _, c := range []struct {
		fault patra.Fault
		want  bool
	}{
		{patra.Fault{Code: patra.CodeLoop}, true},
		{patra.Fault{Code: patra.CodeTooLarge}, true},
		{patra.Fault{Code: patra.CodeTokenExpired, Status: 404}, true},
		{patra.Fault{Code: patra.CodeHTTP, Status: 302}, true},
		{patra.Fault{Code: patra.CodeBadBody, Path: "DOCTYPE"}, true},
		{patra.Fault{Code: patra.CodeBadBody}, false},
		{patra.Fault{Code: patra.CodeHTTP, Status: 400}, false},
		{patra.Fault{Code: patra.CodeHTTP, Status: 503}, false},
		{patra.Fault{Code: patra.CodeAuth, Status: 302}, false},
		{patra.Fault{Code: patra.CodeSchema, Path: "$.items"}, false},
		{patra.Fault{Code: patra.CodeNetwork}, false},
	} {
		if got := c.fault.IsStrange(); got != c.want {
			t.Errorf("%+v is strange: %v", c.fault, got)
		}
	}
}

// An endpoint is halted exactly when patra.HaltAfter different windows failed in the same way since the last that succeeded.
func TestAnEndpointIsHaltedBySeveralWindows(t *testing.T) {
	ways := []patra.Fault{{Code: patra.CodeLoop}, {Code: patra.CodeHTTP, Status: 302}, {Code: patra.CodeHTTP, Status: 301}}
	rapid.Check(t, func(t *rapid.T) {
		c, way, windows := patra.Control{Kind: patra.KindHalt, State: patra.Running}, -1, map[string]bool{}
		for step := range rapid.IntRange(1, 20).Draw(t, "steps") {
			next := rapid.IntRange(-1, len(ways)-1).Draw(t, "way")
			if next < 0 {
				c, way, windows = c.RecordSliceSuccess(), -1, map[string]bool{}
			} else {
				if next != way {
					way, windows = next, map[string]bool{}
				}
				window := fmt.Sprint(rapid.IntRange(1, 4).Draw(t, "window"))
				windows[window] = true
				c = c.RecordSliceFailure(patra.FailedSlice{Slice: int64(step), Window: window}, ways[next])
			}
			if c.Failures != int64(len(windows)) || len(c.Detail.Failed) != len(windows) || (c.State == patra.Halted) != (len(windows) >= patra.HaltAfter) {
				t.Fatalf("%d windows, and %+v", len(windows), c)
			}
			if hold := patra.Admit([]patra.Control{c}, 1); hold.Doubt != (len(windows) > 0 && c.State != patra.Halted) || hold.Allowed() != (c.State == patra.Running) {
				t.Fatalf("%d windows, and it is said %+v", len(windows), hold)
			}
			if c.State == patra.Halted {
				if !strings.Contains(c.Reason, "3 different windows") || c.RecordSliceSuccess().State != patra.Halted {
					t.Fatalf("%+v", c)
				}
				late := c.RecordSliceFailure(patra.FailedSlice{Slice: 99, Window: "late"}, ways[next])
				if other := c.RecordSliceFailure(patra.FailedSlice{Slice: 99, Window: "late"}, patra.Fault{Code: patra.CodeTooLarge}); len(late.Detail.Failed) != len(windows)+1 || len(other.Detail.Failed) != len(windows) || late.Reason != c.Reason {
					t.Fatalf("%+v, %+v", late, other)
				}
				return
			}
		}
	})
}
