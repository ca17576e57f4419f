package storetest

import (
	"database/sql"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// growing are the tables that grow with the work. The others have as many rows as there are sources, people or settings.
var growing = []string{"ing_record", "ing_record_rev", "ing_task_run_batch", "ing_task_run", "ing_task", "ing_task_item", "ing_request", "ing_outbox", "ing_outbox_delivery", "ing_quarantine", "ing_quarantine_seen",
	"ing_plan_slice", "ing_plan", "ing_coverage", "ing_cursor_event", "ing_healing", "ing_signal", "ing_audit", "ing_evidence", "ing_candidate", "ing_archive", "ing_archive_batch", "ing_schedule_instance"}

// small is what keeps a step small although it looks as if it took all of a big table, or sorted it: a step that stands
// beside it, and why that is little.
type small struct{ beside, why string }

var bounded = map[string][]small{
	"list_runs: USE TEMP B-TREE FOR ORDER BY":       {{"(task_id=?", "the attempts of one task are few"}},
	"list_batches: USE TEMP B-TREE FOR ORDER BY":    {{"(task_id=?", "the pages of one task are few"}, {"(run_id=?", "and those of one attempt too"}},
	"list_healing: USE TEMP B-TREE FOR ORDER BY":    {{"(task_id=?", "what was done for one task is little"}},
	"list_events: USE TEMP B-TREE FOR ORDER BY":     {{"(record_id=?", "the versions of one record are few"}},
	"list_quarantine: USE TEMP B-TREE FOR ORDER BY": {{"provider_id=?", "the items of one record are few"}},
	"head_waits: USE TEMP B-TREE FOR GROUP BY":      {{"CO-ROUTINE head", "it groups the 500 tasks at the head of a queue"}},
	"last_claim: SCAN ing_task_run":                 {{"SCAN ing_task_run", "it takes the newest row by the primary key"}},
}

var from = regexp.MustCompile(`(?i)\b(?:FROM|JOIN)\s+(\w+)(?:\s+(?:AS\s+)?(\w+))?`)

// aliases are the tables of a statement by the names that it gives them.
func aliases(text string) map[string]string {
	names := map[string]string{}
	for _, m := range from.FindAllStringSubmatch(text, -1) {
		names[m[1]] = m[1]
		if m[2] != "" {
			names[m[2]] = m[1]
		}
	}
	return names
}

// Waste is a step of a plan that takes more than it gives.
type Waste struct {
	Step string
	Plan []string
}

// Wasteful are the steps with which a database would read, or sort, a whole table that grows.
func Wasteful(t testing.TB, db *sql.DB, s Statement) []Waste {
	t.Helper()
	if mysql(db) {
		return wasteOnServer(t, db, s)
	}
	steps := Plan(t, db, s)
	names := aliases(s.Text)
	var found []Waste
	for _, step := range steps {
		words := strings.Fields(step)
		scan := len(words) > 1 && words[0] == "SCAN" && slices.Contains(growing, names[words[1]])
		sort := strings.HasPrefix(step, "USE TEMP B-TREE") && slices.ContainsFunc(growing, func(table string) bool { return strings.Contains(s.Text, table+" ") })
		if (scan || sort) && !little(s, step, steps) {
			found = append(found, Waste{step, steps})
		}
	}
	return found
}

func little(s Statement, step string, steps []string) bool {
	return slices.ContainsFunc(bounded[s.Name+": "+step], func(b small) bool {
		return slices.ContainsFunc(steps, func(other string) bool { return strings.Contains(other, b.beside) })
	})
}

func mysql(db *sql.DB) bool { return strings.Contains(fmt.Sprintf("%T", db.Driver()), "mysql") }

// fewSorted is how many rows may be sorted: as many as one call may look at.
const fewSorted = 20_000

// wasteOnServer is Wasteful by the plan of MariaDB.
func wasteOnServer(t testing.TB, db *sql.DB, s Statement) (found []Waste) {
	t.Helper()
	rows, err := db.Query("EXPLAIN "+s.Text, s.Args...)
	if err != nil {
		t.Fatalf("%s: %v\n%s", s.Name, err, s.Text)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	names := aliases(s.Text)
	var steps []string
	for rows.Next() {
		values, into := make([]sql.NullString, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		of := func(column string) string { return values[slices.Index(columns, column)].String }
		step := fmt.Sprintf("%s %s by %s, %s rows; %s", of("type"), of("table"), of("key"), of("rows"), of("Extra"))
		steps = append(steps, step)
		if !slices.Contains(growing, names[of("table")]) {
			continue
		}
		number, _, _ := strings.Cut(of("rows"), " ") // behind it may stand how many a filter leaves
		n, err := strconv.ParseInt(number, 10, 64)
		sorts := strings.Contains(of("Extra"), "Using filesort") || strings.Contains(of("Extra"), "Using temporary")
		// An index that is read from its beginning, and with no condition, is read as far as LIMIT says.
		whole := of("type") == "ALL" || of("type") == "index" && (strings.Contains(of("Extra"), "Using where") || !strings.Contains(s.Text, "LIMIT") || n > fewSorted)
		if err != nil || whole || sorts && n > fewSorted {
			found = append(found, Waste{Step: step})
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	for i := range found {
		found[i].Plan = steps
	}
	return found
}

// Analyze makes a database look at its tables, so that it plans by what is in them.
func Analyze(t testing.TB, db *sql.DB) {
	t.Helper()
	if !mysql(db) {
		if _, err := db.Exec("ANALYZE"); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, table := range growing {
		rows, err := db.Query("ANALYZE TABLE " + table)
		if err != nil {
			t.Fatal(err)
		}
		rows.Close()
	}
}

// RowsRead is how many rows a server has taken from the tables of this database and their indexes. It counts from the first call
// on, and only what happens here: others may use the server.
func RowsRead(t testing.TB, db *sql.DB) (sum int64) {
	t.Helper()
	if _, err := db.Exec("SET GLOBAL userstat = 1"); err != nil {
		t.Fatal(err)
	}
	if err := db.QueryRow("SELECT COALESCE(SUM(ROWS_READ), 0) FROM information_schema.TABLE_STATISTICS WHERE TABLE_SCHEMA = DATABASE()").Scan(&sum); err != nil {
		t.Fatal(err)
	}
	return sum
}
