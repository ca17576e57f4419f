package witnesstest

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"patra"
)

// falseClaims are source files that say what is not true of their provider, each of which lets the program seal by a rule that is
// wrong there.
func falseClaims() (all []cell) {
	add := func(name string, c cell, f func(r *rand.Rand, seed uint64, size int) rules) {
		c.name = name
		if c.sizes == nil {
			c.sizes = []int{2, 3, 4, 5}
		}
		if c.family = f; f == nil {
			c.family = families(c)
		}
		all = append(all, c)
	}
	short := func(*rand.Rand, uint64, int) rules {
		return rules{copies: 1, ties: 1, short: 0.3, warped: true, family: "short pages"}
	}
	unstable := func(*rand.Rand, uint64, int) rules {
		return rules{copies: 2, ties: 1, unstable: true, disturbed: true, family: "unstable order"}
	}
	lagging := func(r *rand.Rand, _ uint64, _ int) rules { // a record that changes is at the end of one copy, and in the middle of the other
		return rules{copies: 2, lag: time.Duration(5+r.IntN(55)) * time.Second, ties: 1, changes: true, rate: 0.6, disturbed: true, family: "changes, copies lag"}
	}
	add("an index is called a key", cell{paging: byHidden, order: fixed, total: "NONE", says: []string{"stability: SHIFTING", "stability: KEYSET, key: unique"}}, nil)
	add("an index is called a place in a frozen list", cell{paging: byURL, order: fixed, total: "NONE", says: []string{"stability: SHIFTING", "stability: SNAPSHOT"}}, nil)
	add("a time with ties is called a unique key", cell{paging: byTies, order: ascending, total: "NONE",
		says: []string{"type: TOKEN", "type: TOKEN, stability: KEYSET, key: unique"}}, nil)
	add("an order by the time of change is called fixed: a seam without the key", cell{paging: byOffset, order: ascending, total: "NONE",
		says: []string{"order: ASC}\n", "order: FIXED}\n"}}, nil)
	add("an order that differs from copy to copy is called fixed", cell{paging: byOffset, order: free, total: "NONE",
		says: []string{"type: OFFSET", "type: OFFSET, order: FIXED"}}, unstable)
	add("a key that changes is called fixed", cell{paging: byKey, order: free, total: "NONE",
		says: []string{"stability: KEYSET", "stability: KEYSET, order: FIXED"}}, nil)
	add("a short page is said to end a walk", cell{paging: byKey, order: fixed, total: "NONE", says: []string{"[NO_TOKEN]", "[NO_TOKEN, SHORT_PAGE]"}}, short)
	add("copies that lag are said to agree", cell{paging: byKey, order: ascending, total: "NONE", lag: time.Minute, says: []string{"lag: PT60S", "lag: PT0S"}}, lagging)
	add("an estimate is called exact", cell{paging: byHidden, order: fixed, total: "ESTIMATE", says: []string{"trust: ESTIMATE", "trust: EXACT"}}, nil)
	return all
}

// TestFalseClaimsAreConvicted harvests providers that are not what their source files say: each claim that a witness rests on must be
// able to cost a record here, or these worlds would not notice if it were ignored.
func TestFalseClaimsAreConvicted(t *testing.T) {
	for _, c := range falseClaims() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for batch := range uint64(20) {
				if out := c.run(t, batch*48, 48); len(out.lost) > 0 {
					t.Logf("%d false seals of %d", len(out.lost), out.sealed)
					return
				}
			}
			t.Error("it has lost nothing")
		})
	}
}

// scanned is a scan as the ledger has it.
type scanned struct {
	ids         map[uint64]bool
	total       int64
	first, last time.Time
}

// scans are those of all windows as they were planned, by their worlds.
func (h *harvest) scans() map[*world][]scanned {
	h.t.Helper()
	rows, err := h.db.Query(`SELECT s.cursor_id, s.window_from, b.scan_no, b.row_keys, COALESCE(b.provider_total, -1), q.finished_at
		FROM ing_task_run_batch b JOIN ing_task t ON t.id = b.task_id JOIN ing_plan_slice s ON s.id = t.slice_id JOIN ing_request q ON q.batch_id = b.id
		WHERE b.done_ordinal IS NOT NULL AND s.parent_slice_id IS NULL ORDER BY b.id`)
	if err != nil {
		h.t.Fatal(err)
	}
	defer rows.Close()
	all := map[*world][]scanned{}
	for rows.Next() {
		var cursor, no, total int64
		var from, at patra.Instant
		var keys []byte
		if err := rows.Scan(&cursor, &from, &no, &keys, &total, &at); err != nil {
			h.t.Fatal(err)
		}
		w := h.lab.worlds[h.codes[cursor]][from.Time()]
		for int(no) > len(all[w]) {
			all[w] = append(all[w], scanned{ids: map[uint64]bool{}, first: at.Time()})
		}
		s := &all[w][no-1]
		page, err := patra.ParsePageRows(keys)
		if err != nil {
			h.t.Fatal(err)
		}
		for _, r := range page {
			if !r.Outside {
				s.ids[r.ID] = true
			}
		}
		s.total, s.last = total, at.Time()
	}
	return all
}

// TestWrongRulesAreConvicted judges the scans that the program has read and kept by rules that are known to be wrong.
func TestWrongRulesAreConvicted(t *testing.T) {
	noNew := func(all []scanned) bool {
		if len(all) < 2 {
			return false
		}
		for id := range all[len(all)-1].ids {
			if !all[len(all)-2].ids[id] {
				return false
			}
		}
		return true
	}
	for _, rule := range []struct {
		name, total string
		scans       int // that are the evidence
		seals       func(all []scanned) bool
	}{
		{"a count that agrees is a witness", "EXACT", 1, func(all []scanned) bool {
			last := all[len(all)-1]
			return last.total == int64(len(last.ids))
		}},
		{"a second scan brings no new id", "NONE", 2, noNew},
		{"a walk that came to its end is a witness", "ESTIMATE", 1, func([]scanned) bool { return true }},
	} {
		t.Run(rule.name, func(t *testing.T) {
			t.Parallel()
			c := cell{paging: byHidden, order: free, total: rule.total, sizes: []int{2, 3}, most: 12}
			c.family = func(r *rand.Rand, _ uint64, _ int) rules {
				return rules{copies: 1, ties: 1, disturbed: true, family: "leave and arrive", rate: []float64{0.08, 0.25, 0.6}[r.IntN(3)]}
			}
			for batch := range uint64(20) {
				convicted := ""
				c.each(t, batch*200, 200, func(h *harvest) { convicted = h.convict(rule.scans, rule.seals) })
				if convicted != "" {
					t.Log(convicted)
					return
				}
			}
			t.Error("it has lost nothing")
		})
	}
}

// convict gives a window that a rule seals without a record that had to be read.
func (h *harvest) convict(evidence int, seals func([]scanned) bool) string {
	for w, all := range h.scans() {
		for n := 1; n <= len(all); n++ {
			if !seals(all[:n]) {
				continue
			}
			for id := range w.truth(w.day, w.until, all[max(0, n-evidence)].first, all[n-1].last) {
				key, read := patra.RowKeyOf(w.name(id), nil, nil, false).ID, false
				for _, s := range all[:n] {
					read = read || s.ids[key]
				}
				if !read {
					return fmt.Sprintf("record %d is lost after %d scans in %s", id, n, w.story())
				}
			}
			break
		}
	}
	return ""
}
