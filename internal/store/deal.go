package store

import (
	"math/rand/v2"
	"slices"

	"patra"
)

// oldestEvery: each eighth claim takes the oldest due task whatever its priority, so that nothing starves.
const oldestEvery = 8

// subqueueTurn counts the turns of lanes only: those that take the oldest are no lane's turn. Else, of eight partitions, one would never
// have its own.
func subqueueTurn(turn uint64) uint64 { return turn - turn/oldestEvery }

// candidate is a task that may be taken.
type candidate struct {
	id        int64
	partition string
	limit     int64 // how many of its partition may run; 0 is any number
}

// pickedTask is a task that was chosen for somebody, and what came of it.
type pickedTask struct {
	asker *claimWaiter
	candidate
	running bool         // its lease has run out
	token   string       // of the new lease
	taken   *patra.Claim // in a transaction that is not over yet
	claim   *patra.Claim
}

// skippedTasks is what a group has found to be had by others since it began to look.
type skippedTasks struct {
	tasks      map[int64]bool
	partitions map[string]bool // that are full
}

func newLoss() skippedTasks { return skippedTasks{map[int64]bool{}, map[string]bool{}} }

func (l skippedTasks) add(p *pickedTask) { l.tasks[p.id] = true }

// claimPicker gives tasks to those who ask at the same moment: each gets what it would get if they asked one after the other.
type claimPicker struct {
	queue interface {
		oldest(most int) ([]candidate, error) // the first ones, whatever their priority
		due(subqueue) ([]int64, error)        // the first ones of a lane
		wanted() int
	}
	doors   availability
	lost    skippedTasks
	expired []candidate
	lanes   []subqueue

	dealt map[int64]bool
	given map[string]int64     // of each partition
	lists map[subqueue][]int64 // what is left of a lane that was looked at
	aged  []candidate          // the oldest, once they were looked at
	all   bool                 // and no more of them is to be had
	thin  map[string]bool      // partitions that gave one of the oldest: a lane of theirs may have had no other
}

// pickTask gives one task to whoever has this turn, or nil.
func (d *claimPicker) pickTask(turn uint64) (*candidate, error) {
	if d.dealt == nil {
		d.dealt, d.given, d.lists, d.thin = map[int64]bool{}, map[string]int64{}, map[subqueue][]int64{}, map[string]bool{}
		byPriority(d.lanes)
	}
	for _, c := range d.expired {
		if d.free(c.id) {
			return d.give(c), nil // it counts as running already, so no limit is asked
		}
	}
	if turn%oldestEvery == oldestEvery-1 {
		// The oldest may all lie behind a shut door, and then others are still to be had.
		if c, err := d.oldest(); err != nil || c != nil {
			return c, err
		}
		return d.anyLane(turn / oldestEvery)
	}
	return d.byTurn(subqueueTurn(turn))
}

func (d *claimPicker) free(id int64) bool { return !d.dealt[id] && !d.lost.tasks[id] }

func (d *claimPicker) give(c candidate) *candidate {
	d.dealt[c.id] = true
	return &c
}

// open reports whether one more of a partition may be dealt.
func (d *claimPicker) open(partition string) bool {
	if d.lost.partitions[partition] || d.doors.shut(partition) {
		return false
	}
	limit := d.doors.limit(partition)
	return limit <= 0 || d.doors.running[partition]+d.given[partition] < limit
}

// queued gives a task that is not running yet.
func (d *claimPicker) queued(id int64, partition string) *candidate {
	d.given[partition]++
	return d.give(candidate{id, partition, d.doors.limit(partition)})
}

// oldest gives the oldest task that is behind no shut door. Mostly it is among the first few.
func (d *claimPicker) oldest() (*candidate, error) {
	for most := min(d.queue.wanted()+spare, candidates); ; most = candidates {
		if d.aged == nil && !d.all {
			var err error
			if d.aged, err = d.queue.oldest(most); err != nil {
				return nil, err
			}
			d.all = most == candidates || len(d.aged) < most
		}
		for _, c := range d.aged {
			if d.free(c.id) && d.open(c.partition) {
				d.thin[c.partition] = true
				return d.queued(c.id, c.partition), nil
			}
		}
		if d.all {
			return nil, nil
		}
		d.aged = nil
	}
}

// anyLane gives a task of the lane whose turn it is, whatever its priority. So nothing starves where more tasks than anybody looks
// at are older and lie behind a shut door.
func (d *claimPicker) anyLane(turn uint64) (*candidate, error) {
	for i := range uint64(len(d.lanes)) {
		l := d.lanes[(turn+i)%uint64(len(d.lanes))]
		if !d.open(l.partition) {
			continue
		}
		id, found, err := d.next(l)
		if err != nil {
			return nil, err
		}
		if found {
			return d.queued(id, l.partition), nil
		}
	}
	return nil, nil
}

// byTurn gives a task of the best priority that there is: of the partitions that have one, from that whose turn it is. What others
// have taken since we looked is nobody's candidate, and then the next partition has its turn.
func (d *claimPicker) byTurn(turn uint64) (*candidate, error) {
	for from := 0; from < len(d.lanes); {
		to, best := from, d.lanes[from].priority
		var turns []subqueue
		for ; to < len(d.lanes) && d.lanes[to].priority == best; to++ {
			l := d.lanes[to]
			if !d.open(l.partition) {
				continue
			}
			empty, err := d.empty(l)
			if err != nil {
				return nil, err
			}
			if !empty {
				turns = append(turns, l)
			}
		}
		for i := range uint64(len(turns)) {
			l := turns[(turn+i)%uint64(len(turns))]
			id, found, err := d.next(l)
			if err != nil {
				return nil, err
			}
			if found {
				return d.queued(id, l.partition), nil
			}
		}
		from = to
	}
	return nil, nil
}

// empty reports whether nothing is left of a lane, as far as anybody has a reason to think so.
func (d *claimPicker) empty(l subqueue) (bool, error) {
	if _, looked := d.lists[l]; !looked && !d.thin[l.partition] {
		return false, nil
	}
	list, err := d.list(l)
	return !slices.ContainsFunc(list, d.free), err
}

// list is what is left of a lane.
func (d *claimPicker) list(l subqueue) ([]int64, error) {
	list, looked := d.lists[l]
	if looked {
		return list, nil
	}
	list, err := d.queue.due(l)
	if err != nil {
		return nil, err
	}
	rand.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	d.lists[l] = list
	return list, nil
}

// next takes a task from a lane.
func (d *claimPicker) next(l subqueue) (int64, bool, error) {
	list, err := d.list(l)
	if err != nil {
		return 0, false, err
	}
	for i, id := range list {
		if d.free(id) {
			d.lists[l] = list[i+1:]
			return id, true, nil
		}
	}
	d.lists[l] = nil
	return 0, false, nil
}
