package export

import (
	"errors"
	"os"
	"path/filepath"

	"patra"
)

// safeBytes is how much of a text file is written before it is made durable and the journal notes how far it is.
const safeBytes = 64 << 20

// File writes one file. A text can be gone on with from its last safe record; Parquet begins anew, because it is of no use
// before its end: who wants to go on with that writes a folder of parts.
type File struct {
	root    *os.Root
	lock    *os.File
	name    string
	journal Journal
	out     *tempFile
	mark    patra.ExportPosition
	safe    int64 // bytes that the journal knows of
}

func journalName(name string) string { return "." + name + ".journal" }

// OpenFile begins a file, or goes on with it. job says then from where.
func OpenFile(at string, job *Job, how ExistingPolicy) (f *File, err error) {
	f = &File{name: filepath.Base(at)}
	if f.root, err = os.OpenRoot(filepath.Dir(at)); err != nil {
		return nil, err
	}
	if err := f.begin(job, how); err != nil {
		return nil, errors.Join(err, f.close())
	}
	return f, nil
}

// close lets go of the place.
func (f *File) close() error {
	if f.lock != nil {
		f.lock.Close()
	}
	return f.root.Close()
}

func (f *File) begin(job *Job, how ExistingPolicy) (err error) {
	if exists(f.root, f.name) && !how.Force {
		return ErrThere
	}
	if f.lock, err = lockFile(f.root, f.name); err != nil {
		return err
	}
	if exists(f.root, f.name) && !how.Force { // whoever had it has finished meanwhile
		return errors.Join(ErrThere, f.root.Remove(partialName(f.name)))
	}
	found, err := readJournal(f.root, journalName(f.name))
	if err != nil && !how.Force {
		return err
	}
	if found, err = how.decide(found, *job); err != nil {
		return err
	}
	f.journal = Journal{Version: journalVersion, Job: *job}
	if found != nil {
		f.journal, f.mark, *job = *found, found.Mark, found.Job
		f.safe = found.Bytes
	}
	if f.out, err = newAside(f.root, f.name, job.Form, f.safe); err != nil {
		return err
	}
	f.out.records = f.journal.Records
	return writeJSON(f.root, journalName(f.name), f.journal)
}

// Mark is the last record that is safe.
func (f *File) Mark() patra.ExportPosition { return f.journal.Mark }

// Write implements Sink.
func (f *File) Write(r patra.Record) error {
	if err := f.out.put(r); err != nil {
		return err
	}
	if f.mark = patra.PositionOf(r); f.out.bytes-f.safe < safeBytes || f.journal.Job.Form.whole() {
		return nil
	}
	return f.note()
}

// note makes what was written safe.
func (f *File) note() error {
	if err := f.out.sync(); err != nil {
		return err
	}
	f.safe = f.out.bytes
	f.journal.Mark, f.journal.Records, f.journal.Bytes = f.mark, f.out.records, f.out.bytes
	return writeJSON(f.root, journalName(f.name), f.journal)
}

// Pause implements Sink.
func (f *File) Pause() error {
	defer f.close()
	if f.journal.Job.Form.whole() {
		f.out.discard()
		return f.root.Remove(journalName(f.name))
	}
	return errors.Join(f.note(), f.out.file.Close())
}

// Seal implements Sink.
func (f *File) Seal() (string, error) {
	part, err := f.out.seal()
	f.journal.Result = Result{Records: part.Records, Bytes: part.Bytes, Files: []Part{part}}
	return part.SHA256, err
}

// Publish implements Sink.
func (f *File) Publish() error {
	defer f.close()
	if err := publish(f.root, f.name); err != nil {
		return err
	}
	return f.root.Remove(journalName(f.name))
}

// Result implements Sink.
func (f *File) Result() Result {
	if len(f.journal.Files) == 0 {
		return Result{Records: f.out.records, Bytes: f.out.bytes}
	}
	return f.journal.Result
}
