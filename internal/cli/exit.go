package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"patra"
	"patra/internal/source"
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

// exitError is an error that knows its exit code.
type exitError struct {
	code int
	err  error
}

// Error implements error.
func (c exitError) Error() string { return c.err.Error() }

// Unwrap gives the error inside.
func (c exitError) Unwrap() error { return c.err }

func usage(format string, args ...any) error {
	return exitError{exitUsage, fmt.Errorf(format, args...)}
}

// notFound is a slip of the pen about something that is not there.
func notFound(format string, args ...any) error {
	return exitError{exitUsage, notFoundError{fmt.Errorf(format, args...)}}
}

// notFoundError is an error that callers of the API are told as not found.
type notFoundError struct{ error }

// Is makes it one of those that say so.
func (notFoundError) Is(target error) bool { return target == patra.ErrNotFound }

func environment(err error) error {
	if err == nil {
		return nil
	}
	return exitError{exitEnvironment, err}
}

func incomplete(format string, args ...any) error {
	return exitError{exitIncomplete, fmt.Errorf(format, args...)}
}

func quote(s string) string { return strconv.Quote(s) }

// report prints an error for a person and gives the exit code.
func report(stderr io.Writer, err error) int {
	if err == nil {
		return exitOK
	}
	if found, ok := errors.AsType[patra.Problems](err); ok {
		for _, p := range found {
			fmt.Fprintf(stderr, "patra: %s\n", p)
		}
		if !slices.ContainsFunc(found, func(p patra.Problem) bool { return !ofEnvironment(p) }) {
			return exitEnvironment
		}
		if found[0].Code == patra.WaitHalted { // what was asked for is right, and the answer is no
			return exitFailed
		}
		return exitUsage
	}
	switch c, is := errors.AsType[exitError](err); {
	case errors.Is(err, context.Canceled) && (!is || c.code != exitIncomplete): // the word of the signal helps nobody
		fmt.Fprintln(stderr, "patra: stopped before the end; give the same command again")
		return exitIncomplete
	case store.Advice(err) != "" && !ofProvider(err):
		fmt.Fprintf(stderr, "patra: %s. %s\n", err, store.Advice(err))
	default:
		fmt.Fprintf(stderr, "patra: %s\n", err)
	}
	if c, ok := errors.AsType[exitError](err); ok {
		return c.code
	}
	if store.Unavailable(err) {
		return exitEnvironment
	}
	return exitFailed
}

// ofProvider reports whether it is a provider that failed: what helps against a store that does not answer is no help then.
func ofProvider(err error) bool {
	_, is := errors.AsType[*patra.Fault](err)
	return is
}

// ofEnvironment reports whether a problem is not with what was asked but with where it was asked.
func ofEnvironment(p patra.Problem) bool {
	return p.Code == source.CodeSecretMissing || p.Code == source.CodeSecretUnreadable || p.Code == patra.CodeNotKept || p.Code == patra.CodeNewer
}
