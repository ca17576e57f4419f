// Command patra harvests scholarly literature into one store, and can prove what it covered.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
)

// collectAt is by how many percent the memory may grow before what nobody uses is collected. A harvest lets go of a page after the
// other, and is not slower for it.
const collectAt = 70

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(collectAt)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Environ(), os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
