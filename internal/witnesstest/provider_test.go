package witnesstest

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The kinds of paging.
const (
	byOffset   = "OFFSET"
	byPage     = "PAGE"
	byURL      = "URL"       // a page number behind a link
	byHidden   = "TOKEN_OFF" // an offset inside a token
	byKey      = "TOKEN_KEY" // the unique key of the row before
	byTies     = "TOKEN_TIE" // the time of the row before, strictly after
	bySnapshot = "SNAPSHOT"
	byTime     = "TIME"
)

// The orders of a list.
const (
	ascending = "ASC"   // by the time of the last change
	fixed     = "FIXED" // by a time that never changes
	free      = "NONE"  // a change may put a record anywhere
)

// state is a record at a moment.
type state struct {
	here bool
	at   time.Time // of its last change, which the window filters by
	sort int64     // its place in a list that is not in the order of the times
}

// move is what befalls a record.
type move struct {
	when time.Time
	id   int
	to   state
	what string
}

// view is a frozen list.
type view struct {
	ids    []int
	states []state
}

// rules say what may happen in a world.
type rules struct {
	rate              float64 // moves before each request
	changes, returns  bool
	copies            int
	lag               time.Duration // of the second copy
	unstable          bool          // the second copy orders ties differently
	clamp             int           // rows on a page at most; 0: as many as asked for
	surplus           float64       // share of the answers with a row from outside of the window
	short             float64       // share of the answers with fewer rows than there are
	ties              int           // records that may share a second
	until             time.Time     // when changes leave the window
	family            string
	disturbed, warped bool // something moves; pages are not what was asked for
}

// world is one window of a provider.
type world struct {
	seed   uint64
	day    time.Time
	paging string
	order  string
	total  string
	next   bool // PAGE: the answer says whether there is more
	rules
	rand    *rand.Rand
	first   []state // by id
	now     []state
	moves   []move
	last    time.Time // of the latest request
	clock   int64     // seconds after noon that changes have
	views   []view    // frozen lists
	tie     [2]map[int]uint64
	asked   int
	largest int
	limit   int // of moves
	fresh   bool
	faults  float64
}

func newWorld(seed uint64, day time.Time, c cell, size int) *world {
	w := &world{seed: seed, day: day, paging: c.paging, order: c.order, total: c.total, next: size%2 == 1, largest: size, limit: cmp.Or(c.limit, 60), fresh: c.fresh, faults: c.faults,
		rand: rand.New(rand.NewPCG(seed, 22))}
	w.rules = c.family(w.rand, seed, size)
	w.until = day.Add(24 * time.Hour)
	most := cmp.Or(c.most, 40)
	for range 1 + w.rand.IntN(most) {
		w.first = append(w.first, w.record())
	}
	w.now = slices.Clone(w.first)
	for r := range w.tie {
		w.tie[r] = map[int]uint64{}
	}
	return w
}

// record is a new one, in the first half of the day.
func (w *world) record() state {
	second := w.rand.Int64N(12 * 3600)
	if w.ties > 1 && w.rand.IntN(3) > 0 && len(w.now)+len(w.first) > 0 { // shares its second with another
		if other := w.first[w.rand.IntN(len(w.first))]; w.sharing(other.at) < w.ties {
			return state{true, other.at, w.rand.Int64N(4)}
		}
	}
	at := w.day.Add(time.Duration(second) * time.Second)
	for w.sharing(at) > 0 {
		at = at.Add(time.Second)
	}
	sort := int64(w.rand.Uint32())
	if w.unstable {
		sort = w.rand.Int64N(4)
	}
	return state{true, at, sort}
}

// sharing is how many records ever had a time.
func (w *world) sharing(at time.Time) (n int) {
	for _, s := range w.first {
		if s.at.Equal(at) {
			n++
		}
	}
	for _, m := range w.moves {
		if m.to.at.Equal(at) && m.what != "leaves" {
			n++
		}
	}
	return n
}

// live lets time pass until now.
func (w *world) live() {
	now := time.Now()
	if w.asked == 0 { // what came before is of no interest, but for what copies do not know yet
		w.last = now.Add(-2 * time.Minute)
		if w.fresh {
			w.last = w.until.Add(-15 * time.Minute)
		}
	}
	span := now.Sub(w.last)
	pause := 1 + int(span/(2*time.Minute))
	var times []time.Time
	for range min(pause, 8) {
		for w.rate > 0 && w.rand.Float64() < w.rate && len(w.moves)+len(times) < w.limit {
			times = append(times, w.last.Add(1+time.Duration(w.rand.Int64N(max(1, int64(span))))))
		}
	}
	slices.SortFunc(times, time.Time.Compare)
	for _, t := range times {
		if t.After(now) {
			t = now
		}
		w.moveOne(t)
	}
	w.last = now
}

func (w *world) moveOne(when time.Time) {
	var here, away []int
	for id, s := range w.now {
		switch {
		case s.here:
			here = append(here, id)
		case id < len(w.now):
			away = append(away, id)
		}
	}
	do := func(id int, to state, what string) {
		if id == len(w.now) {
			w.now = append(w.now, state{})
		}
		w.now[id] = to
		w.moves = append(w.moves, move{when, id, to, what})
	}
	switch k := w.rand.IntN(10); {
	case k < 4 && len(here) > 0:
		id := here[w.rand.IntN(len(here))]
		to := w.now[id]
		to.here = false
		do(id, to, "leaves")
	case k < 7:
		do(len(w.now), w.record(), "arrives")
	case w.changes && len(here) > 0:
		id := here[w.rand.IntN(len(here))]
		to := w.now[id]
		switch w.order {
		case ascending:
			w.clock++
			if to.at = w.day.Add(12*time.Hour + time.Duration(w.clock)*time.Second); w.fresh { // the window has an end
				to.at = when.Truncate(time.Second)
			}
		case fixed: // its place stays, whatever its time
			to.at = w.day.Add(time.Duration(w.rand.Int64N(24*3600)) * time.Second)
		default:
			to.sort = w.record().sort
			to.at = w.day.Add(time.Duration(w.rand.Int64N(24*3600)) * time.Second)
		}
		do(id, to, "changes")
	case w.returns && len(away) > 0:
		id := away[w.rand.IntN(len(away))]
		to := w.now[id]
		to.here = true
		do(id, to, "returns")
	}
}

// at is what a copy has at a moment.
func (w *world) at(copy int, when time.Time) []state {
	if copy > 0 {
		when = when.Add(-w.lag)
	}
	s := slices.Clone(w.first)
	for _, m := range w.moves {
		if m.when.After(when) {
			break
		}
		for m.id >= len(s) {
			s = append(s, state{})
		}
		s[m.id] = m.to
	}
	return s
}

func (w *world) tieOf(copy, id int) uint64 {
	if copy == 0 || !w.unstable {
		return uint64(id)
	}
	t, ok := w.tie[copy][id]
	if !ok {
		t = rand.New(rand.NewPCG(w.seed, uint64(id))).Uint64()
		w.tie[copy][id] = t
	}
	return t
}

// list is what a copy has of a stretch of time, in its order.
func (w *world) list(copy int, s []state, from, to time.Time) (ids []int) {
	for id, x := range s {
		if x.here && !x.at.Before(from) && x.at.Before(to) {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b int) int {
		return cmp.Or(cmp.Compare(w.key(s[a]), w.key(s[b])), cmp.Compare(w.tieOf(copy, a), w.tieOf(copy, b)))
	})
	return ids
}

// key is what the list is sorted by.
func (w *world) key(s state) int64 {
	if w.order == ascending {
		return s.at.Unix()
	}
	return s.sort
}

// answer is a page in the shape of the provider.
type answer struct {
	Items []item  `json:"items"`
	Total *int    `json:"total,omitempty"`
	Next  *string `json:"next,omitempty"`
}

type item struct {
	ID string `json:"id"`
	At string `json:"at,omitempty"`
}

func (w *world) name(id int) string { return fmt.Sprintf("%d-%d", w.seed, id) }

// serve answers a request.
func (w *world) serve(q url.Values) (answer, error) {
	w.live()
	w.asked++
	from, err := time.Parse(time.RFC3339, q.Get("from"))
	if err != nil {
		return answer{}, err
	}
	to, err := time.Parse(time.RFC3339, q.Get("to"))
	if err != nil {
		return answer{}, err
	}
	copy := 0
	if w.copies > 1 {
		copy = w.rand.IntN(2)
	}
	s := w.at(copy, time.Now())
	ids := w.list(copy, s, from, to)
	size, _ := strconv.Atoi(q.Get("size"))
	if w.clamp > 0 {
		size = min(size, w.clamp)
	}
	if q.Get("list") == "ids" {
		a := answer{Items: []item{}}
		for _, id := range ids {
			a.Items = append(a.Items, item{ID: w.name(id)})
		}
		return a, nil
	}
	begin, ids, token := w.begin(q, s, ids, size)
	if token := strings.Split(unpack(q.Get("token")), ":"); w.paging == bySnapshot && len(token) > 1 {
		frozen, _ := strconv.Atoi(token[1])
		s = w.views[frozen-1].states
	}
	n := min(size, max(0, len(ids)-begin))
	if n > 2 && w.short > 0 && w.rand.Float64() < w.short {
		n = 2 + w.rand.IntN(n-2)
	}
	rows := ids[min(begin, len(ids)):min(begin+n, len(ids))]
	a := answer{Items: []item{}, Total: w.count(len(ids))}
	for _, id := range rows {
		a.Items = append(a.Items, item{w.name(id), s[id].at.Format(time.RFC3339)})
	}
	if w.surplus > 0 && len(rows) > 0 && w.rand.Float64() < w.surplus {
		at := w.rand.IntN(len(a.Items) + 1)
		a.Items = slices.Insert(a.Items, at, item{fmt.Sprintf("%d-ghost%d", w.seed, w.asked), w.day.AddDate(0, -1, 0).Format(time.RFC3339)})
	}
	if more := begin+n < len(ids); more && len(rows) > 0 {
		next := token(begin+n, rows[len(rows)-1])
		a.Next = &next
	}
	return a, nil
}

// count is what the answer says there is.
func (w *world) count(n int) *int {
	switch w.total {
	case "ESTIMATE":
		n = max(0, n+w.rand.IntN(3)-1)
	case "NONE":
		return nil
	}
	return &n
}

// begin is the index of the first row that is asked for, in the list that it is an index of, and how the next position is said.
func (w *world) begin(q url.Values, s []state, ids []int, size int) (int, []int, func(end, last int) string) {
	num := func(name string) int { n, _ := strconv.Atoi(q.Get(name)); return n }
	token := strings.Split(unpack(q.Get("token")), ":")
	arg := func(i int) int64 {
		if i >= len(token) {
			return 0
		}
		n, _ := strconv.ParseInt(token[i], 10, 64)
		return n
	}
	switch w.paging {
	case byOffset:
		return num("offset"), ids, func(int, int) string { return "" }
	case byPage:
		return (max(1, num("page")) - 1) * size, ids, func(int, int) string { return "more" }
	case byURL:
		page := max(1, num("page"))
		return (page - 1) * size, ids, func(int, int) string { return fmt.Sprintf("/?page=%d", page+1) }
	case byHidden:
		return int(arg(0)), ids, func(end, _ int) string { return pack(end) }
	case bySnapshot:
		frozen := int(arg(1)) - 1
		if frozen < 0 {
			w.views = append(w.views, view{ids, s})
			frozen = len(w.views) - 1
		}
		return int(arg(0)), w.views[frozen].ids, func(end, _ int) string { return pack(end, frozen+1) }
	case byKey:
		i := 0
		for len(token) > 1 && i < len(ids) && cmp.Or(cmp.Compare(w.key(s[ids[i]]), arg(0)), cmp.Compare(ids[i], int(arg(1)))) <= 0 {
			i++
		}
		return i, ids, func(_, last int) string { return pack(w.key(s[last]), last) }
	case byTies:
		i := 0
		for len(token) > 1 && i < len(ids) && w.key(s[ids[i]]) <= arg(0) {
			i++
		}
		return i, ids, func(_, last int) string { return pack(w.key(s[last]), 0) }
	}
	return 0, ids, func(int, int) string { return "" } // TIME: the window begins later
}

func pack(values ...any) string {
	parts := make([]string, len(values))
	for i, v := range values {
		parts[i] = fmt.Sprint(v)
	}
	return base64.RawURLEncoding.EncodeToString([]byte(strings.Join(parts, ":")))
}

func unpack(token string) string {
	b, _ := base64.RawURLEncoding.DecodeString(token)
	return string(b)
}

// truth is what was in a stretch of time at every copy from the first until the last of two moments.
func (w *world) truth(from, to time.Time, first, last time.Time) map[int]bool {
	inside := func(s state) bool { return s.here && !s.at.Before(from) && s.at.Before(to) }
	all := map[int]bool{}
	for copy := range max(1, w.copies) {
		begin, end := first, last
		if copy > 0 {
			begin, end = first.Add(-w.lag), last.Add(-w.lag)
		}
		here := map[int]bool{}
		for id, s := range w.at(0, begin) {
			here[id] = inside(s)
		}
		for _, m := range w.moves {
			if m.when.After(begin) && !m.when.After(end) && !inside(m.to) {
				here[m.id] = false
			}
		}
		if copy == 0 {
			all = here
		}
		for id := range all {
			all[id] = all[id] && here[id]
		}
	}
	for id, here := range all {
		if !here {
			delete(all, id)
		}
	}
	return all
}

// plain is how many requests a walk takes that proves nothing.
func (w *world) plain() int {
	pages := (len(w.first) + w.largest - 1) / w.largest
	if w.paging == byOffset || w.paging == byPage && !w.next || w.paging == byTime { // the end is an empty page, or the last stretch once more
		pages++
	}
	return max(1, pages)
}

// story tells what happened.
func (w *world) story() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d, %s, %s, total %s, %s, %d records, pages of %d:", w.seed, w.paging, w.order, w.total, w.family, len(w.first), w.largest)
	for _, id := range w.list(0, w.first, w.day, w.until) {
		fmt.Fprintf(&b, " %d@%s", id, w.first[id].at.Format("15:04:05"))
	}
	for _, m := range w.moves {
		fmt.Fprintf(&b, "\n  %s: %d %s (%s)", m.when.Format("15:04:05"), m.id, m.what, m.to.at.Format("15:04:05"))
	}
	return b.String()
}

// lab has the worlds of a cell, and is the way out to them.
type lab struct {
	worlds map[string]map[time.Time]*world // by host and day
}

// RoundTrip implements http.RoundTripper.
func (l *lab) RoundTrip(r *http.Request) (*http.Response, error) { return direct{l}.RoundTrip(r) }

// direct is a way out that ends at a handler.
type direct struct{ http.Handler }

// RoundTrip implements http.RoundTripper.
func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body == nil {
		r.Body = http.NoBody
	}
	rec := httptest.NewRecorder()
	d.ServeHTTP(rec, r)
	res := rec.Result()
	res.Request = r
	return res, nil
}

// ServeHTTP implements http.Handler.
func (l *lab) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	from, err := time.Parse(time.RFC3339, q.Get("from"))
	if err != nil {
		http.Error(rw, err.Error(), http.StatusBadRequest)
		return
	}
	w := l.worlds[r.URL.Hostname()][from.Truncate(24*time.Hour)]
	if w == nil {
		http.Error(rw, "there is no such day", http.StatusBadRequest)
		return
	}
	time.Sleep(time.Duration(1+w.rand.IntN(8)) * time.Second)
	a, err := w.serve(q)
	if err != nil {
		http.Error(rw, err.Error(), http.StatusBadRequest)
		return
	}
	if w.rand.Float64() < w.faults {
		http.Error(rw, "the answer is lost", http.StatusServiceUnavailable)
		return
	}
	rw.Header().Set("Content-Type", "application/json")
	json.NewEncoder(rw).Encode(a)
}
