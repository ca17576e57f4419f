package replay_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"patra"
	"patra/internal/replay"
)

// unlike reports whether no id is the beginning of another: those cannot be told apart.
func unlike(ids []string) bool {
	return !slices.ContainsFunc(ids, func(a string) bool {
		return slices.ContainsFunc(ids, func(b string) bool { return a != b && strings.HasPrefix(b, a+",") })
	})
}

// Ids are found again in a position, also those with commas, as long as the scan knows them.
func TestIDsAreFoundInAPosition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.StringMatching(`10\.[0-9]{4}/[a-z]{1,4}(,[0-9]{1,3}){0,2}`)
		ids := rapid.SliceOfNDistinct(id, 1, 8, func(s string) string { return strings.ReplaceAll(s, ",", ";") }).Filter(unlike).Draw(t, "ids")
		got, err := replay.SplitIDs(strings.Join(ids, ","), func(asked []string) (map[string]bool, error) {
			found := map[string]bool{}
			for _, a := range asked {
				if slices.Contains(ids, a) {
					found[a] = true
				}
			}
			return found, nil
		})
		if err != nil || !slices.Equal(got, ids) {
			t.Fatalf("%v becomes %v, %v", ids, got, err)
		}
	})
	nobody := func([]string) (map[string]bool, error) { return nil, nil }
	if got, _ := replay.SplitIDs("1,2,3", nobody); !slices.Equal(got, []string{"1", "2", "3"}) {
		t.Errorf("%v", got)
	}
}

func observed(id, hash, fields string) patra.Observation {
	return patra.Observation{ID: id, Hash: hash, Fields: []byte(fields)}
}

// A remap counts the stored version of a record, once; fields add up to the records, whatever they do.
func TestARemapCountsEachRecordOnce(t *testing.T) {
	m := &replay.Remap{}
	var affected []string
	page := func(id int64, before, after replay.ParsedPage, stored map[string]patra.StoredVersion) {
		t.Helper()
		if err := m.Page(patra.LedgerPage{Batch: patra.Batch{ID: id}}, before, after, stored, func(id string) error { affected = append(affected, id); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	old := []patra.Observation{observed("a", "1", `{"x":1,"gone":true}`), observed("b", "1", `{"x":1,"n":null}`), observed("c", "1", `{"x":[1,2]}`), observed("c", "0", `{"x":0}`), observed("d", "1", `{}`), observed("e", "1", `{"x":5}`), observed("f", "1", `{"x":6}`)}
	fresh := []patra.Observation{observed("a", "1", `{"x":1,"new":"y"}`), observed("b", "1", `{"x":1}`), observed("c", "1", `{"x":[1,2]}`), observed("d", "1", `{"x":4}`), observed("q", "1", `{}`)}
	stored := map[string]patra.StoredVersion{"a": on(1), "b": on(1), "c": on(1), "d": on(2), "e": on(1), "f": on(1)} // d came again on another page
	page(1, replay.ParsedPage{Records: old, Quarantined: []patra.RejectedItem{{ID: "q"}}}, replay.ParsedPage{Records: fresh, Quarantined: []patra.RejectedItem{{ID: "e"}}}, stored)
	page(2, replay.ParsedPage{Records: old[4:5]}, replay.ParsedPage{Records: fresh[3:4]}, stored)
	page(3, replay.ParsedPage{Records: old[:1]}, replay.ParsedPage{Fault: &patra.Fault{Code: patra.CodeSchema}}, stored)
	got := fmt.Sprintf("%d pages, %d records, %d older, %d changed, %d unreadable, %d readable, %d renamed, %d refused", m.Pages, m.Records, m.Older, m.Changed, m.Unreadable, m.Readable, m.Renamed, m.Refused)
	if want := "3 pages, 6 records, 1 older, 4 changed, 1 unreadable, 1 readable, 1 renamed, 1 refused"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if slices.Sort(affected); strings.Join(affected, "") != "adef" {
		t.Errorf("affected: %v", affected)
	}
	for _, f := range m.Fields() {
		if sum := f.Same + f.Changed + f.Appeared + f.Vanished; sum != m.Records {
			t.Errorf("%+v accounts for %d of %d", f, sum, m.Records)
		}
	}
	all := fmt.Sprintf("%+v", m.Fields())
	for _, want := range []string{"Field:gone Same:5 Changed:0 Appeared:0 Vanished:1 Nulls:[5 6]", "Field:new Same:5 Changed:0 Appeared:1 Vanished:0 Nulls:[6 5]", "Field:n Same:6", "Field:x Same:3 Changed:0 Appeared:1 Vanished:2"} {
		if !strings.Contains(all, want) {
			t.Errorf("no %s in %s", want, all)
		}
	}
}

// However long values are and however many fields there are, what is kept of them is little.
func TestARemapStaysSmall(t *testing.T) {
	m := &replay.Remap{}
	for i := range 2000 {
		id := fmt.Sprint(i)
		before, after := observed(id, "1", fmt.Sprintf(`{"f%d":%q}`, i, strings.Repeat("x", 5000))), observed(id, "1", `{}`)
		if err := m.Page(patra.LedgerPage{Batch: patra.Batch{ID: 1}}, replay.ParsedPage{Records: []patra.Observation{before}}, replay.ParsedPage{Records: []patra.Observation{after}}, map[string]patra.StoredVersion{id: on(1)}, func(string) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(fmt.Sprint(m.Fields())); len(m.Fields()) > 500 || n > 1<<20 || m.Changed != 2000 {
		t.Errorf("%d fields, %d bytes, %d changed", len(m.Fields()), n, m.Changed)
	}
}

func on(page int64) patra.StoredVersion { return patra.StoredVersion{BatchID: page, Hash: "1"} }
