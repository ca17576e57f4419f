package verifier

import (
	"bytes"
	"strings"
	"testing"

	"patra/internal/store/invariants"
)

// Every promise about the tables is asked for by exactly one invariant, and every name that an invariant gives is a promise.
func TestEveryPromiseIsAskedForOnce(t *testing.T) {
	promises := map[string]int{}
	for _, p := range invariants.Promises() {
		for _, l := range lines {
			if l.has(p.Text) {
				promises[p.Text]++
			}
		}
		if promises[p.Text] != 1 {
			t.Errorf("%d invariants ask whether %s", promises[p.Text], p.Text)
		}
	}
	for _, l := range lines {
		for _, text := range l.promises {
			if promises[text] == 0 {
				t.Errorf("%s: nobody promises that %s", l.name, text)
			}
		}
	}
	names := map[string]bool{}
	for _, v := range allInvariants() {
		if names[v.Name] || v.Text == "" || v.Noun == "" || v.ask == nil {
			t.Errorf("%q is there twice, or has no text", v.Name)
		}
		names[v.Name] = true
	}
}

// What is wrong with the arguments is said, with the exit code of bad usage or of a bad environment.
func TestBadArguments(t *testing.T) {
	for _, tt := range []struct {
		args string
		code int
		says string
	}{
		{"", exitUsage, "say which store"},
		{"-store postgres://x", exitEnvironment, "the store is sqlite:FILE"},
		{"-store mysqlx://root:swordfish@h/x", exitEnvironment, "...@h/x"},
		{"-store sqlite:nowhere.db", exitEnvironment, "open the store"},
		{"-store sqlite:x -truth crossref", exitUsage, "write SOURCE=FILE"},
		{"-store sqlite:x -secrets nowhere.txt", exitEnvironment, "nowhere.txt"},
		{"-store sqlite:x -o yaml", exitUsage, "-o is table or json"},
		{"-nonsense", exitUsage, "-nonsense"},
	} {
		var out, complaints bytes.Buffer
		if code := Main(t.Context(), strings.Fields(tt.args), &out, &complaints); code != tt.code || !strings.Contains(complaints.String(), tt.says) || strings.Contains(complaints.String(), "swordfish") {
			t.Errorf("%s: exit %d, %q", tt.args, code, complaints.String())
		}
	}
}

// Lines fit a terminal, and an invariant that had nothing to look at says so.
func TestWhatIsTold(t *testing.T) {
	all := allInvariants()
	all[0].Looked, all[1].Count, all[1].Examples, all[2].Skipped = 3, 1, []string{"x"}, "nobody said"
	var out bytes.Buffer
	if err := tell(&out, "table", all); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out.String()) {
		if len(line) > width+1 {
			t.Errorf("%d characters: %s", len(line), line)
		}
	}
	for _, want := range []string{"ok      ", "(3 watermarks)", "BROKEN  ", "          x\n", "SKIPPED ", "EMPTY   ", "1 broken."} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("there is no %q in\n%s", want, out.String())
		}
	}
	if verdict(all, false) != exitFound || verdict(all[:1], true) != exitOK || verdict(all[3:4], true) != exitFound || verdict(all[3:4], false) != exitOK {
		t.Error("the exit code is another")
	}
}
