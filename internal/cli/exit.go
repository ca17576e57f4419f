package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"patra"
	"patra/internal/store"
)

// The exit codes. A script can rely on them.
const (
	exitOK          = 0 // done and complete
	exitFailed      = 1
	exitUsage       = 2 // usage or invalid input
	exitEnvironment = 3 // store, network, secret, disk, migration needed
	exitIncomplete  = 4 // ran, but something is missing
)

func quote(s string) string { return strconv.Quote(s) }

// exitCodes are the exit codes of the kinds of failure.
var exitCodes = map[patra.Kind]int{
	patra.KindFailed:      exitFailed,
	patra.KindRefused:     exitUsage,
	patra.KindMissing:     exitUsage,
	patra.KindConflict:    exitFailed,
	patra.KindEnvironment: exitEnvironment,
	patra.KindIncomplete:  exitIncomplete,
}

// exitCode is the exit code of an error.
func exitCode(err error) int {
	if err == nil {
		return exitOK
	}
	kind := patra.KindOf(err)
	if kind == patra.KindFailed && (store.Unavailable(err) || store.Advice(err) != "") {
		kind = patra.KindEnvironment
	}
	return exitCodes[kind]
}

// report prints an error for a person and gives the exit code.
func report(stderr io.Writer, err error) int {
	if err == nil {
		return exitOK
	}
	if found, ok := errors.AsType[patra.Problems](err); ok {
		for _, p := range found {
			fmt.Fprintf(stderr, "patra: %s\n", p.Say(flagName))
		}
		return exitCode(err)
	}
	text := patra.SayError(err, flagName)
	p, named := errors.AsType[patra.Problem](err)
	switch {
	case errors.Is(err, context.Canceled) && (!named || p.Code != patra.CodeIncomplete): // the word of the signal says nothing to a user
		fmt.Fprintln(stderr, "patra: stopped before the end; give the same command again")
	case store.Advice(err) != "" && !ofProvider(err):
		fmt.Fprintf(stderr, "patra: %s. %s\n", text, store.Advice(err))
	default:
		fmt.Fprintf(stderr, "patra: %s\n", text)
	}
	return exitCode(err)
}

// flagName writes a field of a request as its flag.
func flagName(field string) string {
	if field == "params" { // of the API, where all of them are given at once
		return "--param"
	}
	return "--" + strings.ReplaceAll(field, "_", "-")
}

// ofProvider reports whether it is a provider that failed: what helps against a store that does not answer is no help then.
func ofProvider(err error) bool {
	_, is := errors.AsType[*patra.Fault](err)
	return is
}
