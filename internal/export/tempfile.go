package export

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"

	"patra"
)

// partial ends the names of files that are not whole.
const partial = ".partial"

// durable waits until the disk has a file. Tests of what is written in which order need not wait.
var durable = (*os.File).Sync

// tempFile is a file that is being written beside its final name.
type tempFile struct {
	root    *os.Root
	name    string // the final one
	file    *os.File
	buf     *bufio.Writer
	sum     hash.Hash
	bytes   int64
	records int64
	enc     encoder
}

func partialName(name string) string { return path.Join(path.Dir(name), "."+path.Base(name)+partial) }

// newAside begins a file; keep is how much of what is there stays.
func newAside(root *os.Root, name string, f Format, keep int64) (*tempFile, error) {
	flags := os.O_CREATE | os.O_RDWR
	if keep == 0 {
		flags |= os.O_TRUNC
	}
	file, err := root.OpenFile(partialName(name), flags, 0o600)
	if err != nil {
		return nil, err
	}
	a := &tempFile{root: root, name: name, file: file, sum: sha256.New(), bytes: keep}
	if err := a.goOn(keep); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	a.buf = bufio.NewWriterSize(io.MultiWriter(file, a.sum), 64<<10)
	if a.enc, err = f.encoder(a, keep > 0); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return a, nil
}

// goOn cuts off what came after the last safe record, and reads the rest for its hash.
func (a *tempFile) goOn(keep int64) error {
	if keep == 0 {
		return nil
	}
	if n, err := io.CopyN(a.sum, a.file, keep); err != nil {
		return fmt.Errorf("%s has %d of the %d bytes that its journal speaks of: %w", partialName(a.name), n, keep, err)
	}
	return a.file.Truncate(keep)
}

// Write implements io.Writer for the encoder.
func (a *tempFile) Write(p []byte) (int, error) {
	n, err := a.buf.Write(p)
	a.bytes += int64(n)
	return n, err
}

func (a *tempFile) put(r patra.Record) error {
	a.records++
	return a.enc.write(r)
}

// sync makes what was written durable.
func (a *tempFile) sync() error {
	if err := a.enc.flush(); err != nil {
		return err
	}
	if err := a.buf.Flush(); err != nil {
		return err
	}
	return durable(a.file)
}

// seal ends the file. It is durable then, and has no name yet.
func (a *tempFile) seal() (Part, error) {
	if err := a.enc.close(); err != nil {
		return Part{}, err
	}
	if err := a.buf.Flush(); err != nil {
		return Part{}, err
	}
	if err := errors.Join(durable(a.file), a.file.Close()); err != nil {
		return Part{}, err
	}
	return Part{Name: a.name, Records: a.records, Bytes: a.bytes, SHA256: hex.EncodeToString(a.sum.Sum(nil))}, nil
}

// discard throws away what is not whole.
func (a *tempFile) discard() {
	a.file.Close()
	_ = a.root.Remove(partialName(a.name)) // it is only in the way
}

// publish gives a sealed file its name.
func publish(root *os.Root, name string) error {
	if err := root.Rename(partialName(name), name); err != nil {
		return err
	}
	return syncFolder(root, path.Dir(name))
}

// syncFolder makes names durable.
func syncFolder(root *os.Root, name string) error {
	dir, err := root.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(durable(dir), dir.Close())
}

// writeJSON replaces a small file in one step.
func writeJSON(root *os.Root, name string, v any) error {
	if err := sealJSON(root, name, v); err != nil {
		return err
	}
	return publish(root, name)
}

// sealJSON makes a small file durable that has no name yet.
func sealJSON(root *os.Root, name string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	f, err := root.OpenFile(partialName(name), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(data, '\n'))
	return errors.Join(err, durable(f), f.Close())
}

// readJournal is what a journal says; nil if there is none.
func readJournal(root *os.Root, name string) (*Journal, error) {
	data, err := root.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	j := &Journal{}
	if err := json.Unmarshal(data, j); err != nil || j.Version != journalVersion {
		return nil, fmt.Errorf("%s is not the journal of an export that this program can go on with", name)
	}
	return j, nil
}

func hashOf(root *os.Root, name string) (string, error) {
	f, err := root.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	_, err = io.Copy(sum, f)
	return hex.EncodeToString(sum.Sum(nil)), err
}

func exists(root *os.Root, name string) bool {
	_, err := root.Lstat(name)
	return err == nil
}
