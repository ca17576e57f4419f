package crashtest

import (
	"bytes"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// sector is what a disk writes whole. Of a longer write any part may arrive.
const sector = 4096

// file is what a name stands for. Its bytes on the disk are those that were made durable, and any of the later ones.
type file struct {
	folder  bool
	durable []byte
	pending []change
}

// change is a piece of a write, or a truncation when there is no data.
type change struct {
	at   int64
	data []byte
	when int // which call it was
}

func (c change) apply(to []byte) []byte {
	if c.data == nil {
		return resized(to, c.at)
	}
	if end := c.at + int64(len(c.data)); end > int64(len(to)) {
		to = resized(to, end)
	}
	copy(to[c.at:], c.data)
	return to
}

func resized(b []byte, n int64) []byte {
	if n <= int64(len(b)) {
		return b[:n]
	}
	return append(b, make([]byte, n-int64(len(b)))...)
}

// naming is a change of a folder: a name that stands for a file from then on, or for nothing.
type naming struct {
	was, is string // either may be empty
	what    *file
	when    int
}

// Disk is what a disk has, as far as anybody can know: what is durable, and what a power cut may take or leave.
type Disk struct {
	names   map[string]*file    // durable names, below the folder
	now     map[string]*file    // names as the program sees them
	pending map[string][]naming // by folder, in order
}

// Power is a program's life as its disk saw it.
type Power struct {
	folder string
	begin  map[string]*file
	events []event
	Err    error
}

// event is one system call that succeeded, or something that the program said.
type event struct {
	call     string
	path, to string
	at       int64
	data     []byte
	said     string
	fd       string
	flags    string
	begun    int // of a sync: how many events were over when it began
}

// Record runs a program and writes down what it does to the files below a folder, and what it prints.
func Record(t testing.TB, cmd *exec.Cmd, folder string) *Power {
	t.Helper()
	p := &Power{folder: folder, begin: map[string]*file{"": {folder: true}}}
	err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == folder {
			return err
		}
		f := &file{folder: e.IsDir()}
		if !e.IsDir() {
			f.durable, err = os.ReadFile(path)
		}
		p.begin[p.name(path)] = f
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(t.TempDir(), "strace")
	watched := exec.CommandContext(t.Context(), "strace", append([]string{"-f", "--seccomp-bpf", "-qq", "-y", "-xx", "-s", "1000000", "-e", "signal=none", "-o", log,
		"-e", "trace=open,openat,close,lseek," + changing, "--", cmd.Path}, cmd.Args[1:]...)...)
	watched.Env, watched.Dir = cmd.Env, cmd.Dir
	var out bytes.Buffer
	watched.Stderr = &out
	watched.Stdout = &out
	if p.Err = watched.Run(); p.Err != nil {
		t.Logf("%v: %s", p.Err, out.Bytes())
	}
	raw, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	p.events = parse(t, raw, p.name)
	return p
}

// name is a path below the folder; one outside of it has none, and neither has what only processes that live share.
func (p *Power) name(path string) string {
	below, err := filepath.Rel(p.folder, path)
	if err != nil || below == ".." || strings.HasPrefix(below, "../") || strings.HasSuffix(below, "-shm") {
		return outside
	}
	if below == "." {
		return ""
	}
	return below
}

const outside = "\x00"

// Len is how many moments there are at which the power may fail.
func (p *Power) Len() int { return len(p.events) }

// Said is what the program had printed by then.
func (p *Power) Said(moment int) string {
	var all strings.Builder
	for _, e := range p.events[:moment] {
		all.WriteString(e.said)
	}
	return all.String()
}

// At is the disk when the first so many calls are over.
func (p *Power) At(moment int) *Disk {
	d := &Disk{names: maps.Clone(p.begin), pending: map[string][]naming{}}
	for name, f := range d.names {
		c := *f
		c.durable = slices.Clone(f.durable)
		d.names[name] = &c
	}
	d.now = maps.Clone(d.names)
	offsets := map[string]int64{}
	for i, e := range p.events[:moment] {
		d.take(e, offsets, i)
	}
	return d
}

func (d *Disk) take(e event, offsets map[string]int64, when int) {
	switch e.call {
	case "openat":
		offsets[e.fd] = 0
		f := d.now[e.path]
		if f == nil && strings.Contains(e.flags, "O_CREAT") {
			d.rename(naming{is: e.path, what: &file{}, when: when})
		} else if f != nil && strings.Contains(e.flags, "O_TRUNC") {
			f.change(0, nil, when)
		}
	case "pwrite64":
		d.now[e.path].change(e.at, e.data, when)
	case "write":
		d.now[e.path].change(offsets[e.fd], e.data, when)
		offsets[e.fd] += int64(len(e.data))
	case "ftruncate":
		d.now[e.path].change(e.at, nil, when)
	case "mkdirat":
		d.rename(naming{is: e.path, what: &file{folder: true}, when: when})
	case "renameat":
		d.rename(naming{was: e.path, is: e.to, what: d.now[e.path], when: when})
	case "unlinkat":
		d.rename(naming{was: e.path, what: d.now[e.path], when: when})
	case "linkat":
		d.rename(naming{is: e.to, what: d.now[e.path], when: when})
	case "fsync", "fdatasync":
		d.sync(e.path, e.begun)
	}
}

// change notes a write in pieces that arrive whole, or a truncation.
func (f *file) change(at int64, data []byte, when int) {
	if f == nil {
		panic("something is written to that was never opened")
	}
	if data == nil {
		f.pending = append(f.pending, change{at: at, when: when})
		return
	}
	for len(data) > 0 {
		n := min(int64(len(data)), sector-at%sector)
		f.pending = append(f.pending, change{at, slices.Clone(data[:n]), when})
		at, data = at+n, data[n:]
	}
}

// rename notes a change of names, and lets the program see it.
func (d *Disk) rename(n naming) {
	folder := n.is
	if folder == "" {
		folder = n.was
	}
	parent := filepath.Dir(folder)
	if parent == "." {
		parent = ""
	}
	d.pending[parent] = append(d.pending[parent], n)
	n.apply(d.now)
}

func (n naming) apply(to map[string]*file) {
	if n.was != "" {
		delete(to, n.was)
	}
	if n.is != "" {
		to[n.is] = n.what
	}
}

// sync makes durable what a file has, or which names a folder has. That the name of a file is durable with its bytes is
// something that many file systems do, and that none has promised.
func (d *Disk) sync(path string, begun int) {
	f := d.now[path]
	if f == nil {
		return
	}
	// What was written while the sync was under way may have come too late for it.
	i := slices.IndexFunc(f.pending, func(c change) bool { return c.when >= begun })
	if i < 0 {
		i = len(f.pending)
	}
	for _, c := range f.pending[:i] {
		f.durable = c.apply(f.durable)
	}
	f.pending = f.pending[i:]
	for f.folder && len(d.pending[path]) > 0 && d.pending[path][0].when < begun {
		d.pending[path][0].apply(d.names)
		d.pending[path] = d.pending[path][1:]
	}
}

// Luck decides what of that which was not made durable a power cut leaves.
type Luck func() bool

// Everything and Nothing are the two that every disk may have.
var (
	Everything Luck = func() bool { return true }
	Nothing    Luck = func() bool { return false }
)

// Drawn leaves a share of it, drawn anew at each piece.
func Drawn(r *rand.Rand, share float64) Luck { return func() bool { return r.Float64() < share } }

// Restart writes the disk as it is found after a power cut into an empty folder. Of the changes of one folder the first ones
// are there; of those of a file any.
func (d *Disk) Restart(t testing.TB, into string, luck Luck) {
	t.Helper()
	names := maps.Clone(d.names)
	for _, folder := range slices.Sorted(maps.Keys(d.pending)) {
		for _, n := range d.pending[folder] {
			if !luck() {
				break
			}
			n.apply(names)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		f := names[name]
		if parent := names[up(name)]; parent == nil || !reachable(names, name) {
			continue // the folder that it is in was lost
		}
		path := filepath.Join(into, name)
		if f.folder {
			if err := os.MkdirAll(path, 0o750); err != nil {
				t.Fatal(err)
			}
			continue
		}
		content := slices.Clone(f.durable)
		for _, c := range f.pending {
			if luck() {
				content = c.apply(content)
			}
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func up(name string) string {
	if dir := filepath.Dir(name); dir != "." {
		return dir
	}
	return ""
}

func reachable(names map[string]*file, name string) bool {
	for name != "" {
		if name = up(name); names[name] == nil {
			return false
		}
	}
	return true
}
