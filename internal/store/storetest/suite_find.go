package storetest

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"patra"
	"patra/internal/store"
)

func finding(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	c := w.Take()
	add := func(ordinal int64, id, fields string, updated patra.Instant) patra.Instant {
		w.Clock.Move(time.Second)
		o := w.Record(id, updated, id)
		o.Fields, o.Deleted = json.RawMessage(fields), id == "gone"
		w.Page(c, ordinal, true, o)
		return w.Clock.Instant()
	}
	add(1, "10.5/a_b", `{"title":"Heart 100% failure","type":"article","year":2020,"tags":["x","y"]}`, Origin)
	second := add(2, "10.5/axb", `{"title":"The \"heart\"_x","type":"book","year":900,"published":"2026-04"}`, Origin+patra.Day)
	add(3, "gone", `{"nested":{"name":"z"},"tags":["y"]}`, Origin+2*patra.Day)
	day := Origin + patra.Day
	for _, c := range []struct {
		q    store.RecordQuery
		want string
	}{
		{store.RecordQuery{}, "[10.5/a_b 10.5/axb gone]"},
		{store.RecordQuery{Limit: 2}, "[10.5/a_b 10.5/axb]"},
		{store.RecordQuery{Source: "nobody"}, "[]"},
		{store.RecordQuery{IDPrefix: "10.5/a_"}, "[10.5/a_b]"},
		{store.RecordQuery{IDPrefix: "%"}, "[]"},
		{store.RecordQuery{ChangedSince: &second}, "[10.5/axb gone]"},
		{store.RecordQuery{UpdatedFrom: &day}, "[10.5/axb gone]"},
		{store.RecordQuery{UpdatedTo: &day}, "[10.5/a_b]"},
		{store.RecordQuery{Deleted: true}, "[gone]"},
		{where("type=book"), "[10.5/axb]"},
		{where("type!=book"), "[10.5/a_b gone]"},
		{where("tags=y"), "[10.5/a_b gone]"},
		{where("nested.name=z"), "[gone]"},
		{where("title~heart"), "[10.5/a_b 10.5/axb]"},
		{where("title~100%"), "[10.5/a_b]"},
		{where("title~_x"), "[10.5/axb]"},
		{where("year=2020"), "[10.5/a_b]"},
		{where("year>=1000"), "[10.5/a_b]"}, // as numbers: 900 is less
		{where("year<1000"), "[10.5/axb]"},
		{where("published>=2026"), "[10.5/axb]"}, // as text
		{where("published<2026-04"), "[]"},
		{where("type=book", "year<1000"), "[10.5/axb]"},
		{where("title=' OR 1=1 --"), "[]"},
	} {
		got := []string{}
		err := w.Find(t.Context(), c.q, func(r patra.Record) error {
			got = append(got, r.ProviderID)
			return nil
		})
		if err != nil || fmt.Sprint(got) != c.want {
			t.Errorf("%+v gives %v, want %s, %v", c.q, got, c.want, err)
		}
	}
	if types, err := w.RecordTypes(t.Context(), "demo"); err != nil || fmt.Sprint(types) != "[work]" {
		t.Errorf("%v, %v", types, err)
	}
}

func where(conditions ...string) (q store.RecordQuery) {
	for _, text := range conditions {
		f, err := patra.ParseFieldTest(text)
		if err != nil {
			panic(err)
		}
		q.Where = append(q.Where, f)
	}
	return q
}
