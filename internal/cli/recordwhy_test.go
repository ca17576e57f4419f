package cli

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// indexed is a provider that is asked by the day on which it indexed a work, and dates works by their publication, years ago.
// Its works of 3 May cannot be read.
func indexed(w http.ResponseWriter, r *http.Request) {
	day := r.URL.Query().Get("from")
	switch {
	case day == "2026-05-03":
		http.Error(w, "no", http.StatusTeapot)
	case r.URL.Query().Get("offset") != "0":
		fmt.Fprint(w, `{"items":[]}`)
	default:
		fmt.Fprintf(w, `{"items":[{"id":"w-%s","title":"T","changed":"2019-01-31"},{"id":"v-%[1]s","title":"T","changed":"2026-05-03"}]}`, day)
	}
}

// Where a record is stored, its own date is not asked about windows: the slice that brought it says which window it came by.
func TestWhyFollowsTheLineageOfAStoredRecord(t *testing.T) {
	says := harvestOf(t, http.HandlerFunc(indexed), doubted)
	says(exitIncomplete, "harvest", "mine", "--base-url", "URL", "--from", "2026-05-01", "--to", "2026-05-05", "--no-probe")
	for id, lies := range map[string][]string{"w-2026-05-02": {"lies before the beginning", "backfill"}, "v-2026-05-02": {"reading it failed", "gap"}} {
		got := says(exitOK, "records", "why", "mine", id)
		for _, want := range []string{"It is stored", "2026-05-02~2026-05-03 was read to its end by slice 2 (READ)", "slice 2 asked for 2026-05-02~2026-05-03 by changed"} {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %q does not say %q", id, got, want)
			}
		}
		for _, lie := range append(lies, "2026-05-03~2026-05-04", "2019-01-31~") {
			if strings.Contains(got, lie) {
				t.Errorf("%s: %q says %q", id, got, lie)
			}
		}
	}
	// With a date the windows of that date stand beside it, and are not taken for where it came from.
	got := says(exitOK, "records", "why", "mine", "v-2026-05-02", "--date", "2026-05-03")
	for _, want := range []string{"slice 2 asked for 2026-05-02~2026-05-03 by changed", "reading it failed"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q does not say %q", got, want)
		}
	}
	if got := says(exitOK, "records", "why", "mine", "w-2026-05-02", "-o", "json"); !strings.Contains(got, `"by": "LINEAGE"`) || strings.Contains(got, `"date"`) {
		t.Error(got)
	}
}

// Of a record that is not stored only what the windows show is said, and by which date.
func TestWhySaysOfAnAbsentRecordWhatIsKnown(t *testing.T) {
	says := harvestOf(t, http.HandlerFunc(indexed), doubted)
	says(exitIncomplete, "harvest", "mine", "--base-url", "URL", "--from", "2026-05-01", "--to", "2026-05-05", "--no-probe")
	for _, c := range []struct{ date, want, window string }{
		{"", "It is not stored. Say with --date", ""},
		{"2026-05-02", "It is not stored. By that date 2026-05-02~2026-05-03 would have held it, which was read to its end", "2026-05-02~2026-05-03 was read to its end by slice 2 (READ)"},
		{"2026-05-03", "It is not stored, and no window that would hold it by that date has been read", "reading it failed: HTTP 418"},
		{"2019-01-31", "It is not stored, and no window that would hold it by that date has been read", "it lies before the beginning"},
	} {
		args := []string{"records", "why", "mine", "absent"}
		if c.date != "" {
			args = append(args, "--date", c.date)
		}
		got := says(exitOK, args...)
		for _, want := range []string{c.want, c.window} {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %q does not say %q", c.date, got, want)
			}
		}
		if strings.Contains(got, "never seen") {
			t.Errorf("%s: %q says more than is known", c.date, got)
		}
	}
}
