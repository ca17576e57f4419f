package executor

import (
	"context"
	"log/slog"

	"patra"
)

// runLogger is the log about one run: every line says where it belongs.
func (x *Executor) runLogger(c *patra.Claim) *slog.Logger {
	return x.Log.With("schedule_instance_id", c.InstanceID, "plan_id", c.Task.PlanID, "slice_id", c.Slice.ID, "task_id", c.TaskID, "run_id", c.RunID,
		"source", c.Task.Source, "endpoint", c.Task.Endpoint, "op", string(c.Task.Operation))
}

// logClaimed says that a task is ours, for how long, and which of our workers has it.
func (x *Executor) logClaimed(ctx context.Context, c *patra.Claim, slot int) {
	if x.Log.Enabled(ctx, slog.LevelInfo) {
		x.runLogger(c).InfoContext(ctx, "task is claimed", "lease_owner", c.Owner, "lease_seconds", c.For.Seconds(), "fence", c.Fence, "attempt", c.Task.Attempts, "attempts", c.Task.MaxAttempts,
			"slot", slot, "slots", x.Config.Workers, "window", c.Slice.Window.String(), "page", c.Task.NextOrdinal)
	}
}

// logReleased says what became of a task that was ours.
func (x *Executor) logReleased(ctx context.Context, c *patra.Claim, end patra.RunResult) {
	if x.Log.Enabled(ctx, slog.LevelInfo) {
		x.runLogger(c).InfoContext(ctx, "task is let go", "status", string(end.Status), "wait", end.WaitCode, "retry_seconds", end.RetryIn.Seconds(), "attempt_given_back", end.GiveBack, "lease_owner", c.Owner, "fence", c.Fence)
	}
}

// logPage says what a page brought, of one page in a hundred or as many as somebody wants: all is well, and there are very
// many. What it set aside is told in any case.
func (r *run) logPage(ctx context.Context, a *inflightPage, res patra.PageResult, n patra.Counts) {
	keptSpan(a.span, res, n)
	page := a.page
	if r.Log.Enabled(ctx, slog.LevelInfo) && patra.InLogSample(r.Config.LogSample, r.claim.RunID, page.BatchNo) {
		r.pageLogger(page).InfoContext(ctx, "page is kept", "phase", string(page.Phase), "page", page.Ordinal, "has_next", res.HasNext, "http_status", res.Exchange.Status, "bytes", res.Exchange.Bytes,
			"took_us", int64(res.Exchange.FinishedAt-res.Exchange.SentAt), "gate_wait_us", page.Waited, "records", n.Total(), "inserted", n.Insert, "updated", n.Update, "same", n.Same, "quarantined", n.Quarantine)
	}
	if len(res.Quarantined) > 0 {
		first := res.Quarantined[0]
		r.pageLogger(page).WarnContext(ctx, "records are put aside", "page", page.Ordinal, "quarantined", len(res.Quarantined), "error_level", string(patra.LevelData), "code", first.Code, "path", first.Path,
			"item", first.ItemNo, "sample", sample(first.Fragment), "fragment_sha256", patra.HashBytes(first.Fragment), "body_sha256", res.BodySHA256)
	}
}

// logPageError says in full what is wrong with a page that will not come, or that a person must look at.
func (r *run) logPageError(ctx context.Context, page patra.OpenPage, failed *pageError) {
	f, level := failed.fault, slog.LevelWarn
	switch f.Level {
	case patra.LevelFatal:
		level = slog.LevelError
	case patra.LevelRequest:
	default: // it is asked for again, and that is told
		return
	}
	r.pageLogger(page).Log(ctx, level, "page could not be read", "phase", string(page.Phase), "page", page.Ordinal, "error_level", string(f.Level), "code", f.Code, "path", f.Path, "http_status", failed.exchange.Status,
		"reason", f.Text, "bytes", failed.exchange.Bytes, "body_sha256", failed.sum)
}

// pageLogger is the log about one page.
func (r *run) pageLogger(page patra.OpenPage) *slog.Logger {
	return r.log.With("batch_no", page.BatchNo, "batch_id", page.BatchID, "correlation_id", patra.CorrelationID(r.claim.RunID, page.BatchNo))
}

// mostSample is how much of a record that was put aside a line shows: enough to see what it is.
const mostSample = 120

// sample is the beginning of something, as a log may have it.
func sample(b []byte) string {
	text := patra.Mask(string(b)) // before it is cut: half an address is still one
	return text[:min(len(text), mostSample)]
}
