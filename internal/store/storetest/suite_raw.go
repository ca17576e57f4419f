package storetest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"patra"
	"patra/internal/store"
	"patra/internal/zstdchunks"
)

// kept is a page as a provider sends it, with works that have the given raw content, kept as whoever reads pages keeps them.
func (w *World) kept(hasNext bool, works map[string]string) patra.PageResult {
	var body bytes.Buffer
	ends := map[string][2]int{}
	body.WriteString(`{"items":[`)
	for id, raw := range works {
		start := body.Len()
		body.WriteString(raw)
		ends[id] = [2]int{start, body.Len()}
		body.WriteByte(',')
	}
	body.WriteString("]}")
	res := w.Result(hasNext)
	res.Raw.Body = body.Bytes()
	_, res.Raw.Pieces = zstdchunks.Pack(res.Raw.Body)
	for id := range works {
		o := w.Record(id, w.Clock.Instant(), works[id])
		o.Raw = res.Raw.Body[ends[id][0]:ends[id][1]]
		res.Records = append(res.Records, o)
	}
	return res
}

// give commits a page as it was sent.
func (w *World) give(c *patra.Claim, ordinal int64, res patra.PageResult) {
	w.T.Helper()
	page, err := w.OpenAt(c, ordinal, c.Task.ScanNo, ordinal)
	w.must(err)
	_, _, err = w.CommitPage(w.T.Context(), c, w.Clock.Instant(), "work", page, res, nil)
	w.must(err)
}

// work is raw content of some size, seldom more than a piece.
func work(dice *rand.Rand, id string, version int) string {
	size := dice.IntN(9000)
	if dice.IntN(40) == 0 {
		size = dice.IntN(3 * patra.PieceSize)
	}
	return fmt.Sprintf(`{"id":%q,"version":%d,"text":%q}`, id, version, strings.Repeat(fmt.Sprintf("%d %x ", version, dice.Uint32()), size/10))
}

// Whatever a provider sent comes back as it was, from whichever page it lies in, as often as that changes; and of the pages only
// those pieces are kept that somebody needs.
func rawContent(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	c := w.Take()
	dice := rand.New(rand.NewPCG(7, 11))
	is := map[string]string{}
	for ordinal := range int64(12) {
		w.Clock.Move(time.Second)
		works := map[string]string{}
		part := []int{1, 2, 30}[dice.IntN(3)] // most of the page is new, or half, or hardly anything
		for i := range 120 {
			id := fmt.Sprint(dice.IntN(400))
			if works[id] = is[id]; works[id] == "" || i%part == 0 {
				works[id] = work(dice, id, int(ordinal))
			}
		}
		w.give(c, ordinal+1, w.kept(true, works))
		for id, raw := range works {
			is[id] = raw
		}
		w.same(is)
		if found, err := w.Verify(t.Context(), nil); err != nil || len(found) > 0 {
			t.Fatalf("%+v, %v", found, err)
		}
	}
	db := Inspect(t, w.URL)
	count := func(query string) (n int64) {
		w.must(db.QueryRow(query).Scan(&n))
		return n
	}
	if pages := count("SELECT COUNT(DISTINCT batch_id) FROM ing_record WHERE raw_from IS NOT NULL"); pages < 2 {
		t.Errorf("the records lie in %d pages", pages)
	}
	if rows := count("SELECT COUNT(*) FROM ing_record WHERE raw_from IS NULL"); rows == 0 {
		t.Error("no record has its raw content itself")
	}
	// Everything changes: what nobody needs any more is gone.
	w.Clock.Move(time.Second)
	for id := range is {
		is[id] = work(dice, id, 99)
	}
	res := w.kept(true, is)
	w.give(c, 13, res)
	w.same(is)
	if found, err := w.Verify(t.Context(), nil); err != nil || len(found) > 0 {
		t.Errorf("%+v, %v", found, err)
	}
	if n := count("SELECT COUNT(*) FROM ing_raw_piece"); n != int64(len(res.Raw.Pieces)) {
		t.Errorf("%d pieces are kept of %d that are needed", n, len(res.Raw.Pieces))
	}
}

// same sees that the raw content of all records is what was sent, by every way that leads to it.
func (w *World) same(is map[string]string) {
	w.T.Helper()
	n := 0
	check := func(r patra.Record) error {
		n++
		if string(r.Raw) != is[r.ProviderID] {
			return errors.New("record " + r.ProviderID + " has other raw content")
		}
		return nil
	}
	w.must(w.Records(w.T.Context(), "", check))
	w.must(w.Find(w.T.Context(), store.RecordQuery{}, check))
	if n != 2*len(is) {
		w.T.Fatalf("%d of twice %d", n, len(is))
	}
	for id := range is {
		r, err := w.Store.Record(w.T.Context(), "demo", "work", id)
		w.must(err)
		w.must(check(*r))
		break
	}
}

// Whoever reads while records are replaced sees each as it was at some moment, and never a record whose page is gone.
func rawWhileReplaced(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	c := w.Take()
	works := map[string]string{}
	fill := func(version int) {
		for i := range 60 {
			works[fmt.Sprint(i)] = fmt.Sprintf(`{"version":%d,"text":%q}`, version, strings.Repeat(fmt.Sprint(version, " "), 3000))
		}
	}
	fill(0)
	w.give(c, 1, w.kept(true, works))
	var group errgroup.Group
	done := make(chan struct{})
	for range 3 {
		group.Go(func() error {
			for {
				select {
				case <-done:
					return nil
				default:
				}
				err := w.Records(t.Context(), "", func(r patra.Record) error {
					var said struct {
						Version int
						Text    string
					}
					if err := json.Unmarshal(r.Raw, &said); err != nil || !strings.HasPrefix(said.Text, fmt.Sprint(said.Version)) {
						return fmt.Errorf("record %s: %w", r.ProviderID, err)
					}
					return nil
				})
				if err != nil {
					return err
				}
			}
		})
	}
	for version := range 30 {
		w.Clock.Move(time.Millisecond)
		fill(version + 1)
		w.give(c, int64(version+2), w.kept(true, works))
	}
	close(done)
	if err := group.Wait(); err != nil {
		t.Error(err)
	}
}

// A piece that is damaged or gone is said, and nothing else is given in its place.
func rawDamaged(t *testing.T, e Engine) {
	for name, damage := range map[string]string{
		"gone": "DELETE FROM ing_raw_piece", "another": "UPDATE ing_raw_piece SET body = 'no zstd'", "cut off": "UPDATE ing_record SET raw_size = raw_size + 1000000",
	} {
		w := NewWorld(t, e, 1)
		w.give(w.Take(), 1, w.kept(true, map[string]string{"1": `{"text":"a text"}`}))
		exec(t, Inspect(t, w.URL), damage)
		err := w.Records(t.Context(), "", func(r patra.Record) error { return fmt.Errorf("given: %s", r.Raw) })
		if err == nil || strings.HasPrefix(err.Error(), "given") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A record that lies in many pieces needs those in the middle, too, and whoever looks is told that it misses one.
func rawHole(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	w.give(w.Take(), 1, w.kept(true, map[string]string{"1": strings.Repeat("many words ", 4*patra.PieceSize/11)}))
	exec(t, Inspect(t, w.URL), "DELETE FROM ing_raw_piece WHERE id % 65536 = 2")
	found, err := w.Verify(t.Context(), nil)
	w.must(err)
	if !slices.ContainsFunc(found, func(v patra.Violation) bool { return v.Promise == "the raw content of a record is there" }) {
		t.Errorf("%+v", found)
	}
}

// Two slices bring the same new records at the same moment: both are written, and each record is stored once.
func sameNews(t *testing.T, e Engine) {
	w := NewWorld(t, e, 2)
	claims := []*patra.Claim{w.Take(), w.Take()}
	const n = 150
	for ordinal := int64(1); ordinal <= 6; ordinal++ {
		var group errgroup.Group
		counts := make([]patra.Counts, len(claims))
		for i, c := range claims {
			page, err := w.OpenAt(c, ordinal, c.Task.ScanNo, ordinal)
			w.must(err)
			res := w.Result(true)
			for j := range n {
				res.Records = append(res.Records, w.Record(fmt.Sprint(ordinal, "-", j), Origin, "the same"))
			}
			group.Go(func() (err error) {
				counts[i], _, err = w.CommitPage(t.Context(), c, w.Clock.Instant(), "work", page, res, nil)
				return err
			})
		}
		w.must(group.Wait())
		if a, b := counts[0], counts[1]; a.Insert+b.Insert != n || a.Same+b.Same != n {
			t.Fatalf("%+v, %+v", a, b)
		}
	}
}

// Several slices replace the same records at the same moment, on pages that are partly new: every piece counts right, and everything
// can be read.
func rawTogether(t *testing.T, e Engine) {
	const workers, works = 3, 60
	w := NewWorld(t, e, workers)
	var claims []*patra.Claim
	for range workers {
		claims = append(claims, w.Take())
	}
	dice := rand.New(rand.NewPCG(3, 5))
	for ordinal := int64(1); ordinal <= 5; ordinal++ {
		w.Clock.Move(time.Second)
		var group errgroup.Group
		for i, c := range claims {
			page, err := w.OpenAt(c, ordinal, c.Task.ScanNo, ordinal)
			w.must(err)
			brings := map[string]string{}
			for range works {
				id := fmt.Sprint(dice.IntN(3 * works))
				brings[id] = work(dice, id, int(ordinal)*workers+i)
			}
			res := w.kept(true, brings)
			for j := range res.Records { // none is newer than the others for certain
				at := w.Clock.Instant() + patra.Instant(dice.IntN(3))
				res.Records[j].UpdatedAt = &at
			}
			group.Go(func() error {
				_, _, err := w.CommitPage(t.Context(), c, w.Clock.Instant(), "work", page, res, nil)
				return err
			})
		}
		w.must(group.Wait())
		if found, err := w.Verify(t.Context(), nil); err != nil || len(found) > 0 {
			t.Fatalf("%+v, %v", found, err)
		}
	}
	n := 0
	w.must(w.Records(t.Context(), "", func(r patra.Record) error {
		var said struct{ ID string }
		if err := json.Unmarshal(r.Raw, &said); err != nil || said.ID != r.ProviderID {
			return fmt.Errorf("record %s has the raw content of %q, %w", r.ProviderID, said.ID, err)
		}
		n++
		return nil
	}))
	if n == 0 {
		t.Error("nothing is stored")
	}
}
