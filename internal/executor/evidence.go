package executor

import (
	"context"
	"errors"
	"syscall"
	"time"

	"patra"
	"patra/internal/source"
)

// BodyWriter keeps bodies. Keep is done when the body is durable; came is the hash of the body before secrets were taken out, and
// clean says that there were none.
type BodyWriter interface {
	Put(ctx context.Context, came string, body []byte, clean bool) (patra.StoredBody, error)
}

// storeBody keeps the body of an answer before anybody believes it, also one that says what went wrong. An error is ours, and
// not the provider's: whoever outlasts a store that is away waits for this place too.
func (r *run) storeBody(ctx context.Context, spec *source.Spec, got *response, err error) error {
	if r.Evidence == nil || len(got.body) == 0 {
		return nil
	}
	kept, failure := r.Evidence.Put(context.WithoutCancel(ctx), got.sum, got.body, got.clean)
	for absence := 1; failure != nil && r.Config.Outlast && ctx.Err() == nil; absence++ {
		r.logEvidenceFull(ctx, failure)
		r.waitForStore(ctx, absence)
		kept, failure = r.Evidence.Put(context.WithoutCancel(ctx), got.sum, got.body, got.clean)
	}
	if failure != nil {
		return &evidenceError{failure}
	}
	r.logEvidenceAvailable(ctx)
	kept.Keep = r.keepFor(spec.Source)
	got.kept = &kept
	if failed, ok := errors.AsType[*pageError](err); ok {
		failed.sum, failed.kept = got.sum, got.kept
	}
	return nil
}

// evidenceError is why an answer could not be kept. Nobody outlasts it who says so: the run gives its task back, with its attempts,
// and the process ends, since the next answer would fare no better.
type evidenceError struct{ err error }

// Error implements error.
func (e *evidenceError) Error() string { return "an answer could not be kept: " + e.err.Error() }

// Unwrap gives the reason, and that it is nobody's fault.
func (e *evidenceError) Unwrap() []error {
	what, hint := "answers cannot be kept: "+e.err.Error(), "See to the place that evidence.url names (patra doctor tries it), and give the same command again"
	if errors.Is(e.err, syscall.ENOSPC) || errors.Is(e.err, syscall.EDQUOT) {
		what, hint = "the disk of the kept answers is full: "+e.err.Error(), "Make room where evidence.url points to, and give the same command again"
	}
	return []error{e.err, patra.Problems{{Code: patra.CodeNotKept, Path: "evidence.url", Text: what, Hint: hint}}}
}

// logEvidenceFull and logEvidenceAvailable say once that answers cannot be kept, and once that they can, however many workers wait for it. While one
// waits its answer is in its hand and its lease is renewed: nothing more is asked of the provider, and no attempt is used up.
func (x *Executor) logEvidenceFull(ctx context.Context, failure error) {
	if !x.full.Swap(true) {
		x.Log.WarnContext(ctx, "answers cannot be kept now; it is tried again until they can", "reason", failure.Error(), "next", "See to the place that evidence.url names; patra doctor tries it")
	}
}

func (x *Executor) logEvidenceAvailable(ctx context.Context) {
	if x.full.Load() && x.full.Swap(false) {
		x.Log.InfoContext(ctx, "answers can be kept again, everything goes on")
	}
}

// keepFor is how long the bodies of a source are kept.
func (r *run) keepFor(source string) time.Duration {
	if r.Config.KeepBodies == nil {
		return 0
	}
	return r.Config.KeepBodies(source)
}
