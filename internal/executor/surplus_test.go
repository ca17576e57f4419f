package executor_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"patra"
	"patra/internal/source"
)

// listed is a row of a provider of our own making.
type listed struct {
	id string
	at time.Time
}

// rowsOf are n rows of the first day of the tests, a minute apart.
func rowsOf(n int) (all []listed) {
	for i := range n {
		all = append(all, listed{fmt.Sprintf("10.1/%03d", i), from.Add(time.Duration(i) * time.Minute)})
	}
	return all
}

// worksOf is an answer in the shape of Crossref.
func worksOf(total int, rows []listed) string {
	items := make([]string, len(rows))
	for i, r := range rows {
		items[i] = fmt.Sprintf(`{"DOI": %q, "indexed": {"date-time": %q}}`, r.id, r.at.Format(time.RFC3339))
	}
	return fmt.Sprintf(`{"message": {"total-results": %d, "items": [%s]}}`, total, strings.Join(items, ","))
}

// part is what a provider has between two numbers of a list.
func part[T any](all []T, offset, n int) []T {
	offset = min(offset, len(all))
	return all[offset:min(offset+n, len(all))]
}

func asked(r *http.Request, name string) int {
	n, _ := strconv.Atoi(r.URL.Query().Get(name))
	return n
}

// firstDay harvests the first day of the tests from a handler, and gives the ids that were stored and how the day is covered.
func firstDay(t *testing.T, text string, provider http.Handler) (ids []string, day patra.CoverageEntry, e *early) {
	t.Helper()
	file, err := source.Load("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(provider)
	t.Cleanup(server.Close)
	st, url, plan := planAll(t, file, nil, server.URL)
	e = &early{t: t, store: st, url: url, plan: plan}
	e.onlyFirst()
	e.exec(`UPDATE ing_task SET max_attempts = 1`)
	e.run()
	if err := st.Records(t.Context(), file.Code, func(r patra.Record) error {
		ids = append(ids, r.ProviderID)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	slices.Sort(ids)
	all, err := st.CoverageEntries(t.Context(), plan.Plan.CursorID)
	if err != nil || len(all) > 1 {
		t.Fatalf("coverage %+v, %v", all, err)
	}
	if len(all) == 1 {
		day = all[0]
	}
	return ids, day, e
}

// onlyFirst calls all slices off but the first.
func (e *early) onlyFirst() {
	e.t.Helper()
	e.exec(`UPDATE ing_task SET status_code = 'CANCELLED', finished_at = 1 WHERE slice_id <> (SELECT MIN(id) FROM ing_plan_slice)`)
	e.exec(`UPDATE ing_plan_slice SET status_code = 'CANCELLED', closed_at = 1 WHERE id <> (SELECT id FROM (SELECT MIN(id) AS id FROM ing_plan_slice) AS x)`)
}

const thirty = `{type: OFFSET, pageSize: 30, maxPageSize: 1000, sizeParam: rows, positionParam: offset, order: ASC, end: [EMPTY_PAGE]}`

// A page may hold more rows than were asked for, or fewer. The next page begins behind what was asked for at most, and behind what
// came at most: whatever else is done, a row is skipped.
func TestAnOffsetNeverSkipsARow(t *testing.T) {
	stray := listed{"10.1/stray", from.AddDate(0, -2, 0)}
	for _, c := range []struct {
		name   string
		answer func(all []listed, offset, n int) []listed
		state  patra.Completeness
		stored int
	}{
		{"a row of another window on top", func(all []listed, offset, n int) []listed {
			if offset == 0 {
				return slices.Concat(part(all, offset, n), []listed{stray})
			}
			return part(all, offset, n)
		}, patra.StateSealed, 37},
		{"a row of another window on top of every page", func(all []listed, offset, n int) []listed {
			if offset < len(all) {
				return slices.Concat([]listed{stray}, part(all, offset, n))
			}
			return nil
		}, patra.StateSealed, 37},
		{"a row more than asked for", func(all []listed, offset, n int) []listed {
			return part(all, offset, n+1)
		}, patra.StateSealed, 36},
		{"fewer than asked for", func(all []listed, offset, n int) []listed {
			return part(all, offset, min(n, 7))
		}, patra.StateSealed, 36},
		{"a row of another window in the place of one of this", func(all []listed, offset, n int) []listed {
			rows := slices.Clone(part(all, offset, n))
			if offset == 0 {
				rows[n-1] = stray
			}
			return rows
		}, patra.StateSealed, 37}, // the next page does not join, and the walk steps back to the row
	} {
		t.Run(c.name, func(t *testing.T) {
			rows := rowsOf(36)
			ids, day, _ := firstDay(t, paged(thirty, "P1D"), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				fmt.Fprint(w, worksOf(len(rows), c.answer(rows, asked(r, "offset"), asked(r, "rows"))))
			}))
			if len(ids) != c.stored {
				t.Errorf("%d records are stored, want %d", len(ids), c.stored)
			}
			if day.State != c.state || day.CountAfter == nil || *day.CountAfter != 36 {
				t.Errorf("the day is %s: %+v", day.State, day)
			}
			if c.state == patra.StateSealed && day.IDsSeen != 36 {
				t.Errorf("%d ids count for the day", day.IDsSeen)
			}
		})
	}
}

// A source that is asked by another date than the time of change has records of all times, and the provider counts them.
func TestRowsOfAnotherDateCount(t *testing.T) {
	rows := rowsOf(36)
	for i := range rows {
		rows[i].at = rows[i].at.AddDate(0, i%3, 0)
	}
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, worksOf(len(rows), part(rows, asked(r, "offset"), asked(r, "rows"))))
	})
	for otherDate, want := range map[string]patra.Completeness{"true": patra.StateSealed, "false": patra.StateDisputed} {
		text := strings.Replace(paged(thirty, "P1D"), "order: ASC, earliest", "order: ASC, otherDate: "+otherDate+", earliest", 1)
		if ids, day, _ := firstDay(t, text, handler); len(ids) != 36 || day.State != want {
			t.Errorf("otherDate: %s: %d records, %+v", otherDate, len(ids), day)
		}
	}
}

// A scan that another run goes on with has a count of what came before, and not of what of it lay outside: it is read anew.
func TestRowsOutsideBeforeAnInterruptionCountForNothing(t *testing.T) {
	rows := rowsOf(65)
	stray := listed{"10.1/stray", from.AddDate(0, -2, 0)}
	lost := true // the last row is left out
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := part(rows, asked(r, "offset"), asked(r, "rows"))
		if asked(r, "offset") == 0 {
			answer = slices.Concat(answer, []listed{stray})
		} else if lost {
			answer = slices.DeleteFunc(slices.Clone(answer), func(l listed) bool { return l.id == rows[64].id })
		}
		fmt.Fprint(w, worksOf(len(rows), answer))
	})
	e := newEarly(t, paged(thirty, "P1D"), handler)
	e.onlyFirst()
	e.stopAfterOnePage()
	e.run()
	all, err := e.store.CoverageEntries(t.Context(), e.plan.Plan.CursorID)
	if err != nil || len(all) != 1 || all[0].State != patra.StateDisputed || all[0].IDsSeen != 64 {
		t.Errorf("%+v, %v", all, err)
	}
}

// A walk by time goes on from the last row of its window: one of another window would lead it past all between.
func TestATimeOutsideTheWindowLeadsNowhere(t *testing.T) {
	text := strings.Replace(paged(`{type: TIME, pageSize: 10, maxPageSize: 1000, sizeParam: rows, end: [EMPTY_PAGE]}`, "P1D"), "precision: DAY, upper: INCLUSIVE_DAY", "precision: SECOND, upper: INCLUSIVE_SECOND", 1)
	text = strings.Replace(text, "{type: DATE, ops: [RANGE]}", "{type: DATETIME, ops: [RANGE], precision: SECOND, upper: INCLUSIVE_SECOND}", 1)
	text = strings.Replace(text, "trust: EXACT", "trust: NONE", 1)
	for name, at := range map[string]time.Time{"before it": from.AddDate(0, -2, 0), "before it, by seconds": from.Add(-10 * time.Second), "after it": from.AddDate(0, 2, 0), "at its end": from.AddDate(0, 0, 1)} {
		t.Run(name, func(t *testing.T) {
			rows, requests := rowsOf(36), 0
			ids, day, _ := firstDay(t, text, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if requests++; requests > 100 {
					t.Error("the walk does not end")
					http.Error(w, "no", http.StatusNotFound)
					return
				}
				var since, until time.Time
				for one := range strings.SplitSeq(r.URL.Query().Get("filter"), ",") {
					key, value, _ := strings.Cut(one, ":")
					bound, err := time.Parse(time.RFC3339, value)
					if err != nil {
						t.Error(err)
					}
					if key == "from-index-date" {
						since = bound
					} else {
						until = bound
					}
				}
				within := slices.DeleteFunc(slices.Clone(rows), func(l listed) bool { return l.at.Before(since) || l.at.After(until) })
				answer := slices.Concat(part(within, 0, asked(r, "rows")), []listed{{"10.1/stray", at}})
				fmt.Fprint(w, worksOf(len(within), answer))
			}))
			if len(ids) != 37 {
				t.Errorf("%d records are stored, want 37", len(ids))
			}
			if day.IDsSeen != 36 {
				t.Errorf("the day: %+v", day)
			}
		})
	}
}
