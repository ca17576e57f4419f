package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"
)

// provideVariable makes this program a provider, of the world and with the manners that it names.
const provideVariable = "BENCH_PROVIDE"

// offer is what a provider is told.
type offer struct {
	World   world
	Manners manners
}

// provide serves until its input ends, and says where. A provider is a process of its own: it holds a lot of memory, and whoever is
// started by a process that does is said by Linux to have had as much.
func provide(told string, in io.Reader, out io.Writer) error {
	var o offer
	if err := json.Unmarshal([]byte(told), &o); err != nil {
		return err
	}
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "http://"+l.Addr().String())
	server := &http.Server{Handler: newPages(o.World, o.Manners), ReadHeaderTimeout: 10 * time.Second}
	go func() {
		_, _ = io.Copy(io.Discard, in)
		_ = server.Close()
	}()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// provider is such a process.
type provider struct {
	url  string
	stop func()
}

// startProvider serves a world on this machine.
func startProvider(ctx context.Context, w world, m manners) (*provider, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	told, err := json.Marshal(offer{w, m})
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self)
	cmd.Env, cmd.Stderr = append(os.Environ(), provideVariable+"="+string(told)), os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	stop := func() {
		_ = in.Close()
		_ = cmd.Wait()
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		stop()
		return nil, fmt.Errorf("the provider does not say where it is: %w", err)
	}
	return &provider{url: strings.TrimSpace(line), stop: stop}, nil
}

// tally asks it what it has seen so far; it forgets that if it shall begin anew.
func (p *provider) tally(ctx context.Context, anew bool) (t tally, err error) {
	method := http.MethodGet
	if anew {
		method = http.MethodDelete
	}
	req, err := http.NewRequestWithContext(ctx, method, p.url+tallyPath, nil)
	if err != nil {
		return t, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return t, err
	}
	defer res.Body.Close()
	return t, json.NewDecoder(res.Body).Decode(&t)
}
