package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"
)

// tellNumbers listens for those who watch the process, until ctx ends. It is for this machine only, and never in the way
// of the work.
func (a *app) tellNumbers(ctx context.Context, group *errgroup.Group, address string, h http.Handler) error {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return environment(fmt.Errorf("ops.listen: %w", err))
	}
	server := &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second, MaxHeaderBytes: 16 << 10}
	group.Go(func() error {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	})
	group.Go(func() error {
		<-ctx.Done()
		return server.Close()
	})
	fmt.Fprintf(a.stdout, "Numbers are at http://%s/metrics.\n", l.Addr())
	return nil
}
