package sim

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// total counts by rows=0, as a planner does.
func total(t *testing.T, s *Server, pairs ...string) int {
	t.Helper()
	p := get(t, s.Handler(), append(pairs, "rows", "0")...)
	if len(p.Message.Items) != 0 || p.Message.Rows != 0 {
		t.Fatalf("rows=0 gave %d items", len(p.Message.Items))
	}
	return p.Message.Total
}

func TestDateFiltersIncludeBothDaysWhole(t *testing.T) {
	s := New(small(60)) // 2024-01-01 .. 2024-02-29
	for filter, want := range map[string]int{
		"from-index-date:2024-01-10,until-index-date:2024-01-10":   10,
		"from-index-date:2024-01-10,until-index-date:2024-01-12":   30,
		"from-index-date:2024-01-12,until-index-date:2024-01-10":   0,
		"from-index-date:2024-01-31":                               300,
		"until-index-date:2024-01-01":                              10,
		"until-index-date:2023-12-31":                              0,
		"from-index-date:2024-03-01":                               0,
		"from-index-date:2024-02,until-index-date:2024-02":         290,
		"until-index-date:2024-01":                                 310,
		"from-index-date:2024,until-index-date:2024":               600,
		"from-update-date:2024-01-10,until-update-date:2024-01-10": 10,
		"from-deposit-date:2024-02-28":                             20,
		"from-index-date:0001,until-index-date:9999":               600,
	} {
		if n := total(t, s, "filter", filter); n != want {
			t.Errorf("%s: %d works, want %d", filter, n, want)
		}
	}
}

func TestOneDayHoldsExactlyTheWorksOfThatDay(t *testing.T) {
	s := New(small(3))
	day := newYear.AddDate(0, 0, 1)
	p := get(t, s.Handler(), "filter", "from-index-date:2024-01-02,until-index-date:2024-01-02", "sort", "indexed", "order", "asc")
	var want []Work
	for w := range s.Truth(day, day.AddDate(0, 0, 1)) {
		want = append(want, w)
	}
	if got := p.ids(t); !slices.Equal(got, ids(want)) {
		t.Errorf("got %v\nwant %v", got, ids(want))
	}
	first, last := decodeItem(t, p.Message.Items[0]), decodeItem(t, p.Message.Items[9])
	if first.Indexed.Text != "2024-01-02T00:00:00Z" || last.Indexed.Text != "2024-01-02T23:59:59Z" {
		t.Errorf("the day runs from %s to %s", first.Indexed.Text, last.Indexed.Text)
	}
}

// expect compares a filtered answer, counted and walked, with the truth chosen by a plain function.
func expect(t *testing.T, s *Server, days int, want func(item) bool, pairs ...string) {
	t.Helper()
	var ids []string
	for _, w := range truth(s, days) {
		if it := decodeItem(t, w.JSON); want(it) {
			ids = append(ids, it.DOI)
		}
	}
	p := get(t, s.Handler(), append(pairs, "rows", "1000", "sort", "indexed", "order", "asc")...)
	if got := p.ids(t); !slices.Equal(got, ids) || p.Message.Total != len(ids) || len(ids) == 0 {
		t.Errorf("%v: %d items, total %d, want %d", pairs, len(got), p.Message.Total, len(ids))
	}
}

func TestOtherFiltersSelectWhatTheySay(t *testing.T) {
	c := small(30)
	c.PerDay = 30
	s := New(c)
	expect(t, s, 30, func(it item) bool { return it.Type == "dataset" }, "filter", "type:dataset")
	expect(t, s, 30, func(it item) bool { return it.Type == "dataset" || it.Type == "monograph" }, "filter", "type:dataset,type:monograph")
	expect(t, s, 30, func(it item) bool { return strings.HasPrefix(it.Created.Text, "2024-01-05") },
		"filter", "from-created-date:2024-01-05,until-created-date:2024-01-05")
	expect(t, s, 30, func(it item) bool { return it.Created.Text < "2020-01-01" && it.Indexed.Text < "2024-01-11" },
		"filter", "until-created-date:2019,until-index-date:2024-01-10")
	if n := total(t, s, "filter", "type:grant"); n != 0 {
		t.Errorf("%d grants", n)
	}
}

func TestQueriesNeedEveryWord(t *testing.T) {
	c := small(30)
	c.PerDay = 30
	s := New(c)
	has := func(text string, words ...string) bool {
		return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(strings.ToLower(text), w) })
	}
	names := func(it item) string { return it.Title[0] + fmt.Sprint(it.Author) }
	expect(t, s, 30, func(it item) bool { return has(it.Title[0], "kelp", "seasonal") }, "query.title", "KELP Seasonal")
	expect(t, s, 30, func(it item) bool { return has(names(it), "müller") }, "query", "MÜLLER")
	expect(t, s, 30, func(it item) bool { return has(names(it), "müller", "wheat") }, "query", "wheat müller")
	if n := total(t, s, "query", "xyzzy"); n != 0 {
		t.Errorf("%d works contain xyzzy", n)
	}
	if n := total(t, s, "query.title", "Baptista"); n != 0 {
		t.Errorf("%d titles contain an author's name", n)
	}
}

func TestOrders(t *testing.T) {
	s := New(small(4))
	want := ids(truth(s, 4))
	for _, sort := range []string{"indexed", "updated", "deposited"} {
		if got := get(t, s.Handler(), "rows", "100", "sort", sort, "order", "asc").ids(t); !slices.Equal(got, want) {
			t.Errorf("sort=%s&order=asc: %v", sort, got)
		}
	}
	back := slices.Clone(want)
	slices.Reverse(back)
	if got := get(t, s.Handler(), "rows", "100", "sort", "indexed").ids(t); !slices.Equal(got, back) {
		t.Errorf("the default direction is not descending: %v", got)
	}
	got := get(t, s.Handler(), "rows", "100").ids(t)
	if slices.Equal(got, want) || slices.Equal(got, back) {
		t.Error("without sort the works came in the order of time")
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("without sort works are missing or doubled: %v", got)
	}
}

func TestOffsetAndRowsTileTheList(t *testing.T) {
	s := New(small(4))
	var got []string
	for offset := 0; offset < 44; offset += 7 {
		p := get(t, s.Handler(), "rows", "7", "offset", fmt.Sprint(offset), "sort", "indexed", "order", "asc")
		if p.Message.Total != 40 || p.Message.Next != nil {
			t.Fatalf("offset %d: total %d, cursor %v", offset, p.Message.Total, p.Message.Next)
		}
		got = append(got, p.ids(t)...)
	}
	if want := ids(truth(s, 4)); !slices.Equal(got, want) {
		t.Errorf("got %d works, want %d", len(got), len(want))
	}
	if n := len(get(t, s.Handler()).Message.Items); n != 20 {
		t.Errorf("default is %d rows", n)
	}
}
