package cli

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"patra"
)

// printConduct prints how we asked, for the terminal.
func printConduct(w io.Writer, views []requestStatsView, from patra.Instant) {
	if len(views) == 0 {
		fmt.Fprintf(w, "Nobody was asked since %s. Next: patra gate report --since 30d, or patra gate status\n", seconds(from))
		return
	}
	t := newTable(w, "key", "sent", "refused", "", "errors", "wait", "95 %", "peak/s", "peak/min")
	for _, v := range views {
		t.AppendRow(v.row(cut(v.Key, 14)))
		for _, d := range v.Days {
			t.AppendRow(d.row("  " + d.From.Time().Format(time.DateOnly)))
		}
	}
	t.Render()
	for _, v := range views {
		for _, said := range v.verdict() {
			fmt.Fprintln(w, wrapped(v.Key+": "+said, 2))
		}
	}
	fmt.Fprintln(w, "Next: patra gate report "+quoted(views[0].Key)+" -o markdown")
}

func (v requestStatsView) row(name string) []any {
	return []any{name, v.Requests, v.Refused(), fmt.Sprintf("%.1f%%", 100*v.RefusedShare), v.Errors, brief(v.WaitedMean), brief(v.WaitedMost), against(v.PeakSecond, v.InSecond), against(v.PeakMinute, v.InMinute)}
}

// against is a peak and what is permitted.
func against(n, of int64) string {
	if of == 0 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d/%d", n, of)
}

// verdict says whether we kept to what is permitted.
func (v requestStatsView) verdict() (all []string) {
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	if v.Archived > 0 {
		add("about %s until %s %s in the archive, and in none of these figures; patra archive restore plan:ID brings them back.", plural(v.Archived, "request"), seconds(v.ArchivedUntil), verb(v.Archived, "is", "are"))
	}
	switch {
	case v.Requests+v.Open == 0:
		return all
	case v.InSecond == 0:
		add("no installed source says what is permitted.")
	case v.PeakSecond > v.InSecond:
		add("more than permitted: %d in the second before %s, and %d are.", v.PeakSecond, seconds(v.PeakSecondAt), v.InSecond)
	case v.PeakMinute > v.InMinute:
		add("more than permitted: %d in the minute before %s, and %d are.", v.PeakMinute, seconds(v.PeakMinuteAt), v.InMinute)
	default:
		add("never more than permitted.")
	}
	if v.Cooldowns > 0 {
		said := fmt.Sprintf("asked to be left alone %s, and was", times(v.Cooldowns))
		if v.Broken > 0 {
			said = fmt.Sprintf("asked to be left alone %s; %s all the same, the first at %s", times(v.Cooldowns), verbed(v.Broken, "was sent", "were sent"), seconds(v.BrokenAt))
		}
		if v.OnTheWay > 0 {
			said += fmt.Sprintf(" (%s on the way already)", verbed(v.OnTheWay, "was", "were"))
		}
		add("%s.", said)
	}
	if v.Open > 0 {
		add("of %s it is not known whether they left.", plural(v.Open, "request"))
	}
	return all
}

func verbed(n int64, one, many string) string {
	return plural(n, "request") + " " + verb(n, one, many)
}

// markdownConduct is a page that can be sent to a provider.
func markdownConduct(w io.Writer, views []requestStatsView, from patra.Instant, version string) {
	fmt.Fprintf(w, "# How we asked\n\n%s to %s (UTC), by Patra %s.\n", seconds(from), seconds(now()), version)
	if len(views) == 0 {
		fmt.Fprintln(w, "\nNo request was sent in this time.")
	}
	for _, v := range views {
		v.markdown(w)
	}
}

func (v requestStatsView) markdown(w io.Writer) {
	row := func(name, format string, args ...any) {
		fmt.Fprintf(w, "| %s | %s |\n", name, strings.ReplaceAll(fmt.Sprintf(format, args...), "|", `\|`))
	}
	fmt.Fprintf(w, "\n## %s\n\n| who we are | |\n|---|---|\n", v.Key)
	for _, s := range v.Identity {
		row(strings.ToLower(s.Where)+" "+s.Name, "`%s`", s.Value)
	}
	if v.Credential != "" {
		row("credential", "named %s", v.Credential)
	}
	if len(v.SharedBy) > 0 {
		row("asked by", "%s", strings.Join(v.SharedBy, ", "))
	}
	fmt.Fprint(w, "\n| what we asked | |\n|---|---|\n")
	row("requests", "%s", thousands(v.Requests))
	if v.Archived > 0 {
		row("before that", "about %s until %s, of which no more is at hand", thousands(v.Archived), seconds(v.ArchivedUntil))
	}
	for _, kind := range slices.Sorted(maps.Keys(v.Kinds)) {
		row("of these "+kindWords[kind], "%s", thousands(v.Kinds[kind]))
	}
	row("answered", "%s", thousands(v.Answered))
	row("refused", "%s with 429, %s with 503: %.2f %%", thousands(v.TooMany), thousands(v.Unavailable), 100*v.RefusedShare)
	row("other errors", "%s", thousands(v.Errors))
	row("received", "%s bytes", thousands(v.Bytes))
	row("waited for our turn", "%s in all, %s on average, 95 %% not longer than %s", roughDuration(time.Duration(v.WaitedAll*float64(time.Second))), brief(v.WaitedMean), brief(v.WaitedMost))
	fmt.Fprint(w, "\n| what is permitted | | we |\n|---|---|---|\n")
	if v.InSecond > 0 {
		fmt.Fprintf(w, "| in any second | %d (%s a second) | at most %d |\n", v.InSecond, rateText(v.PerSecond), v.PeakSecond)
		fmt.Fprintf(w, "| in any minute | %d | at most %d |\n", v.InMinute, v.PeakMinute)
	} else {
		fmt.Fprintf(w, "| in any second | not known | at most %d |\n| in any minute | not known | at most %d |\n", v.PeakSecond, v.PeakMinute)
	}
	fmt.Fprintf(w, "| left alone when asked to | %s | %s sent all the same |\n\n", times(v.Cooldowns), verbed(v.Broken, "was", "were"))
	for _, said := range v.verdict() {
		fmt.Fprintln(w, sentence(said))
	}
	if len(v.Days) == 0 {
		return
	}
	fmt.Fprint(w, "\n| day | requests | 429 | 503 | other errors | busiest second | busiest minute |\n|---|---|---|---|---|---|---|\n")
	for _, d := range v.Days {
		fmt.Fprintf(w, "| %s | %s | %d | %d | %d | %d | %d |\n", d.From.Time().Format(time.DateOnly), thousands(d.Requests), d.TooMany, d.Unavailable, d.Errors, d.PeakSecond, d.PeakMinute)
	}
}

var kindWords = map[string]string{patra.RequestPage: "pages of results", patra.RequestDetail: "records by their ids", patra.RequestProbe: "counts", patra.RequestAuth: "for a token", patra.RequestCheck: "whether it is there"}
