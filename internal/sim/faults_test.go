package sim

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func TestProfiles(t *testing.T) {
	for _, name := range []string{"none", "mild", "rough"} {
		f, err := Profile(name)
		if err != nil || (f == Faults{}) != (name == "none") {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
	}
	if _, err := Profile("rogue"); err == nil {
		t.Error("an unknown profile has no error")
	}
}

func TestFatesAreDrawnFromSeedAndNumber(t *testing.T) {
	f := Faults{ServerError: 0.1, Throttle: 0.1, CutBody: 0.1, Reset: 0.1, ExpireToken: 0.1}
	seen, same := map[fault]int{}, 0
	for n := range uint64(10_000) {
		if again := f.fate(1, n); again != f.fate(1, n) || (Faults{}).fate(1, n) != faultNone {
			t.Fatal("fates are not a function of seed and number, or fire at no probability")
		}
		seen[f.fate(1, n)]++
		if f.fate(1, n) == f.fate(2, n) {
			same++
		}
	}
	for _, want := range []fault{faultThrottle, faultError, faultExpire, faultReset, faultCut} {
		if seen[want] < 500 || seen[want] > 1100 {
			t.Errorf("%s fired %d times in 10,000", want, seen[want])
		}
	}
	if same > 6000 {
		t.Errorf("two seeds agree on %d of 10,000 requests", same)
	}
}

// outcome is what a request to a faulty server met, and the page that a request without faults then got.
type outcome struct {
	*Server // the faulty one
	res     *http.Response
	err     error
	next    []string // ids; nil if that request failed too
}

// broken opens a scroll of five works a page, sends the second request over a real connection to a faulty server and
// the third to a calm one that shares the faulty one's scrolls.
func broken(t *testing.T, f Faults) outcome {
	t.Helper()
	c := small(5)
	calm := New(c)
	c.Faults = f
	o := outcome{Server: New(c)}
	o.crossref = calm.crossref
	token := open(t, calm.Handler(), "5").next()
	web := httptest.NewServer(o.Handler())
	t.Cleanup(web.Close)
	// On a connection used before, the client's transport would repeat a lost GET by itself.
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	o.res, o.err = client.Get(web.URL + worksURL("cursor", token))
	if o.err == nil {
		t.Cleanup(func() { o.res.Body.Close() })
	}
	if w := do(calm.Handler(), worksURL("cursor", token)); w.Code == http.StatusOK {
		o.next = decodePage(t, w).ids(t)
	}
	return o
}

func (o outcome) wantNext(t *testing.T, number int) {
	t.Helper()
	if want := ids(truth(o.Server, 5))[number*5-5 : number*5]; !slices.Equal(o.next, want) {
		t.Errorf("the next page is %v, want page %d: %v", o.next, number, want)
	}
}

func TestServerErrorConsumesNothing(t *testing.T) {
	o := broken(t, Faults{ServerError: 1})
	if o.err != nil || o.res.StatusCode != http.StatusServiceUnavailable || o.res.Header.Get("Content-Type") != "text/html" {
		t.Fatalf("%v %v", o.res, o.err)
	}
	o.wantNext(t, 2)
	if o.Stats().ServerErrors != 1 {
		t.Errorf("%+v", o.Stats())
	}
}

func TestThrottleConsumesNothing(t *testing.T) {
	o := broken(t, Faults{Throttle: 1})
	if o.err != nil || o.res.StatusCode != http.StatusTooManyRequests || !o.res.Close {
		t.Fatalf("%v %v", o.res, o.err)
	}
	o.wantNext(t, 2)
	if o.Stats().Throttled != 1 || o.Stats().RateLimited != 0 {
		t.Errorf("%+v", o.Stats())
	}
}

func TestCutBodyHasConsumedThePage(t *testing.T) {
	o := broken(t, Faults{CutBody: 1})
	if o.err != nil || o.res.StatusCode != http.StatusOK {
		t.Fatalf("%v %v", o.res, o.err)
	}
	body, err := io.ReadAll(o.res.Body)
	if !errors.Is(err, io.ErrUnexpectedEOF) || len(body) == 0 {
		t.Errorf("read %d bytes, error %v", len(body), err)
	}
	o.wantNext(t, 3)
	if o.Stats().CutBodies != 1 || o.Stats().Pages != 0 || o.Stats().Items != 0 {
		t.Errorf("%+v", o.Stats())
	}
}

func TestResetHasConsumedThePage(t *testing.T) {
	o := broken(t, Faults{Reset: 1})
	if o.err == nil {
		t.Fatalf("an answer: %v", o.res)
	}
	o.wantNext(t, 3)
	if o.Stats().Resets != 1 {
		t.Errorf("%+v", o.Stats())
	}
}

func TestExpireTokenForgetsTheScroll(t *testing.T) {
	o := broken(t, Faults{ExpireToken: 1})
	if o.err != nil || o.res.StatusCode != http.StatusNotFound || o.next != nil {
		t.Fatalf("%v %v, then %v", o.res, o.err, o.next)
	}
	if o.Stats().Expired != 1 || o.Stats().OpenScrolls != 0 {
		t.Errorf("%+v", o.Stats())
	}
}

func TestExpireTokenNeedsACursor(t *testing.T) {
	c := small(5)
	c.Faults = Faults{ExpireToken: 1}
	s := New(c)
	open(t, s.Handler(), "5")
	get(t, s.Handler(), "rows", "5")
	if s.Stats().Expired != 0 || s.Stats().Pages != 2 {
		t.Errorf("%+v", s.Stats())
	}
}

func TestLatencyDelaysEveryAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := small(5)
		c.Faults.Latency = 3 * time.Second
		began := time.Now()
		get(t, New(c).Handler())
		if waited := time.Since(began); waited != 3*time.Second {
			t.Errorf("waited %s", waited)
		}
	})
}

// A whole walk under the roughest faults, with one client that starts again after every loss: two runs of one seed
// see the same faults, and every work arrives.
func TestARoughWalkIsRepeatable(t *testing.T) {
	c := small(20)
	c.Faults, _ = Profile("rough")
	c.Faults.Latency = 0
	first, second := New(c), New(c)
	got := roughWalk(t, first)
	roughWalk(t, second)
	if !reflect.DeepEqual(first.Stats(), second.Stats()) {
		t.Errorf("%+v\n%+v", first.Stats(), second.Stats())
	}
	if want := ids(truth(first, 20)); !slices.Equal(got, want) {
		t.Errorf("%d works, want %d", len(got), len(want))
	}
	if st := first.Stats(); st.Throttled*st.ServerErrors*st.Resets*st.CutBodies == 0 {
		t.Errorf("some fault never fired: %+v", st)
	}
}

// roughWalk walks all days again and again, a few works at a time, until one walk meets no loss.
func roughWalk(t *testing.T, s *Server) []string {
	for range 10_000 {
		if got, whole := tryWalk(t, s); whole {
			return got
		}
	}
	t.Fatal("no walk was whole")
	return nil
}

func tryWalk(t *testing.T, s *Server) (got []string, whole bool) {
	cursor := "*"
	for {
		w, arrived := tryDo(s.Handler(), worksURL("rows", "15", "cursor", cursor, "sort", asc, "order", "asc"))
		switch {
		case !arrived || w.Code == http.StatusNotFound:
			return nil, false
		case w.Code != http.StatusOK:
			continue
		}
		p := decodePage(t, w)
		if len(p.Message.Items) == 0 {
			return got, true
		}
		got, cursor = append(got, p.ids(t)...), p.next()
	}
}

// tryDo tells whether the answer arrived whole; the server breaks a connection by a panic of its own.
func tryDo(h http.Handler, target string) (w *httptest.ResponseRecorder, arrived bool) {
	defer func() {
		if e := recover(); e != nil && e != any(http.ErrAbortHandler) {
			panic(e)
		}
	}()
	return do(h, target), true
}
