package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"patra"
	"patra/internal/store"
)

const (
	beatEvery = time.Second      // how often the store is looked at while somebody listens
	pingEvery = 15 * time.Second // how often a silent stream shows that it is alive
	// lastsFor bounds a stream: browsers come back by themselves.
	lastsFor    = 10 * time.Minute
	mostStreams = 64
)

// ChangeEvent is what a stream tells: what changed since the last one.
type ChangeEvent struct {
	Topics  []string      `json:"topics" nullable:"false" doc:"what changed"`
	Running int64         `json:"running" doc:"tasks that are being worked on"`
	Pages   int64         `json:"pages" doc:"number of the last page that was asked for"`
	At      patra.Instant `json:"at"`
}

// changePoller looks at the store once for all streams.
type changePoller struct {
	store *store.Store

	mu   sync.Mutex
	last patra.ChangeToken
	at   time.Time
}

// beat is how everything stands, as of less than a moment ago.
func (h *changePoller) beat(ctx context.Context) (patra.ChangeToken, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if time.Since(h.at) < beatEvery*9/10 {
		return h.last, nil
	}
	p, err := h.store.ChangeToken(ctx)
	if err == nil {
		h.last, h.at = p, time.Now()
	}
	return p, err
}

// stream registers the stream of changes. Its events carry a position; whoever comes back with one is told at once what
// changed meanwhile, by whichever process it asks.
func (s *Server) stream() {
	h := &changePoller{store: s.Store}
	type input struct {
		Last string `header:"Last-Event-ID" maxLength:"400" doc:"id of the last event that came"`
	}
	Stream(s, "/stream", Look, Doc{ID: "stream", Summary: "What changes, as server-sent events named pulse", Most: mostStreams}, func(ctx context.Context, in *input) (func(http.ResponseWriter, *http.Request), error) {
		return func(w http.ResponseWriter, r *http.Request) { s.listen(w, r, h, in.Last) }, nil
	})
}

func (s *Server) listen(w http.ResponseWriter, r *http.Request, h *changePoller, last string) {
	ctx, cancel := context.WithTimeout(r.Context(), lastsFor)
	defer cancel()
	out := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no")
	send := func(format string, args ...any) bool {
		_ = out.SetWriteDeadline(time.Now().Add(pingEvery))
		if _, err := fmt.Fprintf(w, format, args...); err != nil {
			return false
		}
		return out.Flush() == nil
	}
	if !send("retry: 1000\n\n") {
		return
	}
	before, known := patra.ParseChangeToken(last)
	tick, spoke := time.NewTicker(beatEvery), time.Now()
	defer tick.Stop()
	for {
		now, err := h.beat(ctx)
		switch topics := now.ChangedTopics(before); {
		case err != nil:
			if ctx.Err() == nil {
				s.log.Warn("a stream could not be fed", "reason", err.Error())
			}
			return // the browser comes back
		case !known || len(topics) > 0:
			b, err := json.Marshal(ChangeEvent{Topics: nonNil(topics), Running: now.Running, Pages: now.Pages, At: patra.InstantOf(time.Now())})
			if err != nil || !send("id: %s\nevent: pulse\ndata: %s\n\n", now, b) {
				return
			}
			before, known, spoke = now, true, time.Now()
		case time.Since(spoke) >= pingEvery:
			if !send(": ping\n\n") {
				return
			}
			spoke = time.Now()
		}
		select {
		case <-ctx.Done():
			return
		case <-s.ends:
			return
		case <-tick.C:
		}
	}
}

func nonNil(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}
