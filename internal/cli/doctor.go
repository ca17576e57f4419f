package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
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

func passed(check, format string, args ...any) finding {
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
	var ask doctorOptions
	var out format
	c := &cobra.Command{
		Use: "doctor [SOURCE...]", Short: "Look whether everything is as it should be, and say what to do",
		Long: "Doctor looks at the configuration, the store and its server, the clock, the disk, keys and secrets, the places of\nevidence and archive, sinks, ports, schedules, the sources and the work that does not go on by itself. With --providers it\nalso asks providers: one cheap request each, through the rate gate; without names those that are harvested. With --deep it also checks every promise about what is stored: that no watermark stands beyond what was read,\nthat every closed window has its proof, that every record comes from a page that was committed.\nExit code 1 means that something stored is wrong, 3 that something around it is.",
		Example: `  patra doctor
  patra doctor --providers crossref pubmed
  patra doctor --deep -o json`,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 && !ask.providers {
				return patra.Invalid("", "patra doctor asks providers only when it is told to; write patra doctor --providers %s", strings.Join(args, " "))
			}
			ask.sources = args
			found, err := a.examine(c.Context(), ask)
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
	c.Flags().BoolVar(&ask.deep, "deep", false, "check every promise about what is stored; takes a while in a large store")
	c.Flags().BoolVar(&ask.providers, "providers", false, "ask providers whether they are there; each is one request")
	c.Flags().StringVar(&ask.baseURL, "base-url", "", "mirror, proxy or simulator that is asked in place of a source's own address")
	formatFlag(c, &out)
	return c
}

// doctorOptions is what a doctor is asked for.
type doctorOptions struct {
	deep      bool
	providers bool
	sources   []string // whose providers; none: those that are harvested
	baseURL   string
}

// examine looks at one thing after the other. What cannot be looked at without another is left out when that fails.
func (a *app) examine(ctx context.Context, ask doctorOptions) ([]finding, error) {
	found, ok := a.examineConfig()
	if !ok {
		return found, nil
	}
	cfg, err := a.load()
	if err != nil {
		return nil, err
	}
	found = append(found, examineLimits(cfg)...)
	found = append(found, examineNTP()...)
	found = append(found, a.examineFiles(cfg)...)
	found = append(found, a.examinePlaces(ctx, cfg)...)
	found = append(found, a.examineSinks(ctx, cfg)...)
	found = append(found, examinePorts(ctx, cfg)...)
	found = append(found, a.examineSources(ctx)...)
	found = append(found, a.examineSecrets()...)
	found = append(found, a.examineInsecure()...)
	found = append(found, a.examineRedis(ctx)...)
	store, ok := a.examineStore(ctx, ask.deep)
	found = append(found, store...)
	if !ok {
		return found, nil
	}
	for _, look := range []func(context.Context) ([]finding, error){
		func(ctx context.Context) ([]finding, error) { return examineTokens(ctx, cfg, a.store) },
		func(ctx context.Context) ([]finding, error) { return examineSchedules(ctx, cfg, a.store) },
		func(ctx context.Context) ([]finding, error) { return a.examineAnswers(ctx, cfg) },
		a.examineWork,
		a.examineAlerts,
		func(ctx context.Context) ([]finding, error) { return a.examineProviders(ctx, cfg, ask) },
	} {
		more, err := look(ctx)
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	if !ask.deep {
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
		found = append(found, passed("promises", "All %d promises about what is stored are kept", count))
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

// diagnosis is nil where nothing failed. Damage counts before the environment, and a warning is no failure.
func diagnosis(found []finding) error {
	damage, failed := false, int64(0)
	for _, f := range found {
		if f.Verdict == patra.VerdictFail {
			damage = damage || f.Damage
			failed++
		}
	}
	if failed == 0 {
		return nil
	}
	err := fmt.Errorf("%s %s attention", plural(failed, "finding"), verb(failed, "needs", "need"))
	if damage {
		return err
	}
	return patra.Environment(err)
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
