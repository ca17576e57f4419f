package archive_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"patra"
	"patra/internal/archive"
	"patra/internal/blob"
	"patra/internal/store/storetest"
)

// A quota that somebody names later counts what was sent in its window also where that is in the archive by now, and so does
// whoever reports how many requests left.
func TestWhatWasSentIsStillCounted(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e storetest.Engine) {
		w := newWorld(t, e)
		now := w.Clock.Instant()
		var cost, sent, left int64
		db := storetest.Inspect(t, w.URL)
		count := func() {
			t.Helper()
			if err := db.QueryRow(`SELECT COALESCE(SUM(CASE WHEN finished_at IS NULL THEN 0 ELSE cost END), 0), COUNT(sent_at) FROM ing_request WHERE gate_key = 'demo'`).Scan(&cost, &left); err != nil {
				t.Fatal(err)
			}
		}
		count()
		all := cost
		sent = left
		if done, err := w.Run(t.Context(), now, now.Add(time.Second)); err != nil || done.Requests == 0 {
			t.Fatal(done, err)
		}
		if count(); cost == all {
			t.Fatal("nothing was archived")
		}
		if err := w.ChargeQuota(t.Context(), "demo", patra.QuotaLimit{Monthly: 10_000}, patra.QuotaCharge{Cost: 1, Share: 1}); err != nil {
			t.Fatal(err)
		}
		uses, err := w.QuotaOf(t.Context(), "demo")
		if i := slices.IndexFunc(uses, func(u patra.QuotaUse) bool { return u.Window == patra.QuotaMonth }); err != nil || i < 0 || uses[i].Used != all+1 {
			t.Errorf("%d were sent and one more, and the month has %+v, %v", all, uses, err)
		}
		n, until, err := w.SentArchived(t.Context(), "demo", now-patra.Day, now+1)
		if err != nil || n != sent-left || until < now || until > now+patra.Hour {
			t.Errorf("%d of %d are in the archive until %s, %v; want %d", n, sent, until, err, sent-left)
		}
		if n, _, err := w.SentArchived(t.Context(), "demo", now+2*patra.Hour, now+patra.Day); err != nil || n != 0 {
			t.Errorf("%d are in the archive of a time that is not yet, %v", n, err)
		}
		if _, err := db.Exec(`DELETE FROM ing_request`); err != nil {
			t.Fatal(err)
		}
		if keys, err := w.RequestKeys(t.Context()); err != nil || !slices.Contains(keys, "demo") {
			t.Errorf("the keys are %q, %v", keys, err)
		}
	})
}

// A page whose answer is kept is found when the answers of its source are checked, also from the archive, for as long as the
// answer is kept.
func TestKeptAnswersAreStillFound(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e storetest.Engine) {
		w := storetest.NewWorld(t, e, 1)
		place, err := blob.OpenFiles(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		c := w.Take()
		kept := patra.StoredBody{Body: patra.HashBytes([]byte("kept")), Stored: patra.HashBytes([]byte("kept")), Codec: patra.CodecZstd, Location: "bodies/x", Keep: time.Hour}
		page, err := w.OpenAt(c, 1, c.Task.ScanNo, 1)
		must(err)
		res := w.Result(true, w.Record("1", storetest.Origin, "one"))
		res.BodySHA256, res.Kept = kept.Body, &kept
		_, _, err = w.CommitPage(t.Context(), c, w.Clock.Instant(), "work", page, res, nil)
		must(err)
		unwanted, err := w.OpenAt(c, 2, c.Task.ScanNo, 2)
		must(err)
		res = w.Result(false, w.Record("2", storetest.Origin, "two"))
		res.BodySHA256, res.Kept = patra.HashBytes([]byte("not kept")), nil
		_, _, err = w.CommitPage(t.Context(), c, w.Clock.Instant(), "work", unwanted, res, nil)
		must(err)
		must(w.Succeed(c, patra.StateSealed))

		found := func(source string, since patra.Instant) (n int) {
			t.Helper()
			must(w.Bodies(t.Context(), source, since, func(patra.StoredBody, patra.Instant) error { n++; return nil }))
			return n
		}
		missing := func() (wanted, notWanted []int64) {
			t.Helper()
			must(w.PagesWithoutBody(t.Context(), c.Task.Source, 0, func(b patra.Batch, want bool) error {
				if want {
					wanted = append(wanted, b.ID)
				} else {
					notWanted = append(notWanted, b.ID)
				}
				return nil
			}))
			return wanted, notWanted
		}
		if wanted, notWanted := missing(); len(wanted) != 0 || !slices.Equal(notWanted, []int64{unwanted.BatchID}) {
			t.Errorf("%v are missing, %v are not kept", wanted, notWanted)
		}
		now := w.Clock.Instant()
		x := &archive.Archiver{Store: w.Store, Place: place}
		if done, err := x.Run(t.Context(), now, now.Add(time.Second)); err != nil || done.Pages != 2 {
			t.Fatal(done, err)
		}
		if found(c.Task.Source, 0) != 1 || found("", now) != 1 || found("other", 0) != 0 || found("", now+1) != 0 {
			t.Error("the answer of an archived page is not found by its source and time")
		}
		if pages, err := w.PagesWith(t.Context(), kept.Body); err != nil || len(pages) != 1 || pages[0].ID != page.BatchID || pages[0].BatchNo != 1 || pages[0].Source != c.Task.Source {
			t.Errorf("it belongs to %+v, %v", pages, err)
		}
		if wanted, notWanted := missing(); len(wanted)+len(notWanted) != 0 {
			t.Errorf("%v are missing, %v are not kept", wanted, notWanted)
		}

		db := storetest.Inspect(t, w.URL)
		if _, err := db.Exec(`UPDATE ing_evidence SET body_sha256 = 'lost'`); err != nil {
			t.Fatal(err)
		}
		if wanted, _ := missing(); !slices.Equal(wanted, []int64{page.BatchID}) {
			t.Errorf("the answer of an archived page is gone, and %v are missing", wanted)
		}
		if _, err := db.Exec(`UPDATE ing_evidence SET body_sha256 = ?`, kept.Body); err != nil {
			t.Fatal(err)
		}
		if names, err := w.ExpireBodies(t.Context(), now.Add(2*time.Hour)); err != nil || len(names) != 1 {
			t.Fatal(names, err)
		}
		if wanted, _ := missing(); len(wanted) != 0 {
			t.Errorf("its time is over, and %v are missing", wanted)
		}
		if _, err := x.Restore(t.Context(), "task", c.TaskID); err != nil && !errors.Is(err, patra.ErrNotFound) {
			t.Error(err)
		}
		if broken, err := w.Verify(t.Context(), nil); err != nil || len(broken) > 0 {
			t.Errorf("broken: %+v, %v", broken, err)
		}
	})
}
