package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"patra"
	"patra/internal/store"
)

// coverageView is what is proved about one cursor.
type coverageView struct {
	Cursor   patra.Cursor   `json:"cursor"`
	Sealed   patra.Coverage `json:"sealed"`
	Fetched  patra.Coverage `json:"fetched"`
	Disputed patra.Coverage `json:"disputed"`
	Live     patra.Coverage `json:"live"`
	Gaps     patra.Coverage `json:"gaps"`
	Answers  []patra.Answer `json:"answers"`
}

func (a *app) coverageCmd() *cobra.Command {
	c := &cobra.Command{
		Use: "coverage", Short: "See what is proved to be complete", Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	var out format
	show := &cobra.Command{
		Use: "show [SOURCE]", Short: "Show covered, disputed, running and missing days", Args: atMostOne,
		RunE: func(c *cobra.Command, args []string) error {
			s, err := a.open(c.Context())
			if err != nil {
				return err
			}
			var f store.Filter
			if len(args) == 1 {
				f.Source = args[0]
			}
			views, err := coverageViews(c, s, f)
			if err != nil {
				return err
			}
			if out != "table" {
				return printValue(a.stdout, out, views)
			}
			if len(views) == 0 {
				fmt.Fprintln(a.stdout, "Nothing is covered yet. "+emptyNext)
			}
			for _, v := range views {
				v.print(a.stdout)
			}
			return nil
		},
	}
	formatFlag(show, &out)
	c.AddCommand(show, a.lateCmd())
	return c
}

func coverageViews(c *cobra.Command, s *store.Store, f store.Filter) ([]coverageView, error) {
	cursors, err := s.Cursors(c.Context(), f)
	if err != nil {
		return nil, err
	}
	views := []coverageView{}
	for _, cur := range cursors {
		answers, err := s.Answers(c.Context(), cur.ID)
		if err != nil {
			return nil, err
		}
		_, covered, live, err := s.Need(c.Context(), cur.ID)
		if err != nil {
			return nil, err
		}
		paint := patra.Paint(answers)
		v := coverageView{Cursor: cur, Answers: answers, Live: live, Sealed: paint[patra.StateSealed], Fetched: paint[patra.StateFetched], Disputed: paint[patra.StateDisputed]}
		v.Gaps = patra.NewCoverage(v.span()).Minus(covered.Union(live))
		views = append(views, v)
	}
	return views, nil
}

// span is from the origin to the last moment that anything is known about.
func (v coverageView) span() patra.Window {
	w := patra.Window{From: v.Cursor.Origin, To: v.Cursor.Value}
	for _, a := range v.Answers {
		w.To = max(w.To, a.Window.To)
	}
	if n := len(v.Live); n > 0 {
		w.To = max(w.To, v.Live[n-1].To)
	}
	return w
}

func (v coverageView) print(w io.Writer) {
	fmt.Fprintf(w, "%s/%s %s by %s\n", v.Cursor.Source, v.Cursor.Endpoint, v.Cursor.Operation, v.Cursor.Key)
	fmt.Fprintf(w, "  watermark         %s\n  complete through  %s\n", v.Cursor.Value, v.Cursor.SealedThrough)
	for _, line := range []struct {
		name string
		set  patra.Coverage
	}{{"sealed", v.Sealed}, {"fetched", v.Fetched}, {"disputed", v.Disputed}, {"under way", v.Live}, {"gaps", v.Gaps}} {
		if len(line.set) > 0 {
			fmt.Fprintf(w, "  %-17s %s\n", line.name, days(line.set, 4))
		}
	}
	v.calendar(w)
}

// calendarMonths is how many months the calendar shows, newest last.
const calendarMonths = 12

// calendar draws a line a month, a sign a day.
func (v coverageView) calendar(w io.Writer) {
	span := v.span()
	if span.IsEmpty() {
		return
	}
	first := patra.UnitMonth.Floor(span.From)
	last := patra.UnitMonth.Floor(patra.UnitDay.Prev(patra.UnitDay.Ceil(span.To)))
	if early := (patra.Period{Months: calendarMonths - 1}).Before(last); early > first {
		first = early
	}
	fmt.Fprintln(w)
	for month := first; month <= last; month = patra.UnitMonth.Next(month) {
		var b strings.Builder
		for day := month; day < patra.UnitMonth.Next(month); day += patra.Day {
			b.WriteRune(v.sign(patra.Window{From: day, To: day + patra.Day}, span))
		}
		fmt.Fprintf(w, "  %s %s\n", month.Time().Format("2006-01"), b.String())
	}
	fmt.Fprintln(w, "          █ sealed  ▓ fetched  ? disputed  … under way  · gap")
}

// sign is the worst that is true of any part of a day.
func (v coverageView) sign(day, span patra.Window) rune {
	in := func(c patra.Coverage) bool { return len(c.Clip(day)) > 0 }
	switch {
	case day.To <= span.From || day.From >= span.To:
		return ' '
	case in(v.Gaps):
		return '·'
	case in(v.Live):
		return '…'
	case in(v.Disputed):
		return '?'
	case in(v.Fetched):
		return '▓'
	}
	return '█'
}
