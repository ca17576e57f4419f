package simtest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"patra"
	"patra/internal/executor"
	"patra/internal/gate"
	"patra/internal/relay"
	"patra/internal/sim"
	"patra/internal/store"
)

var (
	broken  = &sim.Faults{Reset: 0.15, CutBody: 0.1, ServerError: 0.05}
	failing = &sim.Faults{ServerError: 0.6}
	refuses = &sim.Faults{Throttle: 0.15, Unavailable: 0.15, RetryAfter: true}
	lies    = &sim.Faults{ShortPage: 0.25, EmptyPage: 0.25, WrongTotal: 0.25}
)

// wrongRules are the ones that the judge must find. Most of them were believed by somebody.
func wrongRules() []*wrong {
	return []*wrong{
		{name: "batch-max", says: "the watermark is the newest date of the last page", profile: "crossref",
			onCommit: func(w *world, c *patra.Claim, _ patra.OpenPage, res patra.PageResult) {
				if res.TimeMax != nil && c.Task.Operation == patra.Harvest {
					w.advance(c, *res.TimeMax)
				}
			}},
		{name: "slice-end", says: "the watermark is the end of the newest slice that succeeded", profile: "openalex",
			onFinish: func(w *world, c *patra.Claim, end patra.RunResult) {
				if end.Status == patra.Succeeded && c.Task.Operation == patra.Harvest {
					w.advance(c, c.Slice.Window.To)
				}
			}},
		{name: "terminal", says: "a slice that failed or was left early is done with", profile: "pubmed",
			onFinish: func(w *world, c *patra.Claim, end patra.RunResult) {
				if (end.Status == patra.Failed || end.Status == patra.Partial) && c.Task.Operation == patra.Harvest {
					w.advance(c, c.Slice.Window.To)
				}
			}},
		{name: "watermark-back", says: "the watermark is the end of whatever was read last", profile: "europepmc",
			onFinish: func(w *world, c *patra.Claim, end patra.RunResult) {
				if end.Status == patra.Succeeded && c.Slice.Purpose == patra.PurposeLookback {
					w.exec(`UPDATE ing_cursor SET normalized_instant = ?, cursor_value = ? WHERE id = ?`, c.Slice.Window.To, c.Slice.Window.To.String(), c.Task.CursorID)
				}
			}},
		{name: "backfill-moves", says: "a backfill moves the watermark of the harvest", profile: "arxiv",
			onFinish: func(w *world, c *patra.Claim, end patra.RunResult) {
				if end.Status == patra.Succeeded && c.Task.Operation == patra.Backfill {
					w.exec(`UPDATE ing_cursor SET normalized_instant = ?, cursor_value = ? WHERE id = ?`, c.Slice.Window.To, c.Slice.Window.To.String(), w.cursor)
				}
			}},
		{name: "tie", says: "an early end confirms the hour that it was in", profile: "openalex", perDay: 90,
			onFinish: func(w *world, c *patra.Claim, end patra.RunResult) {
				if end.Early != nil && !end.Early.Confirmed.IsEmpty() {
					w.exec(`UPDATE ing_coverage SET window_to = MIN(window_to + ?, ?) WHERE slice_id = ?`, patra.Hour, c.Slice.Window.To, c.Slice.ID)
					w.exec(`UPDATE ing_plan_slice SET confirmed_to = MIN(confirmed_to + ?, ?) WHERE id = ?`, patra.Hour, c.Slice.Window.To, c.Slice.ID)
				}
			}},
		{name: "partial-is-whole", says: "a slice that was left early is covered", profile: "openalex", perDay: 90,
			onFinish: func(w *world, c *patra.Claim, end patra.RunResult) {
				if end.Status == patra.Partial {
					w.cover(c)
				}
			}},
		{name: "failed-is-covered", says: "a slice that failed is covered", profile: "crossref", weather: failing,
			onFinish: func(w *world, c *patra.Claim, end patra.RunResult) {
				if end.Status == patra.Failed {
					w.cover(c)
				}
			}},
		{name: "mid-only", says: "of a slice that is cut, one half is enough", profile: "pubmed",
			onSplit: func(w *world, parent patra.Slice) {
				w.exec(`DELETE FROM ing_task WHERE slice_id = (SELECT MIN(id) FROM ing_plan_slice WHERE parent_slice_id = ?)`, parent.ID)
				w.exec(`DELETE FROM ing_plan_slice WHERE id = (SELECT MIN(id) FROM ing_plan_slice WHERE parent_slice_id = ?)`, parent.ID)
			}},
		{name: "no-fence", says: "whoever has a page may write it", profile: "europepmc", pause: 0.7,
			writing: func(w *world, c *patra.Claim) {
				w.exec(`UPDATE ing_task SET lease_owner = ?, lease_count = ?, status_code = 'RUNNING' WHERE id = ? AND lease_count > ?`, c.Owner, c.Fence, c.TaskID, c.Fence)
			}},
		{name: "worker-clock", says: "a worker's own clock says when a lease is over", profile: "europepmc",
			claiming: func(w *world) {
				w.exec(`UPDATE ing_task SET leased_until = 0 WHERE status_code = 'RUNNING' AND leased_until < ?`, patra.InstantOf(time.Now().Add(59*time.Second)))
			}},
		{name: "transport-retry", says: "a request without an answer is sent again", profile: "crossref", weather: broken,
			sends: func(_ *world, req *http.Request, next http.RoundTripper) (*http.Response, error) {
				resp, err := next.RoundTrip(req)
				if err != nil && req.Context().Err() == nil {
					again := req.Clone(req.Context())
					again.Body = nil
					return next.RoundTrip(again)
				}
				return resp, err
			}},
		{name: "same-is-end", says: "a token that comes again is the end", profile: "crossref", change: []string{"state: STATEFUL, onSame: CONTINUE", "state: STATELESS, onSame: END", "trust: EXACT", "trust: NONE"}},
		{name: "token-reuse", says: "whoever comes next goes on with the token", profile: "crossref", days: 10, weather: &sim.Faults{Reset: 0.3}, change: []string{"trust: EXACT", "trust: NONE"}, sends: goOn()},
		{name: "offset-by-size", says: "the next offset is one page size further", profile: "pubmed", weather: lies, change: []string{"trust: EXACT", "trust: NONE"},
			sends: func(_ *world, req *http.Request, next http.RoundTripper) (*http.Response, error) {
				rewriteForm(req, func(v url.Values) {
					if at, err := strconv.Atoi(v.Get("retstart")); err == nil {
						v.Set("retstart", strconv.Itoa((at+4)/5*5))
					}
				})
				return next.RoundTrip(req)
			}},
		{name: "empty-is-end", says: "an empty page is the end", profile: "oai", weather: lies, change: []string{"end: [NO_TOKEN]", "end: [NO_TOKEN, EMPTY_PAGE]"}},
		{name: "short-is-end", says: "a short page is the last", profile: "europepmc", weather: lies, change: []string{"end: [SAME_TOKEN, NO_TOKEN, EMPTY_PAGE]", "end: [SAME_TOKEN, NO_TOKEN, EMPTY_PAGE, SHORT_PAGE]"}},
		{name: "first-total", says: "when as many have come as the first page said, that is all", profile: "europepmc", weather: &sim.Faults{WrongTotal: 0.6}, sends: believe()},
		{name: "refused-is-none", says: "a provider that refuses has nothing", profile: "europepmc", weather: refuses,
			sends: func(_ *world, req *http.Request, next http.RoundTripper) (*http.Response, error) {
				resp, err := next.RoundTrip(req)
				if err == nil && resp.StatusCode != http.StatusOK {
					resp.Body.Close()
					return answerWith(resp, []byte(`{"hitCount":0,"resultList":{"result":[]}}`)), nil
				}
				return resp, err
			}},
		{name: "cut-is-whole", says: "what has come of a body is the body", profile: "europepmc", weather: &sim.Faults{CutBody: 0.2},
			sends: func(_ *world, req *http.Request, next http.RoundTripper) (*http.Response, error) {
				req.Header.Del("Accept-Encoding")
				resp, err := next.RoundTrip(req)
				if err != nil {
					return resp, err
				}
				body, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				if err != nil || !json.Valid(body) {
					body = mended(body)
				}
				return answerWith(resp, body), nil
			}},
		{name: "cache", says: "an answer is good for two days", profile: "europepmc", sends: cached()},
		{name: "drop-unreadable", says: "what cannot be read is left out", profile: "crossref",
			commits: func(_ *patra.Claim, res patra.PageResult) patra.PageResult {
				res.Quarantined = nil
				return res
			}},
		{name: "no-tombstones", says: "what is deleted is a record like others", profile: "oai",
			commits: func(_ *patra.Claim, res patra.PageResult) patra.PageResult {
				for i := range res.Records {
					res.Records[i].Deleted = false
				}
				return res
			}},
		{name: "first-wins", says: "what is stored is not written again", profile: "crossref", perDay: 50, days: 9,
			commits: func() func(*patra.Claim, patra.PageResult) patra.PageResult {
				var seen names
				return func(_ *patra.Claim, res patra.PageResult) patra.PageResult {
					var fresh []patra.Observation
					for _, o := range res.Records {
						if !seen.has(o.ID) {
							seen.add(o.ID)
							fresh = append(fresh, o)
						}
					}
					res.Records = fresh
					return res
				}
			}()},
		{name: "event-lost", says: "events are written after the records, in their own time", profile: "crossref",
			onCommit: func(w *world, _ *patra.Claim, page patra.OpenPage, _ patra.PageResult) {
				if page.BatchID%9 == 0 {
					w.exec(`DELETE FROM ing_outbox WHERE record_id IN (SELECT record_id FROM ing_record_rev WHERE batch_id = ?)`, page.BatchID)
				}
			}},
		{name: "marked-first", says: "an event that is about to be sent is sent", profile: "europepmc",
			publishes: func(p relay.Publisher) relay.Publisher { return hopeful{p} }},
		{name: "gate-each", says: "every process keeps the rate for itself", profile: "arxiv",
			gate: func(*world, *store.Store) executor.Gate { return gate.NewLocal() }},
		{name: "refund", says: "a request that failed costs nothing", profile: "arxiv", weather: broken,
			gate: func(_ *world, s *store.Store) executor.Gate { return &generous{Gate: gate.NewShared(s)} }},
		{name: "impatient", says: "nobody waits as long as a provider asks for", profile: "crossref", weather: refuses,
			gate: func(_ *world, s *store.Store) executor.Gate { return impatient{gate.NewShared(s)} }},
		{name: "no-lookback", says: "what was read once is known", profile: "crossref", perDay: 40, days: 9, change: []string{"lookback: P1D", "lookback: P0D"}},
		{name: "no-lag", says: "what is over can be read at once", profile: "openalex", days: 16, change: []string{"safetyLag: PT1H", "safetyLag: PT0S"}},
		{name: "border", says: "a window ends with the second before its end", profile: "openalex", change: []string{"upper: EXCLUSIVE", "upper: INCLUSIVE_SECOND"}},
		{name: "failed-is-planned", says: "what was planned once is not planned again", profile: "europepmc", weather: &sim.Faults{ServerError: 0.9},
			needs: func(w *world, cursorID int64, covered, live patra.Coverage) (patra.Coverage, patra.Coverage) {
				return covered.Union(w.failedWindows(cursorID)), live
			}},
		{name: "plan-cut-short", says: "a plan that is too long for now is done with what fits", profile: "arxiv",
			cuts: func(s []patra.Slice) []patra.Slice { return s[:max(len(s)-1, 1)] }},
		{name: "dispute-stays", says: "what is in dispute was read, and is not read again", profile: "pubmed",
			disputes: func(patra.Coverage) patra.Coverage { return nil }},
	}
}

func (w *world) exec(query string, args ...any) {
	if _, err := w.db.Exec(query, args...); err != nil {
		w.t.Errorf("%v in %s", err, query)
	}
}

// advance moves a watermark forward as the store does, with its event, to wherever it is told.
func (w *world) advance(c *patra.Claim, to patra.Instant) {
	tx, err := w.db.Begin()
	if err != nil {
		w.t.Error(err)
		return
	}
	defer tx.Rollback()
	_, err = tx.Exec(`INSERT INTO ing_cursor_event (cursor_id, seq, provenance_code, endpoint_name, operation_code, cursor_key, namespace_scope_code, namespace_key, cursor_type_code, direction_code,
			cause_code, prev_value, new_value, prev_instant, new_instant, window_from, window_to, plan_id, slice_id, idempotent_key, created_at)
		SELECT id, version + 1, provenance_code, endpoint_name, operation_code, cursor_key, namespace_scope_code, namespace_key, cursor_type_code, direction_code,
			'ADVANCE', cursor_value, ?, normalized_instant, ?, ?, ?, ?, ?, lower(hex(randomblob(32))), ? FROM ing_cursor WHERE id = ? AND normalized_instant < ?`,
		to.String(), to, c.Slice.Window.From, c.Slice.Window.To, c.Task.PlanID, c.Slice.ID, patra.InstantOf(time.Now()), c.Task.CursorID, to)
	if err == nil {
		_, err = tx.Exec(`UPDATE ing_cursor SET normalized_instant = ?, cursor_value = ?, version = version + 1 WHERE id = ? AND normalized_instant < ?`, to, to.String(), c.Task.CursorID, to)
	}
	if err == nil {
		err = tx.Commit()
	}
	if err != nil {
		w.t.Error(err)
	}
}

// cover says that the window of a slice is covered.
func (w *world) cover(c *patra.Claim) {
	w.exec(`INSERT INTO ing_coverage (cursor_id, slice_id, window_from, window_to, kind_code, state_code, total_code, ids_seen, stored, quarantined, known_missing, rescans, closed_at, created_at)
		VALUES (?, ?, ?, ?, 'SLICE', 'SEALED', 'NONE', 0, 0, 0, 0, 0, ?, ?) ON CONFLICT DO NOTHING`, c.Task.CursorID, c.Slice.ID, c.Slice.Window.From, c.Slice.Window.To, patra.InstantOf(time.Now()), patra.InstantOf(time.Now()))
}

func (w *world) failedWindows(cursorID int64) patra.Coverage {
	rows, err := w.db.Query(`SELECT s.window_from, s.window_to FROM ing_plan_slice s JOIN ing_plan p ON p.id = s.plan_id WHERE p.cursor_id = ? AND s.status_code = 'FAILED'`, cursorID)
	if err != nil {
		w.t.Error(err)
		return nil
	}
	defer rows.Close()
	var all []patra.Window
	for rows.Next() {
		var x patra.Window
		if err := rows.Scan(&x.From, &x.To); err != nil {
			w.t.Error(err)
		}
		all = append(all, x)
	}
	return patra.NewCoverage(all...)
}

// rewriteForm changes what is posted.
func rewriteForm(req *http.Request, change func(url.Values)) {
	if req.Body == nil {
		return
	}
	body, _ := io.ReadAll(req.Body)
	v, err := url.ParseQuery(string(body))
	if err == nil {
		change(v)
		body = []byte(v.Encode())
	}
	req.Body, req.ContentLength, req.GetBody = io.NopCloser(bytes.NewReader(body)), int64(len(body)), nil
}

// answerWith is a good answer with another body.
func answerWith(resp *http.Response, body []byte) *http.Response {
	resp.StatusCode, resp.Status = http.StatusOK, "200 OK"
	resp.Header.Del("Content-Length")
	resp.Header.Del("Content-Encoding")
	resp.Header.Del("Retry-After")
	resp.Header.Set("Content-Type", "application/json")
	resp.ContentLength, resp.Body = int64(len(body)), io.NopCloser(bytes.NewReader(body))
	return resp
}

// mended closes what was left open in a page of Europe PMC: the last item is gone, the others are there.
func mended(body []byte) []byte {
	if at := bytes.LastIndex(body, []byte(`},{"id":`)); at > 0 {
		return append(body[:at:at], `}]}}`...)
	}
	if at := bytes.Index(body, []byte(`"result":[`)); at > 0 {
		return append(body[:at+len(`"result":[`):at+len(`"result":[`)], `]}}`...)
	}
	return body
}

var (
	hitCount = regexp.MustCompile(`"hitCount":(\d+)`)
	nextMark = regexp.MustCompile(`"nextCursorMark":"[^"]*"`)
)

// believe takes the first count of a walk for the truth and ends the walk with it.
func believe() func(*world, *http.Request, http.RoundTripper) (*http.Response, error) {
	var mu sync.Mutex
	left := map[string]int{}
	return func(_ *world, req *http.Request, next http.RoundTripper) (*http.Response, error) {
		req.Header.Del("Accept-Encoding")
		resp, err := next.RoundTrip(req)
		if err != nil || resp.StatusCode != http.StatusOK {
			return resp, err
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		m := hitCount.FindSubmatch(body)
		if err != nil || m == nil {
			return answerWith(resp, body), nil
		}
		q := req.URL.Query()
		walk := q.Get("query")
		mu.Lock()
		defer mu.Unlock()
		if q.Get("cursorMark") == "*" {
			left[walk], _ = strconv.Atoi(string(m[1]))
		}
		left[walk] -= bytes.Count(body, []byte(`"source":`))
		if left[walk] <= 0 {
			body = nextMark.ReplaceAll(body, []byte(`"nextCursorMark":`+strconv.Quote(q.Get("cursorMark"))))
		}
		return answerWith(resp, body), nil
	}
}

var cursorToken = regexp.MustCompile(`"next-cursor":("[^"]*")`)

// goOn begins no walk anew while there is a token of an earlier one.
func goOn() func(*world, *http.Request, http.RoundTripper) (*http.Response, error) {
	var mu sync.Mutex
	tokens := map[string]string{}
	return func(_ *world, req *http.Request, next http.RoundTripper) (*http.Response, error) {
		req.Header.Del("Accept-Encoding")
		q := req.URL.Query()
		walk := q.Get("filter")
		mu.Lock()
		if token := tokens[walk]; token != "" && q.Get("cursor") == "*" {
			q.Set("cursor", token)
			req.URL.RawQuery = q.Encode()
		}
		mu.Unlock()
		resp, err := next.RoundTrip(req)
		if err != nil {
			return resp, err
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		resp.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), failed{err}))
		mu.Lock()
		defer mu.Unlock()
		if m := cursorToken.FindSubmatch(body); m != nil {
			var token string
			if json.Unmarshal(m[1], &token) == nil {
				tokens[walk] = token
			}
		}
		if resp.StatusCode != http.StatusOK || bytes.Contains(body, []byte(`"items":[]`)) {
			delete(tokens, walk)
		}
		return resp, nil
	}
}

// failed is the end of a body, whatever it was.
type failed struct{ err error }

// Read implements io.Reader.
func (f failed) Read([]byte) (int, error) { return 0, cmp.Or(f.err, io.EOF) }

// cached gives an answer again for two days.
func cached() func(*world, *http.Request, http.RoundTripper) (*http.Response, error) {
	type kept struct {
		body []byte
		at   time.Time
	}
	var mu sync.Mutex
	all := map[string]kept{}
	return func(_ *world, req *http.Request, next http.RoundTripper) (*http.Response, error) {
		mu.Lock()
		k, ok := all[req.URL.String()]
		mu.Unlock()
		if ok && time.Since(k.at) < 2*day {
			return answerWith(&http.Response{Header: http.Header{}, Request: req, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}, k.body), nil
		}
		req.Header.Del("Accept-Encoding")
		resp, err := next.RoundTrip(req)
		if err != nil || resp.StatusCode != http.StatusOK {
			return resp, err
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err == nil && json.Valid(body) && strings.Contains(string(body), `"hitCount"`) {
			mu.Lock()
			all[req.URL.String()] = kept{body, time.Now()}
			mu.Unlock()
		}
		return answerWith(resp, body), nil
	}
}

// hopeful takes every event for sent.
type hopeful struct{ relay.Publisher }

// Publish implements relay.Publisher.
func (h hopeful) Publish(ctx context.Context, events []patra.Event) []error {
	h.Publisher.Publish(ctx, events)
	return make([]error, len(events))
}

// generous gives the next request away after one that failed.
type generous struct {
	executor.Gate
	mu   sync.Mutex
	free int
}

// Report implements executor.Gate.
func (g *generous) Report(ctx context.Context, l patra.RateLimit, a patra.RateFeedback) error {
	g.mu.Lock()
	g.free++
	g.mu.Unlock()
	return g.Gate.Report(ctx, l, a)
}

// Reserve implements executor.Gate.
func (g *generous) Reserve(ctx context.Context, l patra.RateLimit, cost int) (time.Duration, error) {
	g.mu.Lock()
	free := g.free > 0
	if free {
		g.free--
	}
	g.mu.Unlock()
	if free {
		return 0, nil
	}
	return g.Gate.Reserve(ctx, l, cost)
}

// impatient forgets what a provider asks for.
type impatient struct{ executor.Gate }

// Cooldown implements executor.Gate.
func (impatient) Cooldown(context.Context, string, time.Duration) error { return nil }

// CooldownRemaining implements executor.Gate.
func (impatient) CooldownRemaining(context.Context, string) (time.Duration, error) { return 0, nil }
