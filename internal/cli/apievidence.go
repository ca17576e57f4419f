package cli

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"patra"
	"patra/internal/api"
)

// What one call may ask for.
const (
	mostReplayed  = 500
	bundleLasts   = 30 * 24 * time.Hour
	sendPatience  = 30 * time.Second // how long a reader may not take anything
	bundleMostBuf = 256 << 10
	mostBundles   = 4 // at once: each is a file on this machine until it is read
)

// RunBody is a run, or one page of it, and why somebody looks at it.
type RunBody struct {
	Run    int64  `json:"run" minimum:"1"`
	Batch  int64  `json:"batch,omitempty" minimum:"1" doc:"number of a page in the run; without one all of them"`
	Reason string `json:"reason" minLength:"1" maxLength:"1000" doc:"why; it is written down"`
}

func (b RunBody) ref() runRef { return runRef{b.Run, b.Batch} }

// evidenceRoutes are about what providers answered. Whoever asks is written down, with the reason.
func (d *apiHandlers) evidenceRoutes(s *api.Server) {
	type replayAsked struct {
		Body struct {
			RunBody
			Live bool `json:"live,omitempty" doc:"ask the provider too, which takes an operator"`
		}
	}
	api.Post(s, "/replays", api.Inspect, api.Doc{ID: "replay", Summary: "Read pages again from their stored answers, and compare field by field", Long: true}, func(ctx context.Context, in *replayAsked) (*replayReport, error) {
		if c := api.CallerOf(ctx); in.Body.Live && !c.Rank.Includes(patra.Operator) {
			return nil, api.Refuse(http.StatusForbidden, "to ask a provider again takes operator, and %s is %s", c.Name, c.Rank)
		}
		return d.app.replay(ctx, in.Body.ref(), replayRequest{live: in.Body.Live, sure: true, reason: in.Body.Reason, most: mostReplayed})
	})
	type wish struct{ Body RunBody }
	api.StreamBy(s, http.MethodPost, "/bundles", api.Inspect, api.Doc{ID: "make-bundle", Summary: "Everything about a run, or one page of it, as a signed zip file", Most: mostBundles}, func(ctx context.Context, in *wish) (func(http.ResponseWriter, *http.Request), error) {
		ref := in.Body.ref()
		temp, err := os.CreateTemp("", "patra-bundle-*")
		if err != nil {
			return nil, patra.Environment(err)
		}
		away := func() {
			_ = temp.Close()
			_ = os.Remove(temp.Name())
		}
		done, err := d.app.writeBundle(ctx, ref, bundleFlags{reason: in.Body.Reason, by: actor(ctx)}, bundleLasts, temp)
		if err != nil {
			away()
			return nil, err
		}
		return func(w http.ResponseWriter, _ *http.Request) {
			defer away()
			h := w.Header()
			h.Set("Content-Type", "application/zip")
			h.Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", ref.zipName()))
			h.Set("Content-Length", fmt.Sprint(done.Size))
			h.Set("Cache-Control", "no-store")
			h.Set("X-Patra-SHA256", done.SHA256)
			if _, err := temp.Seek(0, io.SeekStart); err != nil {
				panic(http.ErrAbortHandler)
			}
			if _, err := io.CopyBuffer(&flushWriter{w: w}, temp, make([]byte, bundleMostBuf)); err != nil {
				panic(http.ErrAbortHandler)
			}
		}, nil
	})
}

// flushWriter sends what is written at once, and does not wait for ever for somebody who does not take it.
type flushWriter struct{ w http.ResponseWriter }

// Write implements io.Writer.
func (f *flushWriter) Write(b []byte) (int, error) {
	out := http.NewResponseController(f.w)
	_ = out.SetWriteDeadline(time.Now().Add(sendPatience)) // where there is no such thing, there is no connection either
	n, err := f.w.Write(b)
	if err == nil {
		err = out.Flush()
	}
	return n, err
}
