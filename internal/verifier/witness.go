package verifier

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"patra"
)

// windowProof is the evidence that a window names for being complete, as it stands in the table.
type windowProof struct {
	Witness string `json:"witness"`
	Basis   string `json:"basis"`
	TaskID  int64  `json:"task_id"`
	Met     int64  `json:"met"`
	Census  *int64 `json:"census"`
	Rest    *int64 `json:"rest"`
	Scans   []struct {
		No         int64  `json:"scan"`
		Pages      int    `json:"pages"`
		Rows       int    `json:"rows"`
		Distinct   int    `json:"distinct"`
		Duplicates int    `json:"duplicates"`
		Outside    int    `json:"outside"`
		Total      *int64 `json:"total"`
	} `json:"scans"`
}

// claims are what a configuration says about its provider, as far as proofs rest on it.
type claims struct {
	Basis      string
	Pagination struct {
		Type, Stability, Order, Key, Initial, SizeParam string
		End                                             []string
	}
	Response    struct{ Total struct{ Trust string } }
	Consistency struct{ Lag patra.Period }
	Census      *struct{}
}

// trusted reports whether the provider was examined, or its file was shipped: else nothing is believed but that numbers are places.
func (c claims) trusted() bool { return c.Basis == "FILE" || c.Basis == "CERTIFIED" }

// exact reports whether a total may be believed.
func (c claims) exact() bool { return c.trusted() && c.Response.Total.Trust == "EXACT" }

func (c claims) lag() int64 {
	lag := c.Consistency.Lag
	return lag.Clock.Microseconds() + int64(lag.Days)*24*3600*1_000_000
}

// ordered reports whether no record moves against a walk. What is sorted by relevance is so only for a question that asks for a window
// and nothing else, of which the planner keeps account.
func (c claims) ordered() bool { return c.fixed() || c.Pagination.Order == "ASC" }

func (c claims) fixed() bool {
	return c.Pagination.Order == "FIXED" || c.Pagination.Order == "RELEVANCE"
}

// proved is a window that counts as complete and names a proof.
type proved struct {
	kind  string
	slice int64
	proof windowProof
}

func (p proved) String() string { return fmt.Sprintf("slice %d, by %s", p.slice, p.proof.Witness) }

const (
	unprovedWindows = `SELECT COUNT(*) FROM ing_coverage WHERE state_code = 'SEALED' AND proof IS NULL`
	provedWindows   = `SELECT kind_code, slice_id, proof FROM ing_coverage WHERE state_code = 'SEALED' AND proof IS NOT NULL
		AND (record_remarks IS NULL OR proof NOT LIKE '%"NONE"%') ORDER BY id`
	provingTask = `SELECT s.snapshot, COALESCE(p.fetch_to, 0) FROM ing_task t
		JOIN ing_spec_snapshot s ON s.spec_fingerprint = t.spec_fingerprint JOIN ing_plan_slice p ON p.id = t.slice_id WHERE t.id = ?`
	archivedTask = `SELECT COUNT(*) FROM ing_archive WHERE task_id = ?`
	provingPages = `SELECT b.scan_no, b.ordinal, b.before_token, COALESCE(b.page_size, 0), COALESCE(b.has_next, 0),
		COALESCE(b.end_code, ''), b.provider_total, b.row_keys,
		COALESCE(q.sent_at, b.started_at), COALESCE(q.finished_at, b.committed_at, 0)
		FROM ing_task_run_batch b LEFT JOIN ing_request q ON q.batch_id = b.id
		WHERE b.task_id = ? AND b.phase_code = 'SEARCH' AND b.done_ordinal IS NOT NULL ORDER BY b.scan_no, b.ordinal`
	provingList = `SELECT b.scan_no, COALESCE(b.has_next, 0), b.row_keys FROM ing_task_run_batch b
		WHERE b.task_id = ? AND b.phase_code = 'CENSUS' AND b.done_ordinal IS NOT NULL ORDER BY b.id`
	partsOfWindow = `SELECT p.id, p.slice_spec, r.stats FROM ing_plan_slice w JOIN ing_plan_slice p ON p.plan_id = w.plan_id AND p.cursor_id = w.cursor_id
		AND p.window_from = w.window_from AND p.window_to = w.window_to
		JOIN ing_task t ON t.slice_id = p.id JOIN ing_task_run r ON r.task_id = t.id AND r.status_code = 'SUCCEEDED'
		WHERE w.id = ? AND p.status_code = 'SUCCEEDED'`
)

// askWitness recomputes from the rows of the pages whether each proof holds.
func askWitness(ctx context.Context, s *Scene, v *Invariant) error {
	old, err := s.number(ctx, unprovedWindows)
	if err != nil {
		return err
	}
	if v.Looked = old; old > 0 {
		v.Note = fmt.Sprintf("v1: walk: %d", old)
	}
	var all []proved
	err = s.each(ctx, provedWindows, func(r *sql.Rows) error {
		var p proved
		var raw []byte
		if err := r.Scan(&p.kind, &p.slice, &raw); err != nil {
			return err
		}
		all = append(all, p)
		return json.Unmarshal(raw, &all[len(all)-1].proof)
	})
	if err != nil {
		return err
	}
	v.Looked += int64(len(all))
	for _, p := range all {
		why, err := s.doubts(ctx, p)
		if err != nil {
			return err
		}
		if why != "" {
			v.found("%s: %s", p, why)
		}
	}
	return nil
}

// doubts is why a proof does not hold; empty if it does, or if its pages are in an archive.
func (s *Scene) doubts(ctx context.Context, p proved) (string, error) {
	if p.proof.Witness == "PARTS" {
		return s.doubtsOfParts(ctx, p)
	}
	archived, err := s.number(ctx, archivedTask, p.proof.TaskID)
	if err != nil || archived > 0 {
		return "", err
	}
	j := proofCase{proof: p.proof, partial: p.kind == "CONFIRMED"}
	known := false
	err = s.each(ctx, provingTask, func(r *sql.Rows) error {
		var raw []byte
		if err := r.Scan(&raw, &j.to); err != nil {
			return err
		}
		known = true
		return json.Unmarshal(raw, &j.claims)
	}, p.proof.TaskID)
	if err != nil {
		return "", err
	}
	if !known {
		return fmt.Sprintf("there is no task %d", p.proof.TaskID), nil
	}
	if j.walks, err = s.walks(ctx, p.proof.TaskID, j.claims); err != nil {
		return err.Error(), nil
	}
	if j.lists, err = s.lists(ctx, p.proof.TaskID); err != nil {
		return err.Error(), nil
	}
	return j.doubts(), nil
}

// doubtsOfParts is why the parts of a window do not prove it: each has its own proof, they are all ids, and nothing lies outside.
func (s *Scene) doubtsOfParts(ctx context.Context, p proved) (string, error) {
	if p.proof.Rest == nil || *p.proof.Rest != 0 {
		return "nothing says that no record lies outside of its parts", nil
	}
	var parts []proved
	err := s.each(ctx, partsOfWindow, func(r *sql.Rows) error {
		var part proved
		var spec, stats []byte
		if err := r.Scan(&part.slice, &spec, &stats); err != nil {
			return err
		}
		var its struct{ Range *struct{} }
		var did struct {
			Answer struct {
				State string
				Proof *windowProof
			}
		}
		if err := json.Unmarshal(spec, &its); err != nil || its.Range == nil {
			return err
		}
		if err := json.Unmarshal(stats, &did); err != nil {
			return err
		}
		if did.Answer.State == "SEALED" && did.Answer.Proof != nil {
			part.proof = *did.Answer.Proof
		}
		parts = append(parts, part)
		return nil
	}, p.slice)
	if err != nil {
		return "", err
	}
	if len(parts) == 0 {
		return "it has no parts", nil
	}
	for _, part := range parts { // that they are all ids, the tables promise
		why := "it is not sealed"
		if part.proof.Witness != "" {
			if why, err = s.doubts(ctx, part); err != nil {
				return "", err
			}
		}
		if why != "" {
			return fmt.Sprintf("its part in %s: %s", part, why), nil
		}
	}
	return "", nil
}

// proofCase is a proof with everything that it rests on.
type proofCase struct {
	proof   windowProof
	claims  claims
	to      int64 // the end of what was asked for
	partial bool  // the walk was left before its end
	walks   map[int64]*walk
	lists   map[int64][]seenRow // of all ids, by scan
}

// doubts is why the proof does not hold.
func (j proofCase) doubts() string {
	if j.proof.Basis != j.claims.Basis {
		return fmt.Sprintf("it rests on %q, and the configuration on %q", j.proof.Basis, j.claims.Basis)
	}
	var scans []*walk
	for _, s := range j.proof.Scans {
		w := j.walks[s.No]
		if w == nil {
			return fmt.Sprintf("scan %d is not there", s.No)
		}
		if why := w.broken(); why != "" {
			return fmt.Sprintf("scan %d: %s", s.No, why)
		}
		if len(w.pages) != s.Pages || w.rows != s.Rows || len(w.ids) != s.Distinct || w.duplicates != s.Duplicates || w.outside != s.Outside || !same(w.total, s.Total) {
			return fmt.Sprintf("scan %d has %d pages with %d rows, %d ids, %d twice, %d outside and a total of %s, and the proof says %d, %d, %d, %d, %d and %s",
				s.No, len(w.pages), w.rows, len(w.ids), w.duplicates, w.outside, written(w.total), s.Pages, s.Rows, s.Distinct, s.Duplicates, s.Outside, written(s.Total))
		}
		scans = append(scans, w)
	}
	if len(scans) == 0 {
		return "it names no scan"
	}
	if !j.partial && !scans[len(scans)-1].ended() {
		return "its last page says that more follows"
	}
	if why, ok := j.rules()[j.proof.Witness]; ok {
		return why(scans)
	}
	return "there is no such witness"
}

func written(n *int64) string {
	if n == nil {
		return "nothing"
	}
	return strconv.FormatInt(*n, 10)
}

func same(a, b *int64) bool { return a == nil && b == nil || a != nil && b != nil && *a == *b }

// rules are the witnesses: each says why it does not hold.
func (j proofCase) rules() map[string]func([]*walk) string {
	c := j.claims
	p := c.Pagination
	one := func(claimed bool, rest func(*walk) string) func([]*walk) string {
		return func(scans []*walk) string {
			w := scans[0]
			switch {
			case len(scans) != 1:
				return "it is one scan, and the proof has more"
			case !claimed || !c.trusted():
				return "the configuration does not claim what it rests on"
			case w.disordered:
				return "a row stands before its place"
			case c.lag() > 0 && !c.fixed() && p.Stability != "SNAPSHOT" && w.began < j.to+c.lag():
				return "copies might have lagged when it was read"
			case !j.partial && j.contradicted(w):
				return "the total is another"
			}
			return rest(w)
		}
	}
	holds := func(*walk) string { return "" }
	return map[string]func([]*walk) string{
		"ATOMIC":    j.atomic,
		"MET_AGAIN": j.metAgain,
		"CENSUS":    j.census,
		"SEAM":      one(p.Type == "OFFSET" && c.ordered(), j.seam),
		"SIZES":     one(p.Type == "PAGE" && c.ordered() && p.SizeParam != "", j.seam),
		"TIME":      one(p.Type == "TIME", holds),
		"KEYSET": one(p.Stability == "KEYSET" && p.Key == "unique" && c.ordered(), func(w *walk) string {
			if c.fixed() && w.duplicates > 0 {
				return "a row came twice, and its key cannot have changed"
			}
			return ""
		}),
		"SNAPSHOT": one(p.Stability == "SNAPSHOT", func(w *walk) string {
			if first := w.pages[0].total; !j.partial && (w.duplicates > 0 || c.exact() && first != nil && *first != int64(len(w.ids))) {
				return "the frozen list had other records than were read"
			}
			return ""
		}),
	}
}

// contradicted reports whether a total that did not change differs from what was read.
func (j proofCase) contradicted(w *walk) bool {
	return j.claims.Response.Total.Trust == "EXACT" && w.total != nil && !w.moved && *w.total != int64(len(w.ids))
}

// atomic holds where one answer has everything, by its own total or because the provider said that nothing follows.
func (j proofCase) atomic(scans []*walk) string {
	w := scans[0]
	if len(scans) != 1 || len(w.pages) != 1 || w.duplicates > 0 {
		return "it is not one answer with different rows"
	}
	page, end := w.pages[0], j.claims.Pagination.End
	says := page.end == "NO_TOKEN" || page.end == "NULL_NEXT"
	switch {
	case j.claims.exact() && page.total != nil:
		if *page.total != int64(len(w.ids)) {
			return "the total is another"
		}
	case w.rows == 0:
	case !j.claims.trusted() || !says || !slices.Contains(end, page.end):
		return "the answer does not say that it is all there is"
	}
	return ""
}

// census holds where a list of all ids came in one answer, and the scan has read each of them.
func (j proofCase) census(scans []*walk) string {
	list, ids := j.lists[j.proof.Scans[0].No], map[uint64]bool{}
	switch {
	case len(scans) != 1 || !j.claims.trusted() || j.claims.Census == nil:
		return "the configuration does not claim what it rests on"
	case list == nil:
		return "there is no list of all ids in one answer"
	}
	for _, r := range list {
		if ids[r.id] = true; !scans[0].ids[r.id] {
			return "an id of the list was not read"
		}
	}
	if j.proof.Census == nil || *j.proof.Census != int64(len(ids)) {
		return fmt.Sprintf("the list has %d ids, and the proof says %s", len(ids), written(j.proof.Census))
	}
	return ""
}

// metAgain holds where a later scan has met all that the list can have had when it was counted.
func (j proofCase) metAgain(scans []*walk) string {
	n, lag := len(scans), j.claims.lag()
	if n < 2 || n > 3 || lag > 0 && n != 3 {
		return fmt.Sprintf("it takes two scans, or three where copies lag, and the proof has %d", n)
	}
	first, last, counted := scans[0], scans[n-1], scans[n-1].pages[0].total
	middle := first
	if n == 3 {
		middle, counted = scans[1], scans[1].pages[0].total
		if middle.began < first.finished+lag || last.began < middle.finished+lag {
			return "its scans are not as far apart as copies may lag"
		}
	}
	met := 0
	for id := range first.ids {
		if last.ids[id] {
			met++
		}
	}
	index := j.claims.Pagination.Type == "OFFSET" || j.claims.Pagination.Type == "PAGE" || j.claims.trusted() && j.claims.Pagination.Stability == "SHIFTING"
	switch {
	case int64(met) != j.proof.Met:
		return fmt.Sprintf("%d ids were met again, and the proof says %d", met, j.proof.Met)
	case j.contradicted(last):
		return "the total is another"
	case j.claims.exact() && counted != nil:
		if int64(met) < *counted {
			return fmt.Sprintf("%d ids were met again of %d", met, *counted)
		}
	case !index:
		return "positions are not claimed to be places, and no total is exact"
	case !middle.even():
		return "its pages do not tell how long the list was"
	case met < middle.rows:
		return fmt.Sprintf("%d ids were met again of %d", met, middle.rows)
	}
	return ""
}

// seam holds where each page that counts begins with a row that was read and has not moved, and the last one shows the end.
func (j proofCase) seam(w *walk) string {
	known := map[uint64]uint32{} // rows of pages that joined, with what they are sorted by
	widest, joined, end := 0, false, false
	for _, p := range w.pages {
		inside, first := p.inside()
		if p.asked > 0 {
			inside = min(inside, p.asked)
		}
		widest = max(widest, inside)
		knows := func(r seenRow) bool {
			sort, ok := known[r.id]
			return ok && sort == r.sort && !r.outside
		}
		joined = p.at == 0 || first != nil && knows(*first)
		end = joined && j.ends(p, inside, widest, knows)
		for _, r := range p.rows {
			switch {
			case r.outside:
			case joined:
				known[r.id] = r.sort
			default:
				delete(known, r.id)
			}
		}
	}
	switch {
	case !joined:
		return "its last page does not begin with a row that was read and has not moved"
	case !end && !j.partial:
		return "its last page does not show the end of the list"
	}
	return ""
}

// ends reports whether a page that joins shows that nothing follows.
func (j proofCase) ends(p seenPage, inside, widest int, knows func(seenRow) bool) bool {
	stranger := func(r seenRow) bool { return !knows(r) }
	switch {
	case len(p.rows) == 0:
		return p.at == 0
	case j.claims.exact() && p.total != nil && int64(p.at+inside) >= *p.total, p.end == "NO_TOKEN", p.end == "NULL_NEXT":
		return true
	case len(p.rows) == 1 && p.asked > 1 && widest > 1:
		return knows(p.rows[0])
	}
	return j.proof.Witness == "SIZES" && inside < p.asked && p.asked <= widest && !slices.ContainsFunc(p.rows, stranger)
}
