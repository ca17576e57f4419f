package storetest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"patra"
)

// life plays pages with one record each and tells what is stored after every one of them.
func life(t *testing.T, e Engine, merge patra.Merge, versions ...patra.Observation) string {
	t.Helper()
	w := NewWorld(t, e, 1)
	c := w.Take()
	var told strings.Builder
	for i, o := range versions {
		w.Clock.Move(time.Second)
		page, err := w.OpenAt(c, int64(i+1), 1, int64(i+1))
		w.must(err)
		o.ID, o.ObservedAt, o.RawCode, o.Raw = "1", w.Clock.Instant(), "JSON", []byte("{}")
		res := w.Result(true, o)
		res.Merge = merge
		_, _, err = w.CommitPage(t.Context(), c, w.Clock.Instant(), "work", page, res, nil)
		w.must(err)
		r, err := w.Store.Record(t.Context(), "demo", "work", "1")
		w.must(err)
		changes, err := w.RecordVersions(t.Context(), r.ID)
		w.must(err)
		fmt.Fprintf(&told, "%d %s %s", r.Rev, changes[len(changes)-1].Change, r.Fields)
		for _, mark := range []struct {
			word string
			is   bool
		}{{" deleted", r.Deleted}, {" into " + r.MergedInto, r.MergedInto != ""}, {" retracted", r.Retracted}, {" unchecked", r.LastSeen != w.Clock.Instant()}} {
			if mark.is {
				told.WriteString(mark.word)
			}
		}
		told.WriteString("\n")
	}
	CheckInvariants(t, Inspect(t, w.URL))
	return told.String()
}

// said is a version at an hour of the first day; hour -1 is no time.
func said(hour patra.Instant, fields string) patra.Observation {
	o := patra.Observation{Hash: patra.Hash(fields), Fields: json.RawMessage(fields)}
	if hour >= 0 {
		at := Origin + hour*patra.Hour
		o.UpdatedAt = &at
	}
	return o
}

func with(o patra.Observation, change func(*patra.Observation)) patra.Observation {
	change(&o)
	return o
}

func gone(hour patra.Instant, fields string) patra.Observation {
	return with(said(hour, fields), func(o *patra.Observation) { o.Deleted = true })
}

func merging(t *testing.T, e Engine) {
	for _, c := range []struct {
		name     string
		merge    patra.Merge
		versions []patra.Observation
		want     string
	}{
		{"a deletion keeps what is known, and the record can come back", patra.Merge{},
			[]patra.Observation{said(1, `{"a":1,"b":1}`), gone(2, `{}`), gone(2, `{}`), said(3, `{"a":2}`)},
			"1 INSERT {\"a\":1,\"b\":1}\n2 DELETED {\"a\":1,\"b\":1} deleted\n2 DELETED {\"a\":1,\"b\":1} deleted\n3 UPDATE {\"a\":2}\n"},
		{"a deletion without a time counts from when we asked", patra.Merge{},
			[]patra.Observation{said(1, `{"a":1}`), gone(-1, `{}`), said(1, `{"a":1}`)},
			"1 INSERT {\"a\":1}\n2 DELETED {\"a\":1} deleted\n3 UPDATE {\"a\":1}\n"},
		{"a source may want its deletions to wipe", patra.Merge{Nulls: patra.NullsOverwrite},
			[]patra.Observation{said(1, `{"a":1}`), gone(2, `{}`)},
			"1 INSERT {\"a\":1}\n2 DELETED {} deleted\n"},
		{"missing fields are filled", patra.Merge{Nulls: patra.NullsFill},
			[]patra.Observation{said(1, `{"a":1,"b":1}`), said(2, `{"a":2,"b":null,"c":3}`)},
			"1 INSERT {\"a\":1,\"b\":1}\n2 UPDATE {\"a\":2,\"b\":1,\"c\":3}\n"},
		{"the first of the same time is kept", patra.Merge{EqualTime: patra.EqualKeep},
			[]patra.Observation{said(1, `{"a":1}`), said(1, `{"a":2}`), said(2, `{"a":2}`)},
			"1 INSERT {\"a\":1}\n1 INSERT {\"a\":1} unchecked\n2 UPDATE {\"a\":2}\n"},
		{"the greater mark of the same time is kept", patra.Merge{EqualTime: patra.EqualBy},
			[]patra.Observation{
				with(said(1, `{"a":10}`), func(o *patra.Observation) { o.Mark = "10" }),
				with(said(1, `{"a":9}`), func(o *patra.Observation) { o.Mark = "9" }),
				with(said(1, `{"a":11}`), func(o *patra.Observation) { o.Mark = "11" })},
			"1 INSERT {\"a\":10}\n1 INSERT {\"a\":10} unchecked\n2 UPDATE {\"a\":11}\n"},
		{"one that was merged into another says which", patra.Merge{},
			[]patra.Observation{said(1, `{"a":1}`), with(gone(2, `{}`), func(o *patra.Observation) { o.MergedInto = "2" })},
			"1 INSERT {\"a\":1}\n2 MERGED {\"a\":1} deleted into 2\n"},
		{"a retraction is marked, and stays", patra.Merge{},
			[]patra.Observation{said(1, `{"a":1}`), with(said(2, `{"a":2}`), func(o *patra.Observation) { o.Retracted = true }), with(said(3, `{"a":3}`), func(o *patra.Observation) { o.Retracted = true })},
			"1 INSERT {\"a\":1}\n2 RETRACTED {\"a\":2} retracted\n3 UPDATE {\"a\":3} retracted\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := life(t, e, c.merge, c.versions...); canonicalLines(got) != canonicalLines(c.want) {
				t.Errorf("got\n%swant\n%s", got, c.want)
			}
		})
	}
}

// canonicalLines takes the spaces away that an engine may put into JSON.
func canonicalLines(s string) string {
	return strings.NewReplacer(", ", ",", ": ", ":").Replace(s)
}

// remapped: the provider says the same, but a newer mapping reads more of it. An older version is not read again.
func remapped(t *testing.T, e Engine) {
	w := NewWorld(t, e, 3)
	first := w.Take()
	o := w.Record("1", Origin, "one")
	w.Work(first, o)
	again := w.Take()
	again.Spec = patra.Hash("another spec")
	w.Clock.Move(time.Second)
	if got := w.Page(again, 1, true, w.Record("1", Origin, "one")); got != (patra.Counts{Same: 1}) {
		t.Errorf("the same fields by another spec: %+v", got)
	}
	w.Clock.Move(time.Second)
	again.Spec = patra.Hash("a third spec")
	o = w.Record("1", Origin, "one")
	o.Fields = json.RawMessage(`{"c":"one","more":true}`)
	if got := w.Page(again, 2, true, o); got != (patra.Counts{Update: 1}) {
		t.Errorf("other fields by another spec: %+v", got)
	}
	r, err := w.Store.Record(t.Context(), "demo", "work", "1")
	w.must(err)
	changes, err := w.RecordVersions(t.Context(), r.ID)
	if err != nil || len(changes) != 2 || changes[1].Change != patra.ChangeRemapped || r.SpecFingerprint != again.Spec || string(r.Fields) != `{"c":"one","more":true}` {
		t.Errorf("%+v %s, %v", changes, r.Fields, err)
	}
	CheckInvariants(t, Inspect(t, w.URL))
}
