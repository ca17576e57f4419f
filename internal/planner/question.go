package planner

import (
	"context"

	"patra"
	"patra/internal/query"
	"patra/internal/source"
)

// Question is what a plan asks: its source as it was then, and its query.
func (p *Planner) Question(ctx context.Context, plan patra.Plan) (*source.Spec, query.Node, error) {
	d, err := p.restore(ctx, plan)
	if err != nil {
		return nil, query.Node{}, err
	}
	return d.Spec, d.Expr, nil
}
