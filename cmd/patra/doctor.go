package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"patra"
)

// finding is what one look came to.
type finding struct {
	Check   string        `json:"check"`
	Verdict patra.Verdict `json:"verdict"`
	Text    string        `json:"text"`
	Next    string        `json:"next,omitempty"`
	Rows    []string      `json:"rows,omitempty"`
	Damage  bool          `json:"damage"` // of a failure: what is stored is wrong, not what is around it
}

func fine(check, format string, args ...any) finding {
	return finding{Check: check, Verdict: patra.VerdictOK, Text: fmt.Sprintf(format, args...)}
}

func warn(check, next, format string, args ...any) finding {
	return finding{Check: check, Verdict: patra.VerdictWarn, Text: fmt.Sprintf(format, args...), Next: next}
}

func fail(check, next, format string, args ...any) finding {
	return finding{Check: check, Verdict: patra.VerdictFail, Text: fmt.Sprintf(format, args...), Next: next}
}

// damaged is a failure of what is stored.
func damaged(check, next, format string, args ...any) finding {
	f := fail(check, next, format, args...)
	f.Damage = true
	return f
}

func (a *app) doctorCmd() *cobra.Command {
	var deep bool
	var out format
	c := &cobra.Command{
		Use: "doctor", Short: "Look whether everything is as it should be, and say what to do", Args: noArgs,
		Long: "Doctor looks at the configuration, the store, the clock, the disk, the sources and the work that does not go on by\nitself. With --deep it also checks every promise about what is stored: that no watermark stands beyond what was read,\nthat every closed window has its proof, that every record comes from a page that was committed.\nExit code 1 means that something stored is wrong, 3 that something around it is.",
		RunE: func(c *cobra.Command, _ []string) error {
			found, err := a.examine(c.Context(), deep)
			if err != nil {
				return err
			}
			if out == "table" {
				printFindings(a.stdout, found)
			} else if err := printRows(a.stdout, out, found, columns[finding]{}); err != nil {
				return err
			}
			return diagnosis(found)
		},
	}
	c.Flags().BoolVar(&deep, "deep", false, "check every promise about what is stored; takes a while in a large store")
	formatFlag(c, &out)
	return c
}

// examine looks at one thing after the other. What cannot be looked at without another is left out when that fails.
func (a *app) examine(ctx context.Context, deep bool) ([]finding, error) {
	found, ok := a.examineConfig()
	if !ok {
		return found, nil
	}
	found = append(found, a.examineSources(ctx)...)
	found = append(found, a.examineSecrets()...)
	found = append(found, a.examineRedis(ctx)...)
	store, ok := a.examineStore(ctx)
	found = append(found, store...)
	if !ok {
		return found, nil
	}
	work, err := a.examineWork(ctx)
	if err != nil {
		return nil, err
	}
	found = append(found, work...)
	alerts, err := a.examineAlerts(ctx)
	if err != nil {
		return nil, err
	}
	found = append(found, alerts...)
	if !deep {
		return found, nil
	}
	promises, err := a.examinePromises(ctx)
	return append(found, promises...), err
}

// examinePromises checks what is stored, with a line on the terminal now and then.
func (a *app) examinePromises(ctx context.Context) ([]finding, error) {
	shown, count := time.Now(), 0
	broken, err := a.store.Verify(ctx, func(done, all int, promise string) {
		if count = all; time.Since(shown) > quiet {
			shown = time.Now()
			fmt.Fprintf(a.stderr, "doctor: %d/%d promises checked, now whether %s\n", done, all, promise)
		}
	})
	if err != nil {
		return nil, err
	}
	found := []finding{}
	for _, v := range broken {
		f := finding{Check: "promise", Verdict: v.Verdict, Text: "Broken: " + v.Promise, Next: v.Next, Rows: rowsOf(v), Damage: v.Verdict == patra.VerdictFail}
		found = append(found, f)
	}
	if len(broken) == 0 {
		found = append(found, fine("promises", "All %d promises about what is stored are kept", count))
	}
	return found, nil
}

// rowsOf names the rows that break a promise.
func rowsOf(v patra.Violation) []string {
	if more := v.Count - int64(len(v.Rows)); more > 0 {
		return append(slices.Clone(v.Rows), fmt.Sprintf("and %s more", thousands(more)))
	}
	return v.Rows
}

// diagnosis is the exit code: damage counts before what is around it, and a warning is no failure.
func diagnosis(found []finding) error {
	code, failed := exitOK, 0
	for _, f := range found {
		switch {
		case f.Verdict != patra.VerdictFail:
			continue
		case f.Damage:
			code = exitFailed
		case code == exitOK:
			code = exitEnvironment
		}
		failed++
	}
	if failed == 0 {
		return nil
	}
	if failed == 1 {
		return coded{code, errors.New("1 finding needs attention")}
	}
	return coded{code, fmt.Errorf("%d findings need attention", failed)}
}

func printFindings(w io.Writer, found []finding) {
	const column = 18 // where the sentences begin
	count := map[patra.Verdict]int64{}
	for _, f := range found {
		count[f.Verdict]++
		fmt.Fprintf(w, "%-4s  %-11s %s\n", f.Verdict, f.Check, wrapped(f.Text, column))
		for _, row := range f.Rows {
			fmt.Fprintf(w, "%*s%s\n", column, "", wrapped("· "+row, column+2))
		}
		if f.Next != "" && f.Verdict != patra.VerdictOK {
			fmt.Fprintf(w, "%*s%s\n", column, "", wrapped("→ "+f.Next, column+2))
		}
	}
	fmt.Fprintf(w, "\n%s: %d fine, %d to look at, %d broken.\n", plural(int64(len(found)), "check"), count[patra.VerdictOK], count[patra.VerdictWarn], count[patra.VerdictFail])
}
