// Package cli is the command line of Patra: one small file a command. It turns flags into requests and results into
// text, and wires the parts together. It decides no rule and runs no SQL.
package cli

import (
	"context"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
)

// gcPercent is the default GOGC: a harvest frees page after page and is not slower with a smaller heap.
const gcPercent = 70

// Main runs the program with the arguments of the process and returns its exit code. SIGINT and SIGTERM cancel it.
func Main(version string) int {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return execute(ctx, version, os.Args[1:], os.Environ(), os.Stdout, os.Stderr)
}

// execute is the whole program apart from the process around it.
func execute(ctx context.Context, version string, args, environ []string, stdout, stderr io.Writer) int {
	a := &app{version: version, environ: environ, stdout: stdout, stderr: stderr}
	defer a.recoverPanic()()
	root := a.root()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	a.flushTraces(ctx)
	if a.store != nil {
		if closeErr := a.store.Close(); err == nil {
			err = closeErr
		}
	}
	return report(stderr, err)
}
