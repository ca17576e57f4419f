package cli

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"patra/internal/store/storetest"
)

// counting is a source whose provider counts exactly and is cut by days.
var counting = strings.NewReplacer(
	`total: {trust: NONE}`, `total: {path: "$.total", trust: EXACT}`,
	`{type: OFFSET, positionParam: offset, end: [EMPTY_PAGE]}`, `{type: OFFSET, positionParam: offset, sizeParam: rows, pageSize: 20, maxPageSize: 100, end: [EMPTY_PAGE]}`,
).Replace(doubted)

// dayProvider answers questions for days of May 2026. counted is called before each count, and what it gives is added to it.
type dayProvider struct {
	mu      sync.Mutex
	works   map[string][]string // ids by day
	counts  int
	counted func(p *dayProvider, days int) int
}

func (p *dayProvider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	q := r.URL.Query()
	from, errFrom := time.Parse("2006-01-02", q.Get("from"))
	to, errTo := time.Parse("2006-01-02", q.Get("to"))
	rows, errRows := strconv.Atoi(q.Get("rows"))
	if errFrom != nil || errTo != nil || errRows != nil {
		http.Error(w, r.URL.String(), http.StatusBadRequest)
		return
	}
	extra := 0
	if rows == 1 {
		p.counts++
		if p.counted != nil {
			extra = p.counted(p, int(to.Sub(from).Hours()/24)+1)
		}
	}
	var all []string
	for day := from; !day.After(to); day = day.AddDate(0, 0, 1) {
		for _, id := range p.works[day.Format("2006-01-02")] {
			all = append(all, fmt.Sprintf(`{"id":%q,"title":"T","changed":%q}`, id, day.Format("2006-01-02")))
		}
	}
	offset, _ := strconv.Atoi(q.Get("offset"))
	page := all[min(offset, len(all)):min(offset+rows, len(all))]
	fmt.Fprintf(w, `{"total":%d,"items":[%s]}`, len(all)+extra, strings.Join(page, ","))
}

// fill gives every day of a stretch so many works.
func (p *dayProvider) fill(days, each int) *dayProvider {
	p.works = map[string][]string{}
	for d := 1; d <= days; d++ {
		for n := range each {
			day := fmt.Sprintf("2026-05-%02d", d)
			p.works[day] = append(p.works[day], fmt.Sprintf("%s-%d", day, n))
		}
	}
	return p
}

// says runs a command against a provider, in a folder of its own for each test.
func harvestOf(t *testing.T, p http.Handler, file string) (says func(want int, args ...string) string) {
	t.Helper()
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	t.Chdir(t.TempDir())
	if err := os.WriteFile("mine.yaml", []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	return func(want int, args ...string) string {
		t.Helper()
		for i, a := range args {
			args[i] = strings.ReplaceAll(a, "URL", server.URL)
		}
		var out bytes.Buffer
		if code := run(t.Context(), args, []string{"PATRA_SOURCES_DIR=.", "PATRA_STORE_URL=sqlite:patra.db"}, &out, &out); code != want {
			t.Errorf("%v: exit code %d, want %d", args, code, want)
		}
		return out.String()
	}
}

// Seven of 564 records move while a truthful provider is asked for counts: it is asked again, and then all is read.
func TestCountsThatMovedAreAskedForAgain(t *testing.T) {
	p := (&dayProvider{}).fill(12, 47)
	p.counted = func(p *dayProvider, _ int) int {
		if p.counts == 2 {
			p.works["2026-05-30"], p.works["2026-05-11"] = p.works["2026-05-11"][:7], p.works["2026-05-11"][7:]
		}
		return 0
	}
	got := harvestOf(t, p, counting)(exitOK, "harvest", "mine", "--base-url", "URL", "--from", "2026-05-01", "--to", "2026-05-13")
	if !strings.Contains(got, "557 new") || strings.Contains(got, "COUNTS_DISAGREE") {
		t.Error(got)
	}
	if p.counts > 60 {
		t.Errorf("%d counts were asked for", p.counts)
	}
}

// A provider whose counts never add up is harvested all the same, without expectations: every slice is proved by itself.
func TestCountsThatNeverAddUpAreNotBelieved(t *testing.T) {
	p := (&dayProvider{}).fill(12, 47)
	p.counted = func(_ *dayProvider, days int) int {
		if days == 12 {
			return 30
		}
		return 0
	}
	says := harvestOf(t, p, counting)
	got := says(exitOK, "harvest", "mine", "--base-url", "URL", "--from", "2026-05-01", "--to", "2026-05-13")
	for _, want := range []string{"564 new", "complete through 2026-05-13", "COUNTS_DISAGREE", "2026-05-01~2026-05-13 was counted as 594, and its 12 pieces as 564 together"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q does not say %q", got, want)
		}
	}
	for _, blame := range []string{"PARTITION_LAW", "window.field", "window.upper", "cannot be cut"} {
		if strings.Contains(got, blame) {
			t.Errorf("%q blames the file: %q", got, blame)
		}
	}
	got = says(exitOK, "plan", "HARVEST", "mine", "--base-url", "URL", "--from", "2026-05-01", "--to", "2026-05-13", "--force", "--dry-run")
	if !strings.Contains(got, "12 slices by TIME") || !strings.Contains(got, "COUNTS_DISAGREE") {
		t.Error(got)
	}
}

// A plan that failed, as those of earlier versions did, does not keep the same command from planning again.
func TestAFailedPlanDoesNotBlockTheSameCommand(t *testing.T) {
	p := (&dayProvider{}).fill(3, 5)
	says := harvestOf(t, p, counting)
	ask := []string{"--base-url", "URL", "--from", "2026-05-01", "--to", "2026-05-04"}
	says(exitOK, append([]string{"plan", "HARVEST", "mine"}, ask...)...)
	storetest.Damage(checked{t}, "patra.db", "UPDATE ing_plan SET status_code = 'FAILED', reason_code = 'PARTITION_LAW'; DELETE FROM ing_task; DELETE FROM ing_plan_slice; UPDATE ing_plan SET slice_count = 0")
	if got := says(exitOK, append([]string{"harvest", "mine"}, ask...)...); !strings.Contains(got, "15 new") {
		t.Error(got)
	}
}

// checked fails a test by an error.
type checked struct{ *testing.T }

// Check implements what Damage asks for.
func (c checked) Check(err error) {
	if err != nil {
		c.Fatal(err)
	}
}
