package planner

import (
	"context"
	"fmt"

	"patra"
)

// blockedBy says why nothing may be added to a plan: somebody holds it back, or its endpoint waits for a person. A breaker does
// not keep anybody from planning: it ends by itself.
func (p *Planner) blockedBy(ctx context.Context, plan patra.Plan) (string, error) {
	hold, err := p.Store.PeekAdmission(ctx, plan.WorkScope())
	switch hold.Code {
	case patra.WaitPaused:
		return patra.ReasonPaused, err
	case patra.WaitHalted:
		return patra.ReasonHalted, err
	}
	return "", err
}

// refuseHalted refuses a request for an endpoint that waits for a person: what is planned now would only wait with it, and
// whoever asks would learn of it late.
func (p *Planner) refuseHalted(ctx context.Context, plan patra.Plan) error {
	hold, err := p.Store.PeekAdmission(ctx, plan.WorkScope())
	if err != nil || hold.Code != patra.WaitHalted {
		return err
	}
	at := hold.Control.Target.String()
	return patra.Problems{{Code: patra.WaitHalted, Path: at, Text: fmt.Sprintf("%s is halted since %s: %s", at, hold.Control.Detail.Since, hold.Control.Reason),
		Hint: "mend that, and let it go on with: patra resume " + at}}
}
