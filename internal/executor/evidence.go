package executor

import (
	"context"
	"errors"
	"time"

	"patra"
	"patra/internal/source"
)

// Evidence keeps bodies. Keep is done when the body is durable; came is the hash of the body before secrets were taken out.
type Evidence interface {
	Keep(ctx context.Context, came string, body []byte) (patra.KeptBody, error)
}

// keep keeps the body of an answer before anybody believes it, also one that says what went wrong. An error is ours, and
// not the provider's.
func (r *run) keep(ctx context.Context, spec *source.Spec, got *answer, err error) error {
	if r.Evidence == nil || len(got.body) == 0 {
		return nil
	}
	kept, failure := r.Evidence.Keep(context.WithoutCancel(ctx), got.sum, got.body)
	if failure != nil {
		return failure
	}
	kept.Keep = r.keepFor(spec.Source)
	got.kept = &kept
	if failed, ok := errors.AsType[*failedPage](err); ok {
		failed.sum, failed.kept = got.sum, got.kept
	}
	return nil
}

// keepFor is how long the bodies of a source are kept.
func (r *run) keepFor(source string) time.Duration {
	if r.Config.KeepBodies == nil {
		return 0
	}
	return r.Config.KeepBodies(source)
}
