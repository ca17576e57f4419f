package patra_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"patra"
)

func flag(field string) string { return "--" + field }

func TestAProblemNamesItsFieldAsTheCallerWritesIt(t *testing.T) {
	err := fmt.Errorf("plan: %w", patra.Invalid("from", "{from} %s does not lie before {to} %s", "2026-02-01", "2026-01-01"))
	if got := err.Error(); got != "plan: from 2026-02-01 does not lie before to 2026-01-01" {
		t.Errorf("bare: %s", got)
	}
	if got := patra.SayError(err, flag); got != "plan: --from 2026-02-01 does not lie before --to 2026-01-01" {
		t.Errorf("as flags: %s", got)
	}
	if p, ok := errors.AsType[patra.Problem](err); !ok || p.Field != "from" {
		t.Errorf("the field is %q", p.Field)
	}
	outer := patra.Environment(fmt.Errorf("open: %w", patra.Invalid("out", "{out} is a folder")))
	if got := patra.SayError(outer, flag); got != "open: --out is a folder" {
		t.Errorf("inside of another problem: %s", got)
	}
	for _, text := range []string{"${contact}", "{v}", "{no_such_field}", "{}", "year:[2000 TO 2010}"} {
		if got := patra.SayError(patra.Invalid("", "%s", text), flag); got != text {
			t.Errorf("%s became %s", text, got)
		}
	}
	hint := patra.Problem{Code: "C", Text: "it is done", Hint: "{force} does it again"}
	if got := hint.Say(flag); got != "it is done (C). --force does it again" {
		t.Errorf("a hint: %s", got)
	}
}

func TestWhatIsBehindAProblemIsFoundAgain(t *testing.T) {
	if err := patra.Environment(fmt.Errorf("read: %w", io.ErrUnexpectedEOF)); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error("an environment hides its cause")
	}
	if err := patra.Environment(nil); err != nil {
		t.Errorf("no error is %v", err)
	}
	if err := patra.Absent("there is no task %d", 7); !errors.Is(err, patra.ErrNotFound) || errors.Is(err, patra.ErrLeaseLost) {
		t.Error("an absent thing is an ErrNotFound and nothing else")
	}
	if errors.Is(patra.Invalid("id", "{id} is no number"), patra.ErrNotFound) {
		t.Error("a bad request is no ErrNotFound")
	}
}

// TestKindOf is the table that exit codes and HTTP statuses are derived from.
func TestKindOf(t *testing.T) {
	halted := patra.Problems{{Code: patra.WaitHalted, Text: "halted"}}
	secret := patra.Problem{Code: patra.CodeSecretMissing}
	for _, c := range []struct {
		name string
		err  error
		want patra.Kind
	}{
		{"a bad request", patra.Invalid("from", "x"), patra.KindRefused},
		{"a bad file", patra.Problems{{Code: "BAD_VALUE"}}, patra.KindRefused},
		{"a file that contradicts itself", patra.Problems{{Code: patra.CodeConflict, Path: "rate"}}, patra.KindRefused},
		{"a thing that is not there", patra.Absent("x"), patra.KindMissing},
		{"an unknown source", patra.Problems{{Code: patra.CodeUnknownSource}}, patra.KindMissing},
		{"a row that is not there", patra.ErrNotFound, patra.KindFailed},
		{"a conflict", patra.Conflict("x"), patra.KindConflict},
		{"a halted source", halted, patra.KindConflict},
		{"an illegal move", fmt.Errorf("close: %w", patra.ErrIllegalMove), patra.KindConflict},
		{"a plan that moved", patra.ErrPlanMoved, patra.KindConflict},
		{"a lost lease", patra.ErrLeaseLost, patra.KindConflict},
		{"the environment", patra.Environment(io.EOF), patra.KindEnvironment},
		{"a missing secret", patra.Problems{secret, secret}, patra.KindEnvironment},
		{"a missing secret and a bad file", patra.Problems{secret, {Code: "BAD_VALUE"}}, patra.KindRefused},
		{"a store that is away", patra.ErrUnavailable, patra.KindEnvironment},
		{"something open", patra.Incomplete("x"), patra.KindIncomplete},
		{"something open, after a signal", patra.Incomplete("%w", context.Canceled), patra.KindIncomplete},
		{"a signal", fmt.Errorf("read: %w", context.Canceled), patra.KindIncomplete},
		{"the environment, after a signal", patra.Environment(context.Canceled), patra.KindIncomplete},
		{"too late", context.DeadlineExceeded, patra.KindFailed},
		{"anything else", io.EOF, patra.KindFailed},
	} {
		if got := patra.KindOf(c.err); got != c.want {
			t.Errorf("%s is of kind %d, want %d", c.name, got, c.want)
		}
	}
}

func TestGeneralCodesAreNotShown(t *testing.T) {
	for _, err := range []error{patra.Invalid("", "x"), patra.Absent("x"), patra.Conflict("x"), patra.Incomplete("x"), patra.Environment(errors.New("x"))} {
		if err.Error() != "x" {
			t.Errorf("%q", err)
		}
	}
	if s := (patra.Problem{Code: patra.CodeConflict, Path: "a", Text: "x"}).String(); !strings.Contains(s, "(CONFLICT at a)") {
		t.Errorf("%q", s)
	}
}
