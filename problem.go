package patra

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Problem is one thing wrong with a request, a file or the installation: a stable code, the place, the sentence, the next
// step. In Text and Hint a field of the request stands as {from}: the command line writes --from, the API from.
type Problem struct {
	Code  string `json:"code"`
	Field string `json:"field,omitempty"` // of the request; "" where no field is meant
	File  string `json:"file,omitempty"`
	Line  int    `json:"line,omitempty"`
	Col   int    `json:"col,omitempty"`
	Path  string `json:"path,omitempty"`
	Text  string `json:"text"`
	Hint  string `json:"hint,omitempty"`

	cause error // what Text was made of; nil where there is no error behind it
}

// The general codes. They say how a request ended and not what was wrong, so people are not shown them.
const (
	CodeBadRequest  = "BAD_REQUEST" // a field of the request, or all of it
	CodeNotFound    = "NOT_FOUND"   // the thing that was named does not exist
	CodeConflict    = "CONFLICT"    // the state of the installation forbids it now
	CodeEnvironment = "ENVIRONMENT" // store, network, disk, secret
	CodeIncomplete  = "INCOMPLETE"  // it ran, and something is missing
)

// Invalid refuses a request: field is what is wrong with it, "" for the request as a whole.
func Invalid(field, format string, a ...any) error {
	return general(CodeBadRequest, field, format, a)
}

// Absent says that the thing that was named does not exist. It is an ErrNotFound.
func Absent(format string, a ...any) error { return general(CodeNotFound, "", format, a) }

// Conflict says that the state of the installation forbids what was asked.
func Conflict(format string, a ...any) error { return general(CodeConflict, "", format, a) }

// Incomplete says that a command ran and left something open.
func Incomplete(format string, a ...any) error { return general(CodeIncomplete, "", format, a) }

// Environment says that store, network, disk or a secret failed. It is nil for no error.
func Environment(err error) error {
	if err == nil {
		return nil
	}
	return Problem{Code: CodeEnvironment, Text: SayError(err, braced), cause: err}
}

func general(code, field, format string, a []any) error {
	err := fmt.Errorf(format, a...)
	return Problem{Code: code, Field: field, Text: SayError(err, braced), cause: err}
}

// Error is the problem with bare field names.
func (p Problem) Error() string { return p.String() }

// Unwrap gives the error behind it, if any.
func (p Problem) Unwrap() error { return p.cause }

// Is makes an absent thing an ErrNotFound.
func (p Problem) Is(target error) bool { return target == ErrNotFound && p.Code == CodeNotFound }

// String renders the problem with bare field names.
func (p Problem) String() string { return p.Say(func(field string) string { return field }) }

// RequestFields are the fields that a sentence may name. Each is a flag of a command, written with dashes.
var RequestFields = []string{
	"action", "at", "base_url", "changed_since", "code", "columns", "compare", "contact", "cooldown", "cursor", "deleted", "dir",
	"disputed", "dry_run", "end_cooldown", "every", "expires", "fields", "file", "for", "force", "forget",
	"format", "from", "gone", "id", "ids_of", "key", "layout", "limit", "lineage", "list_separator", "live", "mapping",
	"older_than", "out", "params", "part_size", "per_day", "per_second", "priority", "profile", "rate",
	"raw_cells", "read", "reason", "repository", "resume", "revoke", "role", "share", "since", "source", "source_file", "stale", "status", "to",
	"type", "updated_from", "updated_to", "url", "where", "workers", "yes",
}

// placeholder is the name of a request's field in a sentence.
var placeholder = regexp.MustCompile(`\$?\{[a-z_]+\}`)

// Say renders `file:line:col: text (CODE at path). Hint.` with the fields of the request as spell writes them. The general
// codes are left out.
func (p Problem) Say(spell func(field string) string) string {
	var b strings.Builder
	if p.File != "" {
		b.WriteString(p.File + ":")
		if p.Line > 0 {
			fmt.Fprintf(&b, "%d:", p.Line)
			if p.Col > 0 {
				fmt.Fprintf(&b, "%d:", p.Col)
			}
		}
		b.WriteString(" ")
	}
	b.WriteString(Spell(p.Text, spell))
	if !p.general() {
		b.WriteString(" (" + p.Code)
		if p.Path != "" {
			b.WriteString(" at " + p.Path)
		}
		b.WriteString(")")
	}
	if p.Hint != "" {
		hint := Spell(p.Hint, spell)
		b.WriteString(". " + strings.ToUpper(hint[:1]) + hint[1:])
	}
	return b.String()
}

// SayError is the text of err with the fields of the problem inside as spell writes them.
func SayError(err error, spell func(field string) string) string {
	text := err.Error()
	if p, ok := errors.AsType[Problem](err); ok {
		return strings.Replace(text, p.Error(), p.Say(spell), 1)
	}
	return text
}

// braced keeps a field as it stands in a sentence.
func braced(field string) string { return "{" + field + "}" }

// Spell replaces every {field} of a request in text; other braces stay.
func Spell(text string, spell func(field string) string) string {
	if !strings.Contains(text, "{") {
		return text
	}
	return placeholder.ReplaceAllStringFunc(text, func(m string) string {
		name := strings.Trim(m, "{}")
		if slices.Contains(RequestFields, name) { // ${contact} is a reference of a source file
			return spell(name)
		}
		return m
	})
}

// general reports whether the code says no more than how the request ended. A file may contradict itself, too: that CONFLICT has
// a place.
func (p Problem) general() bool {
	codes := []string{CodeBadRequest, CodeNotFound, CodeConflict, CodeEnvironment, CodeIncomplete}
	return p.File == "" && p.Path == "" && slices.Contains(codes, p.Code)
}

// Kind is how a failed request ended. Exit code and HTTP status are derived from it.
type Kind int

// The kinds.
const (
	KindFailed      Kind = iota // a failure that no other kind describes
	KindRefused                 // the request, a file or a query is wrong
	KindMissing                 // the thing that was named does not exist
	KindConflict                // the state of the installation forbids it
	KindEnvironment             // store, network, disk or secret
	KindIncomplete              // something is left open
)

// kindOfCode has the codes that are not refusals of a request. No other table knows codes.
var kindOfCode = map[string]Kind{
	CodeNotFound:         KindMissing,
	CodeUnknownSource:    KindMissing,
	CodeConflict:         KindConflict,
	WaitHalted:           KindConflict,
	CodeEnvironment:      KindEnvironment,
	CodeSecretMissing:    KindEnvironment,
	CodeSecretUnreadable: KindEnvironment,
	CodeNotKept:          KindEnvironment,
	CodeNewer:            KindEnvironment,
	CodeIncomplete:       KindIncomplete,
}

// KindOf tells how a request ended by its error. Several problems are of the environment if all are, else of the kind of the
// first.
func KindOf(err error) Kind {
	if found, ok := errors.AsType[Problems](err); ok && len(found) > 0 {
		kind := found[0].kind()
		if kind == KindEnvironment {
			for _, p := range found {
				if p.kind() != KindEnvironment {
					return KindRefused
				}
			}
		}
		return kind
	}
	p, named := errors.AsType[Problem](err)
	switch {
	case named && p.Code == CodeIncomplete:
		return KindIncomplete
	case errors.Is(err, context.Canceled): // the command was stopped, whatever failed by that
		return KindIncomplete
	case named:
		return p.kind()
	case errors.Is(err, ErrIllegalMove), errors.Is(err, ErrPlanMoved), errors.Is(err, ErrLeaseLost):
		return KindConflict
	case errors.Is(err, ErrUnavailable):
		return KindEnvironment
	}
	return KindFailed
}

func (p Problem) kind() Kind {
	kind, ok := kindOfCode[p.Code]
	if !ok || p.Code == CodeConflict && !p.general() {
		return KindRefused
	}
	return kind
}

// Problems is every problem found at once; it is an error when it is not empty.
type Problems []Problem

// Error lists all problems, one a line.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// Err is nil for no problems, so that a caller can return it as it is.
func (ps Problems) Err() error {
	if len(ps) == 0 {
		return nil
	}
	return ps
}
