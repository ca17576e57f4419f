package patra_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"patra"
)

// listed is a record of a provider's list.
type listed struct {
	id  int
	key int
}

func (l listed) name() string { return strconv.Itoa(l.id) }

// movingList is a provider whose list changes between any two requests.
type movingList struct {
	rand    *rand.Rand
	rows    []listed
	clock   int
	next    int // id of the next record that arrives
	moves   float64
	changes bool // records may change their key inside the list, forward
	always  map[int]bool
}

func newMovingList(r *rand.Rand, moves float64, changes bool) *movingList {
	l := &movingList{rand: r, moves: moves, changes: changes, always: map[int]bool{}}
	for range r.IntN(15) {
		l.arrive()
	}
	for _, x := range l.rows {
		l.always[x.id] = true
	}
	return l
}

func (l *movingList) arrive() {
	l.rows = append(l.rows, listed{l.next, l.rand.IntN(20)})
	l.next++
	l.sort()
}

func (l *movingList) sort() {
	slices.SortFunc(l.rows, func(a, b listed) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.id, b.id)) })
}

// live lets the list change before a request.
func (l *movingList) live() {
	for l.rand.Float64() < l.moves {
		switch k := l.rand.IntN(3); {
		case k == 0:
			l.arrive()
		case len(l.rows) == 0:
		case k == 1:
			i := l.rand.IntN(len(l.rows))
			delete(l.always, l.rows[i].id)
			l.rows = slices.Delete(l.rows, i, i+1)
		case l.changes:
			i := l.rand.IntN(len(l.rows))
			l.clock++
			l.rows[i].key = 20 + l.clock
			l.sort()
		}
	}
}

func (l *movingList) page(from, size int) []listed {
	from = min(from, len(l.rows))
	return slices.Clone(l.rows[from:min(from+size, len(l.rows))])
}

func (l *movingList) after(x listed, size int) []listed {
	i, _ := slices.BinarySearchFunc(l.rows, x, func(a, b listed) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.id, b.id)) })
	if i < len(l.rows) && l.rows[i] == x {
		i++
	}
	return l.page(i, size)
}

// walk reads a window as the executor does.
type walk struct {
	list   *movingList
	plan   patra.WitnessPlan
	size   int
	stored map[int]bool
	scans  []*patra.ScanEvidence
	blind  bool // rows do not show their key
	odd    bool // pages may hold a row from outside of the window, and fewer rows than asked for
}

func (w *walk) scanPage(e *patra.ScanEvidence, position int64, asked int, rows []listed, more bool) patra.ScanStep {
	p := patra.ScanPage{Position: position, Asked: int64(asked), HasNext: more}
	for _, x := range rows {
		w.stored[x.id] = true
		at := patra.Instant(x.key)
		sortedBy := &at
		if w.blind {
			sortedBy = nil
		}
		p.Rows = append(p.Rows, patra.RowKeyOf(x.name(), nil, sortedBy, false))
	}
	if w.odd && len(rows) > 0 && w.list.rand.IntN(4) == 0 {
		p.Rows = slices.Insert(p.Rows, w.list.rand.IntN(len(p.Rows)+1), patra.RowKeyOf("outside", nil, nil, true))
	}
	if w.plan.Trust == patra.TrustExact {
		n := int64(len(w.list.rows))
		p.Total = &n
	}
	return e.Add(p)
}

func (w *walk) scan(no int64) *patra.ScanEvidence {
	e := patra.NewScanEvidence(no, w.plan)
	var last listed
	for at := int64(0); ; {
		w.list.live()
		var rows []listed
		switch w.plan.Witness {
		case patra.WitnessSeam:
			rows = w.list.page(int(at), w.size)
			step := w.scanPage(e, at, w.size, rows, len(rows) > 0)
			if step.End || e.Complete() {
				return e
			}
			at = step.Next
			continue
		case patra.WitnessSizes:
			number, size := e.PageAt(at, int64(w.size))
			served := int(size)
			if w.odd { // the provider serves smaller pages than it is asked for, and counts with those
				served = min(served, 6)
			}
			rows = w.list.page(int(number-1)*served, served)
			step := w.scanPage(e, (number-1)*size, int(size), rows, len(rows) > 0)
			if step.End || e.Complete() {
				return e
			}
			at = step.Next
			continue
		case patra.WitnessKeyset:
			if rows = w.list.page(0, w.size); at > 0 {
				rows = w.list.after(last, w.size)
			}
		default:
			rows = w.list.page(int(at), w.size)
		}
		w.scanPage(e, -1, w.size, rows, len(rows) > 0)
		if len(rows) == 0 || e.Complete() {
			return e
		}
		last, at = rows[len(rows)-1], at+int64(len(rows))
	}
}

// TestASealedWindowHasLostNothing reads lists that change between any two requests, and holds every seal against the records that
// were there all the time.
func TestASealedWindowHasLostNothing(t *testing.T) {
	worlds := 20000
	if testing.Short() {
		worlds = 1000
	}
	for _, c := range []struct {
		name    string
		plan    patra.WitnessPlan
		changes bool
		odd     bool
	}{
		{"offset", patra.WitnessPlan{Witness: patra.WitnessSeam, Trust: patra.TrustNone, Index: true}, true, false},
		{"offset, exact", patra.WitnessPlan{Witness: patra.WitnessSeam, Trust: patra.TrustExact, Index: true}, true, false},
		{"page", patra.WitnessPlan{Witness: patra.WitnessSizes, Trust: patra.TrustNone, Index: true}, true, false},
		{"token with an offset", patra.WitnessPlan{Witness: patra.WitnessMetAgain, Trust: patra.TrustNone, Index: true}, true, false},
		{"token, exact", patra.WitnessPlan{Witness: patra.WitnessMetAgain, Trust: patra.TrustExact}, true, false},
		{"offset, rows from outside", patra.WitnessPlan{Witness: patra.WitnessSeam, Trust: patra.TrustExact, Index: true}, true, true},
		{"page, rows from outside", patra.WitnessPlan{Witness: patra.WitnessSizes, Trust: patra.TrustExact, Index: true}, true, true},
		{"token with a key", patra.WitnessPlan{Witness: patra.WitnessKeyset, Trust: patra.TrustNone}, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			sealed, still := 0, 0
			for seed := range worlds {
				r := rand.New(rand.NewPCG(uint64(seed), 22))
				moves := []float64{0, 0.08, 0.25, 0.6}[seed%4]
				w := &walk{list: newMovingList(r, moves, c.changes), plan: c.plan, size: 2 + r.IntN(3), stored: map[int]bool{}, odd: c.odd}
				if c.plan.Witness == patra.WitnessSizes {
					w.size = 6 + r.IntN(3)
				}
				var v patra.WindowVerdict
				for v.Again = true; v.Again; {
					w.scans = append(w.scans, w.scan(int64(len(w.scans)+1)))
					v = patra.JudgeScans(c.plan, 0, w.scans)
				}
				if v.State != patra.StateSealed {
					continue
				}
				sealed++
				if moves == 0 {
					still++
				}
				for id := range w.list.always {
					if !w.stored[id] {
						t.Fatalf("seed %d: sealed by %s without record %d: %+v", seed, v.Proof.Witness, id, v.Proof)
					}
				}
			}
			t.Logf("%d of %d windows are sealed, %d of %d in which nothing moved", sealed, worlds, still, worlds/4)
			if still < worlds/4 && !c.odd {
				t.Errorf("%d windows in which nothing moved are not sealed", worlds/4-still)
			}
		})
	}
}

// A list of ids that is empty proves nothing about a walk that has read records.
func TestAnEmptyListOfIDsProvesNoRecordsThatWereRead(t *testing.T) {
	plan := patra.WitnessPlan{Witness: patra.WitnessCensus}
	row := patra.RowKeyOf("a", nil, nil, false)
	scan := patra.NewScanEvidence(1, plan)
	if v := patra.JudgeCensus(plan, nil, scan, 0); v.State != patra.StateSealed {
		t.Errorf("nothing read and nothing listed is %s", v.State)
	}
	scan.Add(patra.ScanPage{Position: -1, Rows: patra.PageRows{row}})
	if v := patra.JudgeCensus(plan, nil, scan, 0); v.State != patra.StateRead || v.Proof.Witness != patra.WitnessNone || v.Proof.Why == "" {
		t.Errorf("one record read and none listed is %s: %+v", v.State, v.Proof)
	}
	if v := patra.JudgeCensus(plan, patra.PageRows{row}, scan, 0); v.State != patra.StateSealed {
		t.Errorf("one record read and listed is %s", v.State)
	}
}
