package sim

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

const asc = "indexed"

// open starts a scroll in ascending order and gives its first page.
func open(t testing.TB, h http.Handler, rows string, pairs ...string) page {
	t.Helper()
	return get(t, h, append([]string{"rows", rows, "sort", asc, "order", "asc", "cursor", "*"}, pairs...)...)
}

func TestScrollGivesEveryWorkOnceByteForByte(t *testing.T) {
	c := small(10)
	c.Exact, c.PerDay = false, 37
	s := New(c)
	want := truth(s, 10)
	p := open(t, s.Handler(), "25")
	token, n := p.next(), 0
	for len(p.Message.Items) > 0 {
		if p.Message.Total != len(want) || p.next() != token {
			t.Fatalf("page at %d: total %d, want %d; same token: %v", n, p.Message.Total, len(want), p.next() == token)
		}
		for _, raw := range p.Message.Items {
			if string(raw) != string(want[n].JSON) {
				t.Fatalf("item %d:\n%s\nwant\n%s", n, raw, want[n].JSON)
			}
			n++
		}
		p = get(t, s.Handler(), "rows", "25", "cursor", token)
	}
	if n != len(want) || p.next() != token {
		t.Errorf("walked %d of %d works; token after the end: %q", n, len(want), p.next())
	}
	if p = get(t, s.Handler(), "cursor", token); len(p.Message.Items) != 0 {
		t.Error("works after the end")
	}
}

func TestTokensAreLongUnlikeAndMustBeEncoded(t *testing.T) {
	s := New(small(5))
	a, b := open(t, s.Handler(), "3").next(), open(t, s.Handler(), "3").next()
	if a == b || len(a) < 300 || !strings.Contains(a, "+") || !strings.Contains(a, "/") || !strings.HasSuffix(a, "=") {
		t.Errorf("tokens %q and %q", a, b)
	}
	if w := do(s.Handler(), "/works?rows=3&cursor="+a); w.Code != http.StatusNotFound {
		t.Errorf("a token with bare plus signs: %d", w.Code)
	}
	if w := do(s.Handler(), "/works?rows=3&cursor="+url.QueryEscape(a)); w.Code != http.StatusOK {
		t.Errorf("an encoded token: %d", w.Code)
	}
}

func TestTokensOfAnEarlierLifeDoNotFit(t *testing.T) {
	c, now := small(5), newClock()
	c.Now = now.now
	before := open(t, New(c).Handler(), "3").next()
	now.pass(time.Second)
	s := New(c)
	open(t, s.Handler(), "3")
	wantInvalid(t, s, before)
}

func TestAScrollIsBoundToItsBeginning(t *testing.T) {
	s := New(small(5))
	p := open(t, s.Handler(), "4", "filter", "from-index-date:2024-01-02,until-index-date:2024-01-02")
	p = get(t, s.Handler(), "rows", "9", "filter", "from-index-date:2024-01-05", "sort", asc, "order", "desc", "cursor", p.next())
	if want := ids(truth(s, 5))[14:18]; !slices.Equal(p.ids(t), want) || p.Message.Total != 10 {
		t.Errorf("second page %v of %d, want %v of 10", p.ids(t), p.Message.Total, want)
	}
}

func TestCountingConsumesNothing(t *testing.T) {
	s := New(small(5))
	if p := get(t, s.Handler(), "rows", "0", "cursor", "*"); p.Message.Total != 50 || p.next() != "*" || s.Stats().OpenScrolls != 0 {
		t.Errorf("count: total %d, cursor %q, %d scrolls", p.Message.Total, p.next(), s.Stats().OpenScrolls)
	}
	token := open(t, s.Handler(), "5").next()
	if p := get(t, s.Handler(), "rows", "0", "cursor", token); p.Message.Total != 50 || len(p.Message.Items) != 0 {
		t.Errorf("count within a scroll: %+v", p.Message)
	}
	if got, want := get(t, s.Handler(), "rows", "5", "cursor", token).ids(t), ids(truth(s, 5))[5:10]; !slices.Equal(got, want) {
		t.Errorf("second page %v, want %v", got, want)
	}
}

// wantInvalid asks with a cursor that the server must not know.
func wantInvalid(t *testing.T, s *Server, cursor string) {
	t.Helper()
	w := do(s.Handler(), worksURL("cursor", cursor))
	var body struct {
		Status  string    `json:"status"`
		Kind    string    `json:"message-type"`
		Message []failure `json:"message"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil {
		t.Fatal(err)
	}
	if w.Code != http.StatusNotFound || body.Status != "failed" || body.Kind != "resource-failure" ||
		len(body.Message) != 1 || body.Message[0].Type != "cursor-invalid" {
		t.Errorf("cursor %.20q: %d %.200s", cursor, w.Code, w.Body)
	}
}

func TestUnknownCursors(t *testing.T) {
	s := New(small(5))
	for _, cursor := range []string{"5", "", "**", "DnF1ZXJ5"} {
		wantInvalid(t, s, cursor)
	}
}

func TestAnIdleScrollExpiresAndAUsedOneDoesNot(t *testing.T) {
	c, now := small(5), newClock()
	c.Now = now.now
	s := New(c)
	token := open(t, s.Handler(), "2").next()
	for range 3 {
		now.pass(defaultTTL)
		get(t, s.Handler(), "cursor", token)
	}
	now.pass(defaultTTL + time.Millisecond)
	wantInvalid(t, s, token)
	wantInvalid(t, s, token)

	s.crossref.scrolls.ttl = time.Second
	token = open(t, s.Handler(), "2").next()
	now.pass(time.Second + 1)
	wantInvalid(t, s, token)
}

func TestTheLeastRecentlyUsedScrollGivesWay(t *testing.T) {
	c, now := small(5), newClock()
	c.Now = now.now
	s := New(c)
	var tokens []string
	for range maxScrolls {
		now.pass(time.Millisecond)
		tokens = append(tokens, open(t, s.Handler(), "1").next())
	}
	now.pass(time.Millisecond)
	get(t, s.Handler(), "cursor", tokens[0])
	open(t, s.Handler(), "1")
	if n := s.Stats().OpenScrolls; n != maxScrolls {
		t.Errorf("%d scrolls are open", n)
	}
	wantInvalid(t, s, tokens[1])
	get(t, s.Handler(), "cursor", tokens[0])
	get(t, s.Handler(), "cursor", tokens[2])
}

func TestExpiredScrollsMakeRoomFirst(t *testing.T) {
	c, now := small(5), newClock()
	c.Now = now.now
	s := New(c)
	for range 20 {
		open(t, s.Handler(), "1")
	}
	now.pass(defaultTTL + 1)
	open(t, s.Handler(), "1")
	if n := s.Stats().OpenScrolls; n != 1 {
		t.Errorf("%d scrolls are open", n)
	}
}

func TestTwoRequestsWithOneCursorGetTwoPages(t *testing.T) {
	c := small(20)
	s := New(c)
	token := open(t, s.Handler(), "10").next()
	var mu sync.Mutex
	var got []string
	var wait sync.WaitGroup
	for range 19 {
		wait.Go(func() {
			w := do(s.Handler(), worksURL("rows", "10", "cursor", token))
			mu.Lock()
			defer mu.Unlock()
			got = append(got, decodePage(t, w).ids(t)...)
		})
	}
	wait.Wait()
	want := ids(truth(s, 20))[10:]
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%d works from 19 pages, want %d", len(got), len(want))
	}
}

func TestAPageOfAThousandFromAVeryLargeWorld(t *testing.T) {
	c := small(3650)
	c.PerDay = 500_000
	s := New(c)
	p := open(t, s.Handler(), "1000")
	if len(p.Message.Items) != 1000 || p.Message.Total != 3650*500_000 {
		t.Fatalf("%d items of %d", len(p.Message.Items), p.Message.Total)
	}
	n := 0
	for w := range s.Truth(newYear, newYear.AddDate(10, 0, 0)) {
		if string(w.JSON) != string(p.Message.Items[n]) {
			t.Fatalf("item %d differs", n)
		}
		if n++; n == 1000 {
			break
		}
	}
}
