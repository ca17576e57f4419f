package patra_test

import (
	"math/rand/v2"
	"testing"

	"patra"
)

// wrongWitness is a rule that seals windows and should not: it is given scans as the executor reads them, the newest last.
type wrongWitness struct {
	name    string
	plan    patra.WitnessPlan
	changes bool // records change their key inside the list
	seals   func(w *walk) bool
	scan    func(w *walk, no int64) *patra.ScanEvidence // nil: as it is
}

// plainScan is a walk by places that ends where a rule says so. Pages may be shorter than asked where the world says so.
func plainScan(w *walk, no int64, short float64, endsShort bool) *patra.ScanEvidence {
	e := patra.NewScanEvidence(no, w.plan)
	for at := 0; ; {
		w.list.live()
		rows := w.list.page(at, w.size)
		more := at+len(rows) < len(w.list.rows)
		if len(rows) > 2 && w.list.rand.Float64() < short {
			rows, more = rows[:2], true
		}
		if endsShort && len(rows) < w.size {
			more = false
		}
		w.scanPage(e, -1, w.size, rows, more)
		if !more {
			return e
		}
		at += len(rows)
	}
}

// reverseScan reads the list from its end.
func reverseScan(w *walk, no int64, length int64) *patra.ScanEvidence {
	e := patra.NewScanEvidence(no, w.plan)
	for at := int(length) / w.size * w.size; at >= 0; at -= w.size {
		w.list.live()
		w.scanPage(e, -1, w.size, w.list.page(at, w.size), at > 0)
	}
	return e
}

// ids are those that a scan has, of all that ever were.
func (l *movingList) ids(e *patra.ScanEvidence) map[uint64]bool {
	has := map[uint64]bool{}
	for id := range l.next {
		if k := keyOf(id); e.Has(k) {
			has[k] = true
		}
	}
	return has
}

func keyOf(id int) uint64 { return patra.RowKeyOf(listed{id: id}.name(), nil, nil, false).ID }

// within reports whether a scan has all ids of another.
func within(a, b map[uint64]bool) bool {
	for id := range a {
		if !b[id] {
			return false
		}
	}
	return true
}

// lastTwo are the ids of the last two scans.
func (w *walk) lastTwo() (before, last map[uint64]bool, ok bool) {
	n := len(w.scans)
	if n < 2 {
		return nil, nil, false
	}
	return w.list.ids(w.scans[n-2]), w.list.ids(w.scans[n-1]), true
}

var wrongWitnesses = []wrongWitness{
	{name: "a count that agrees is a witness", plan: patra.WitnessPlan{Witness: patra.WitnessMetAgain, Trust: patra.TrustExact}, changes: true, seals: func(w *walk) bool {
		e := w.scans[len(w.scans)-1]
		return e.Total != nil && *e.Total == e.Distinct
	}},
	{name: "a walk that came to its end is a witness", plan: patra.WitnessPlan{Witness: patra.WitnessMetAgain, Trust: patra.TrustNone}, changes: true,
		seals: func(*walk) bool { return true }},
	{name: "a second scan brings no new id", plan: patra.WitnessPlan{Witness: patra.WitnessMetAgain, Trust: patra.TrustNone}, changes: true, seals: func(w *walk) bool {
		before, last, ok := w.lastTwo()
		return ok && within(last, before)
	}},
	{name: "two scans have the same ids", plan: patra.WitnessPlan{Witness: patra.WitnessMetAgain, Trust: patra.TrustNone}, changes: true, seals: func(w *walk) bool {
		before, last, ok := w.lastTwo()
		return ok && within(last, before) && within(before, last)
	}},
	{name: "a scan from the end brings no new id", plan: patra.WitnessPlan{Witness: patra.WitnessMetAgain, Trust: patra.TrustNone}, changes: true,
		scan: func(w *walk, no int64) *patra.ScanEvidence {
			if no%2 == 0 {
				return reverseScan(w, no, w.scans[len(w.scans)-1].Rows)
			}
			return w.scan(no)
		},
		seals: func(w *walk) bool {
			before, last, ok := w.lastTwo()
			return ok && len(w.scans)%2 == 0 && within(last, before)
		}},
	{name: "a seam without the key", plan: patra.WitnessPlan{Witness: patra.WitnessSeam, Trust: patra.TrustNone, Index: true}, changes: true,
		scan: func(w *walk, no int64) *patra.ScanEvidence {
			w.blind = true
			return w.scan(no)
		},
		seals: func(w *walk) bool { return patra.JudgeScans(w.plan, 0, w.scans).State == patra.StateSealed }},
	{name: "a short page ends a walk", plan: patra.WitnessPlan{Witness: patra.WitnessMetAgain, Trust: patra.TrustNone, Index: true},
		scan:  func(w *walk, no int64) *patra.ScanEvidence { return plainScan(w, no, 0.5, true) },
		seals: func(w *walk) bool { return patra.JudgeScans(w.plan, 0, w.scans).State == patra.StateSealed }},
	{name: "a position that is an index is called a key", plan: patra.WitnessPlan{Witness: patra.WitnessKeyset, Trust: patra.TrustNone},
		scan:  func(w *walk, no int64) *patra.ScanEvidence { return plainScan(w, no, 0, false) },
		seals: func(w *walk) bool { return patra.JudgeScans(w.plan, 0, w.scans).State == patra.StateSealed }},
}

// TestWrongRulesAreConvicted puts rules in the place of ours that are known to be wrong. Each of them must seal a window that has lost
// something: a test that no wrong rule fails would prove nothing about the right ones.
func TestWrongRulesAreConvicted(t *testing.T) {
	for _, rule := range wrongWitnesses {
		t.Run(rule.name, func(t *testing.T) {
			for seed := range uint64(200_000) {
				r := rand.New(rand.NewPCG(seed, 22))
				moves := []float64{0, 0.08, 0.25, 0.6}[seed%4]
				w := &walk{list: newMovingList(r, moves, rule.changes), plan: rule.plan, size: 2 + r.IntN(3), stored: map[int]bool{}}
				if id, lost := rule.sealsWithout(w); lost {
					t.Logf("seed %d: sealed without record %d after %d scans", seed, id, len(w.scans))
					return
				}
			}
			t.Error("it has lost nothing: these worlds would not notice a rule that is wrong")
		})
	}
}

// sealsWithout scans until the rule seals, and gives a record that is lost then.
func (rule wrongWitness) sealsWithout(w *walk) (id int, lost bool) {
	scan := rule.scan
	if scan == nil {
		scan = func(w *walk, no int64) *patra.ScanEvidence { return w.scan(no) }
	}
	for no := int64(1); no <= patra.MaxScans; no++ {
		w.scans = append(w.scans, scan(w, no))
		if !rule.seals(w) {
			continue
		}
		for id := range w.list.always {
			if !w.stored[id] {
				return id, true
			}
		}
		return 0, false
	}
	return 0, false
}
