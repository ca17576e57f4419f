// Package crashtest breaks the disk under a program on purpose: it lets strace kill it, or refuse it something, at one chosen
// write of its files, and writes down all of them, so that the states can be made in which a power cut leaves a disk.
package crashtest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// changing are the system calls by which files and folders change, or are made durable.
const changing = "pwrite64,write,writev,pwritev,fsync,fdatasync,ftruncate,fallocate,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,link,linkat"

// Missing is the variable that says that a machine without strace must fail the tests that need it, instead of leaving
// them out.
const Missing = "PATRA_TEST_STRACE"

// Need leaves a test out where programs cannot be watched.
func Need(t testing.TB) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "strace", "-f", "-o", os.DevNull, "-e", "trace=none", "true").CombinedOutput()
	switch {
	case err == nil:
	case os.Getenv(Missing) != "":
		t.Fatalf("strace cannot be used: %v %s", err, out)
	default:
		t.Skipf("strace cannot be used here (%v): scripts/install strace installs it", err)
	}
}

// Fault is what happens at one call.
type Fault struct {
	Call string // the name of the system call
	Nth  int    // which one of that name, from 1
	Kind Kind
}

// Kind is a way in which a call goes wrong. None of them carries it out.
type Kind string

// The ways.
const (
	Kill    Kind = "signal=KILL" // the process is gone just before the call
	IOError Kind = "error=EIO"
	NoSpace Kind = "error=ENOSPC"
)

// String is the fault in words.
func (f Fault) String() string { return fmt.Sprintf("%s at %s %d", f.Kind, f.Call, f.Nth) }

// Run is how a program ended that was watched.
type Run struct {
	Calls    []string // what it did to the files, in order
	Injected int      // how many faults there were
	Out      string   // what it printed
	Err      error    // how it ended
}

// Counts are how many calls of each name there were.
func (r Run) Counts() map[string]int {
	n := map[string]int{}
	for _, c := range r.Calls {
		n[c]++
	}
	return n
}

// Every lists a fault for each call, of each kind, in a fixed order. With step above one it takes one in so many.
func (r Run) Every(step int, kinds ...Kind) (all []Fault) {
	counts := r.Counts()
	var names []string
	for name := range counts {
		names = append(names, name)
	}
	slices.Sort(names)
	i := 0
	for _, name := range names {
		for nth := 1; nth <= counts[name]; nth++ {
			for _, k := range kinds {
				if i++; i%step == 0 {
					all = append(all, Fault{name, nth, k})
				}
			}
		}
	}
	return all
}

var traced = regexp.MustCompile(`^(\d+) +([a-z0-9_]+)\(`)

// Watch runs a program and counts what it does to the files below a folder; fault, if there is one, happens. All calls must
// come from one thread, because strace counts those of each thread by themselves.
func Watch(t testing.TB, cmd *exec.Cmd, folder string, fault *Fault, files ...string) Run {
	t.Helper()
	log := filepath.Join(t.TempDir(), "strace")
	args := []string{"-f", "-qq", "-o", log, "-e", "signal=none", "-e", "trace=" + changing, "-s", "0", "-P", folder}
	for _, f := range files {
		args = append(args, "-P", filepath.Join(folder, f))
	}
	if fault != nil {
		args = append(args, "-e", fmt.Sprintf("inject=%s:%s:when=%d", fault.Call, fault.Kind, fault.Nth))
	}
	var out bytes.Buffer
	watched := exec.CommandContext(t.Context(), "strace", append(append(args, "--", cmd.Path), cmd.Args[1:]...)...)
	watched.Env, watched.Dir, watched.Stdout, watched.Stderr = cmd.Env, cmd.Dir, &out, &out
	r := Run{Err: watched.Run()}
	r.Out = out.String()
	raw, err := os.ReadFile(log)
	if err != nil {
		t.Fatalf("%v: %s", err, r.Out)
	}
	var thread string
	lines := bufio.NewScanner(bytes.NewReader(raw))
	for lines.Scan() {
		m := traced.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		if thread == "" {
			thread = m[1]
		}
		if fault != nil && fault.Kind == Kill && strings.HasSuffix(lines.Text(), "<unfinished ...>") {
			m[1] = thread // whoever dies beside the one that was killed is written down as if it did the same
		}
		if thread != m[1] {
			t.Fatalf("the files are changed by several threads:\n%s", raw)
		}
		r.Calls = append(r.Calls, m[2])
		if strings.HasSuffix(lines.Text(), "(INJECTED)") {
			r.Injected++
		}
	}
	// strace ends as whom it watched. Of a call that was the last of its process it has seen the beginning.
	if how, ok := errors.AsType[*exec.ExitError](r.Err); ok && fault != nil && fault.Kind == Kill && r.Counts()[fault.Call] >= fault.Nth {
		if status, ok := how.Sys().(syscall.WaitStatus); ok && status.Signal() == syscall.SIGKILL {
			r.Injected++
		}
	}
	return r
}
