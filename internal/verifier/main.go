package verifier

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"patra"
)

// Exit codes, as those of patra.
const (
	exitOK          = 0
	exitFound       = 1
	exitUsage       = 2
	exitEnvironment = 3
)

// list is a flag that may be given more than once.
type list []string

// String implements flag.Value.
func (l *list) String() string { return strings.Join(*l, ",") }

// Set implements flag.Value.
func (l *list) Set(text string) error {
	*l = append(*l, text)
	return nil
}

// Main is the program: it reads what its arguments name, and gives an exit code.
func Main(ctx context.Context, args []string, out, complaints io.Writer) int {
	var g Given
	var logs, truths, access list
	var secrets, form string
	var all bool
	fl := flag.NewFlagSet("patra-check", flag.ContinueOnError)
	fl.SetOutput(complaints)
	fl.Usage = func() {
		fmt.Fprint(complaints, "patra-check judges a harvest from outside. It only reads.\n\n  patra-check -store sqlite:patra.db -evidence evidence -access-log access.jsonl -truth crossref=truth/crossref.jsonl\n\n")
		fl.PrintDefaults()
	}
	fl.StringVar(&g.Store, "store", "", "the database: sqlite:`FILE` or mysql://USER:PASSWORD@HOST/NAME")
	fl.StringVar(&g.Evidence, "evidence", "", "`folder` of kept answers")
	fl.Var(&logs, "log", "`file` that a process of ours wrote; may be given more than once")
	fl.Var(&truths, "truth", "`SOURCE[/ENDPOINT]=FILE`: the provider's journal; may be given more than once")
	fl.Var(&access, "access-log", "the provider's own log of requests, a `file`; may be given more than once")
	fl.StringVar(&g.Gaps, "gaps", "", "`file` with the output of patra coverage gaps -o json")
	fl.StringVar(&secrets, "secrets", "", "`file` with texts that may stand nowhere, one a line")
	fl.Float64Var(&g.Rate, "rate", 0, "requests a second that are permitted; 0 does not ask")
	fl.IntVar(&g.Burst, "burst", 1, "requests at once that are permitted")
	fl.IntVar(&g.Forgiven, "forgiven", 0, "requests a second above the rate that are forgiven, where processes are stopped")
	fl.DurationVar(&g.Grace, "grace", time.Minute, "how long an expired lease may wait for somebody")
	fl.DurationVar(&g.Keep, "keep", 24*time.Hour, "for how long answers are kept at least")
	fl.BoolVar(&all, "need-all", false, "fail also if an invariant had nothing to look at")
	fl.StringVar(&form, "o", "table", "table or json")
	switch err := fl.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case err != nil:
		return exitUsage
	}
	complain := func(code int, err error) int {
		fmt.Fprintln(complaints, "patra-check:", err)
		return code
	}
	g.Logs, g.AccessLog, g.Truth, g.Now = logs, access, map[string]string{}, patra.InstantOf(time.Now())
	for _, t := range truths {
		of, file, ok := strings.Cut(t, "=")
		if !ok {
			return complain(exitUsage, fmt.Errorf("-truth %s: write SOURCE=FILE", t))
		}
		g.Truth[of] = file
	}
	if g.Store == "" || fl.NArg() > 0 || form != "table" && form != "json" {
		return complain(exitUsage, errors.New("say which store with -store; -o is table or json; nothing else is expected. patra-check -h tells more"))
	}
	if secrets != "" {
		data, err := os.ReadFile(secrets)
		if err != nil {
			return complain(exitEnvironment, err)
		}
		g.Secrets = strings.Fields(string(data))
	}
	found, err := Check(ctx, g)
	if err == nil {
		err = tell(out, form, found)
	}
	if err != nil {
		return complain(exitEnvironment, err)
	}
	return verdict(found, all)
}

func verdict(found []Invariant, all bool) int {
	for _, v := range found {
		if v.Count > 0 || all && v.Looked == 0 {
			return exitFound
		}
	}
	return exitOK
}

// tell writes one line an invariant, and its findings below it.
func tell(w io.Writer, form string, found []Invariant) error {
	if form == "json" {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(found)
	}
	b := &strings.Builder{}
	broken := 0
	for _, v := range found {
		switch {
		case v.Count > 0:
			broken++
			fold(b, "BROKEN  ", fmt.Sprintf("%s (%d findings in %d %s)", v.Text, v.Count, v.Looked, v.Noun))
		case v.Skipped != "":
			fold(b, "SKIPPED ", fmt.Sprintf("%s: %s", v.Text, v.Skipped))
		case v.Looked == 0:
			fold(b, "EMPTY   ", fmt.Sprintf("%s (there were no %s to look at)", v.Text, v.Noun))
		default:
			fold(b, "ok      ", fmt.Sprintf("%s (%d %s)", v.Text, v.Looked, v.Noun))
		}
		if v.Note != "" {
			fmt.Fprintf(b, "          %s\n", v.Note)
		}
		for _, e := range v.Examples {
			fmt.Fprintf(b, "          %s\n", e)
		}
	}
	fmt.Fprintf(b, "%d invariants, %d broken.\n", len(found), broken)
	_, err := io.WriteString(w, b.String())
	return err
}

// width is what a terminal has room for.
const width = 80

// fold writes a sentence behind a mark, in lines that fit.
func fold(b *strings.Builder, mark, text string) {
	b.WriteString(mark)
	used := len(mark)
	for i, word := range strings.Fields(text) {
		if i > 0 && used+1+len(word) > width {
			fmt.Fprintf(b, "\n%*s", len(mark), "")
			used = len(mark)
		} else if i > 0 {
			b.WriteByte(' ')
			used++
		}
		b.WriteString(word)
		used += len(word)
	}
	b.WriteByte('\n')
}
