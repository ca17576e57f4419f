package store

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"patra"
)

// heap is a queue in memory: what a dealer sees of it, and what the rules say about it.
type heap struct {
	tasks []heapTask
	n     int
}

type heapTask struct {
	candidate
	priority int
	at       int // when it is due
}

func (h *heap) wanted() int { return h.n }

func (h *heap) oldest(most int) (all []candidate, err error) {
	for _, t := range h.tasks {
		all = append(all, t.candidate)
	}
	return all[:min(most, len(all))], nil
}

func (h *heap) due(l subqueue) (ids []int64, err error) {
	for _, t := range h.tasks {
		if t.partition == l.partition && t.priority == l.priority && len(ids) < h.n+spare {
			ids = append(ids, t.id)
		}
	}
	return ids, nil
}

func (h *heap) lanes() (all []subqueue) {
	for _, t := range h.tasks {
		if l := (subqueue{t.partition, t.priority}); !slices.Contains(all, l) {
			all = append(all, l)
		}
	}
	return all
}

// expect is what one who asks alone gets from these tasks: a certain one, or any of some.
func expect(tasks []heapTask, open func(string) bool, turn uint64) (ids []int64) {
	tasks = slices.DeleteFunc(slices.Clone(tasks), func(t heapTask) bool { return !open(t.partition) })
	if len(tasks) == 0 {
		return nil
	}
	if turn%8 == 7 {
		return []int64{tasks[0].id}
	}
	best := slices.MinFunc(tasks, func(a, b heapTask) int { return cmp.Compare(a.priority, b.priority) }).priority
	var partitions []string
	for _, t := range tasks {
		if t.priority == best {
			partitions = append(partitions, t.partition)
		}
	}
	slices.Sort(partitions)
	partitions = slices.Compact(partitions)
	partition := partitions[(turn-turn/8)%uint64(len(partitions))]
	for _, t := range tasks {
		if t.priority == best && t.partition == partition {
			ids = append(ids, t.id)
		}
	}
	return ids
}

// Each of a group gets what it would get if they asked one after the other.
func TestADealerGivesWhatTheyWouldGetAlone(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 1))
		h := &heap{n: 1 + r.IntN(20)}
		for i := range r.IntN(40) {
			partition := fmt.Sprintf("source%d/works/HARVEST", r.IntN(5))
			h.tasks = append(h.tasks, heapTask{candidate{id: int64(i + 1), partition: partition}, 1 + r.IntN(3), i})
		}
		limit := int64(r.IntN(5))
		d := claimPicker{queue: h, lanes: h.lanes(), lost: newLoss(), doors: availability{configured: limit, running: map[string]int64{}}}
		shut := fmt.Sprintf("source%d", r.IntN(5))
		d.doors.gates = patra.AdmissionControls{{Target: patra.Target{Scope: patra.ScopeSource, Key: shut}, Kind: patra.KindPause, State: patra.Paused}}
		running := map[string]int64{}
		for p := range 5 {
			partition := fmt.Sprintf("source%d/works/HARVEST", p)
			running[partition] = int64(r.IntN(3))
			d.doors.running[partition] = running[partition]
		}
		open := func(partition string) bool {
			return partition != shut+"/works/HARVEST" && (limit == 0 || running[partition] < limit)
		}
		left := slices.Clone(h.tasks)
		first := r.Uint64N(100)
		for i := range h.n {
			turn := first + uint64(i)
			want := expect(left, open, turn)
			got, err := d.pickTask(turn)
			if err != nil {
				t.Fatal(err)
			}
			if got == nil {
				if want != nil {
					t.Fatalf("seed %d, turn %d: got nothing, and %v is there", seed, turn, want)
				}
				continue
			}
			if !slices.Contains(want, got.id) || got.limit != limit {
				t.Fatalf("seed %d, turn %d: got %+v of %v", seed, turn, *got, want)
			}
			running[got.partition]++
			left = slices.DeleteFunc(left, func(t heapTask) bool { return t.id == got.id })
		}
	}
}

// What has run out of its lease goes first, whoever asks, and no limit is asked for it.
func TestADealerGivesExpiredTasksFirst(t *testing.T) {
	const partition = "demo/works/HARVEST"
	h := &heap{n: 3, tasks: []heapTask{{candidate{id: 9, partition: partition}, 1, 0}}}
	d := claimPicker{queue: h, lanes: h.lanes(), lost: newLoss(), doors: availability{configured: 1, running: map[string]int64{partition: 1}},
		expired: []candidate{{id: 1, partition: partition}, {id: 2, partition: partition}, {id: 3, partition: partition}}}
	d.lost.tasks[1] = true
	for i, want := range []int64{2, 3, 0} {
		got, err := d.pickTask(uint64(i))
		if err != nil || (got == nil) != (want == 0) || got != nil && (got.id != want || got.limit != 0) {
			t.Errorf("%d: got %+v, %v", i, got, err)
		}
	}
}

// What the first look does not show of the oldest is looked for before a younger one is given.
func TestADealerLooksFurtherForTheOldest(t *testing.T) {
	h := &heap{n: 1}
	for i := range 60 {
		partition := "shut/works/HARVEST"
		if i == 50 {
			partition = "open/works/HARVEST"
		}
		h.tasks = append(h.tasks, heapTask{candidate{id: int64(i), partition: partition}, 5, i})
	}
	h.tasks = append(h.tasks, heapTask{candidate{id: 100, partition: "open/works/HARVEST"}, 1, 60})
	d := claimPicker{queue: h, lanes: h.lanes(), lost: newLoss(), doors: availability{running: map[string]int64{},
		gates: patra.AdmissionControls{{Target: patra.Target{Scope: patra.ScopeSource, Key: "shut"}, Kind: patra.KindPause, State: patra.Paused}}}}
	if got, err := d.pickTask(7); err != nil || got == nil || got.id != 50 {
		t.Errorf("got %+v, %v", got, err)
	}
}

// Whatever lanes a process expects, it finds those that are there; and asks once if they are as expected.
func TestLanesAreFoundWhateverIsExpected(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	some := func() (all []subqueue) {
		for p := range 4 {
			for priority := 1; priority < 4; priority++ {
				if r.IntN(3) == 0 {
					all = append(all, subqueue{string(rune('a' + p)), priority})
				}
			}
		}
		return all
	}
	for range 1000 {
		there, expected := some(), some()
		if r.IntN(4) == 0 {
			expected = there
		}
		due := map[subqueue]bool{}
		asked := 0
		ask := func(from []subqueue) (hops []nextSubqueue, err error) {
			asked++
			for _, l := range from {
				var h nextSubqueue
				for _, to := range there {
					if to.partition > l.partition || to.partition == l.partition && to.priority > l.priority {
						h = nextSubqueue{to, true, due[to]}
						break
					}
				}
				hops = append(hops, h)
			}
			return hops, nil
		}
		var want []subqueue
		for _, l := range there {
			if due[l] = r.IntN(2) == 0; due[l] {
				want = append(want, l)
			}
		}
		chain, got, err := follow(expected, ask)
		if err != nil || !slices.Equal(chain, there) || !slices.Equal(got, want) {
			t.Fatalf("found %v, due %v (%v); there are %v, due %v", chain, got, err, there, want)
		}
		if slices.Equal(there, expected) && asked != 1 {
			t.Fatalf("asked %d times", asked)
		}
	}
}

// What a group is expected to look into is what its dealer looks into, if nothing has changed.
func TestWhatADealerWantsIsForeseen(t *testing.T) {
	for seed := range uint64(1000) {
		r := rand.New(rand.NewPCG(seed, 3))
		h := &watched{heap: heap{n: 1 + r.IntN(20)}}
		for i := range 200 { // so many that no lane runs dry
			partition := fmt.Sprintf("source%d/works/HARVEST", r.IntN(3))
			h.tasks = append(h.tasks, heapTask{candidate{id: int64(i + 1), partition: partition}, 1 + r.IntN(2), i})
		}
		d := claimPicker{queue: h, lanes: h.lanes(), lost: newLoss(), doors: availability{running: map[string]int64{}}}
		first := r.Uint64N(100)
		var turns []uint64
		for i := range uint64(h.n) {
			turns = append(turns, first+i)
		}
		lanes, oldest := predictSubqueues(h.lanes(), turns)
		for _, turn := range turns {
			if _, err := d.pickTask(turn); err != nil {
				t.Fatal(err)
			}
		}
		if oldest != h.aged {
			t.Fatalf("seed %d: the oldest were looked for: %v, expected %v", seed, h.aged, oldest)
		}
		for _, l := range lanes {
			if !slices.Contains(h.looked, l) {
				t.Fatalf("seed %d: %v was not looked into", seed, l)
			}
		}
		// Who got one of the oldest may have emptied a lane of its partition, and then the dealer makes sure.
		for _, l := range h.looked {
			if !oldest && !slices.Contains(lanes, l) {
				t.Fatalf("seed %d: %v was looked into", seed, l)
			}
		}
	}
}

// watched is a heap that knows what was asked of it.
type watched struct {
	heap
	looked []subqueue
	aged   bool
}

func (w *watched) due(l subqueue) ([]int64, error) {
	w.looked = append(w.looked, l)
	return w.heap.due(l)
}

func (w *watched) oldest(most int) ([]candidate, error) {
	w.aged = true
	return w.heap.oldest(most)
}

// However many partitions there are, each has its turn: the claims that take the oldest are nobody's turn.
func TestEveryPartitionHasItsTurn(t *testing.T) {
	for n := 1; n <= 24; n++ {
		h := &heap{n: 1}
		for p := range n { // all that the first ones have is older
			for range 30 {
				h.tasks = append(h.tasks, heapTask{candidate{id: int64(len(h.tasks) + 1), partition: fmt.Sprintf("source%02d/works/HARVEST", p)}, 5, 0})
			}
		}
		got := map[string]int{}
		for turn := range uint64(8 * n) {
			d := claimPicker{queue: h, lanes: h.lanes(), lost: newLoss(), doors: availability{running: map[string]int64{}}}
			c, err := d.pickTask(turn)
			if err != nil || c == nil {
				t.Fatalf("%d partitions, turn %d: %+v, %v", n, turn, c, err)
			}
			got[c.partition]++
		}
		for p := range n {
			if partition := fmt.Sprintf("source%02d/works/HARVEST", p); got[partition] < 7 {
				t.Errorf("%d partitions: in %d turns %s has had %d", n, 8*n, partition, got[partition])
			}
		}
	}
}

// Where more than anybody looks at lies behind a shut door, what has the worst priority has its turn all the same.
func TestNothingStarvesBehindAShutDoor(t *testing.T) {
	const open = "open/works/HARVEST"
	h := &heap{n: 1}
	for i := range candidates {
		h.tasks = append(h.tasks, heapTask{candidate{id: int64(i + 1), partition: "shut/works/HARVEST"}, 1, i})
	}
	h.tasks = append(h.tasks, heapTask{candidate{id: 1000, partition: open}, 9, candidates}) // older than all that is to be had
	for i := range 100 {
		h.tasks = append(h.tasks, heapTask{candidate{id: int64(2000 + i), partition: open}, 1, candidates + 1 + i})
	}
	for turn := range uint64(32) {
		d := claimPicker{queue: h, lanes: h.lanes(), lost: newLoss(), doors: availability{running: map[string]int64{},
			gates: patra.AdmissionControls{{Target: patra.Target{Scope: patra.ScopeSource, Key: "shut"}, Kind: patra.KindPause, State: patra.Paused}}}}
		c, err := d.pickTask(turn)
		if err != nil || c == nil || c.partition != open {
			t.Fatalf("turn %d: %+v, %v", turn, c, err)
		}
		if c.id == 1000 {
			return
		}
	}
	t.Error("in 32 turns the oldest that is to be had was never given")
}
