package export

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"

	"patra"
)

// manifestName begins with a line: readers of whole folders leave such files alone.
const manifestName = "_manifest.json"

// Hive is the layout in which folders are named after what is in them: source=pubmed/year=2026.
const Hive = "hive"

// nowhere is the year of records without one. It is a number as the others are: DuckDB takes the name that others have for
// this, __HIVE_DEFAULT_PARTITION__, for a text, and then refuses to compare any year with a number.
const nowhere = "0"

// Limit is when a part is large enough. Zero does not limit.
type Limit struct{ Bytes, Rows int64 }

// Folder writes parts. A round of them ends together: then all its files get their names, and the manifest says how far the
// export is. Only whole rounds count.
type Folder struct {
	root     *os.Root
	lock     *os.File
	manifest Journal
	limit    Limit
	round    int
	rows     int64                // in this round
	bytes    int64                // written in this round
	held     int64                // in memory, not written yet
	groups   int                  // that were ended for want of room in this round
	open     map[string]*tempFile // by folder
	mark     patra.ExportPosition
}

// OpenFolder begins a folder, or goes on with it. job says then from where.
func OpenFolder(at string, job *Job, limit Limit, how ExistingPolicy) (f *Folder, err error) {
	if err := os.MkdirAll(at, 0o700); err != nil {
		return nil, err
	}
	f = &Folder{limit: limit, open: map[string]*tempFile{}}
	if f.root, err = os.OpenRoot(at); err != nil {
		return nil, err
	}
	if err := f.begin(job, how); err != nil {
		return nil, errors.Join(err, f.close())
	}
	return f, nil
}

// close lets go of the place.
func (f *Folder) close() error {
	if f.lock != nil {
		f.lock.Close()
	}
	return f.root.Close()
}

func (f *Folder) begin(job *Job, how ExistingPolicy) (err error) {
	if f.lock, err = lockFolder(f.root); err != nil {
		return err
	}
	found, err := readJournal(f.root, manifestName)
	if err != nil && !how.Force {
		return err
	}
	if found == nil && !how.Force {
		entries, err := fs.ReadDir(f.root.FS(), ".")
		if err != nil {
			return err
		}
		if slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() != partialName(manifestName) }) {
			return ErrThere
		}
	}
	if found, err = how.decide(found, *job); err != nil {
		return err
	}
	f.manifest = Journal{Version: journalVersion, Job: *job}
	if found != nil {
		f.manifest, *job = *found, found.Job
	}
	if err := f.tidy(); err != nil {
		return err
	}
	f.round, f.mark = 1, f.manifest.Mark
	for _, p := range f.manifest.Files {
		n, _ := partNumber(p.Name)
		f.round = max(f.round, n+1)
	}
	return writeJSON(f.root, manifestName, f.manifest)
}

var partFile = regexp.MustCompile(`^\.?part-(\d{5,})\.(jsonl|csv|tsv|parquet)(\.partial)?$`)

// partNumber is the number of a file that we would write.
func partNumber(name string) (int, bool) {
	found := partFile.FindStringSubmatch(path.Base(name))
	if found == nil {
		return 0, false
	}
	n, err := strconv.Atoi(found[1])
	return n, err == nil
}

// tidy removes parts that the manifest does not know: those of a round that was cut off, or of an export that is written
// over. Then it sees that what the manifest knows is there.
func (f *Folder) tidy() error {
	kept := map[string]int64{}
	for _, p := range f.manifest.Files {
		kept[p.Name] = p.Bytes
	}
	err := fs.WalkDir(f.root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if want, ok := kept[name]; ok {
			info, err := d.Info()
			if err == nil && info.Size() == want {
				delete(kept, name)
			}
			return err
		}
		if _, ours := partNumber(name); ours {
			return f.root.Remove(name)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(kept)) {
		return fmt.Errorf("%s is not there as the manifest has it; begin anew with --force", name)
	}
	return nil
}

// Mark is the last record that is safe.
func (f *Folder) Mark() patra.ExportPosition { return f.manifest.Mark }

// place is the folder of a record. Its name is made of our own words only.
func (f *Folder) place(r patra.Record) string {
	if f.manifest.Job.Layout != Hive {
		return "."
	}
	y := nowhere
	if r.UpdatedAt != nil {
		y = strconv.Itoa(r.UpdatedAt.Time().Year())
	}
	return path.Join("source="+url.PathEscape(r.Source), year+"="+y)
}

// Write implements Sink.
func (f *Folder) Write(r patra.Record) error {
	part, err := f.part(f.place(r))
	if err != nil {
		return err
	}
	held, written := part.enc.pending(), part.bytes
	if err := part.put(r); err != nil {
		return err
	}
	if err := f.trim(part, held, written); err != nil {
		return err
	}
	f.mark = patra.PositionOf(r)
	f.rows++
	if f.limit.Rows > 0 && f.rows >= f.limit.Rows || f.limit.Bytes > 0 && f.bytes >= f.limit.Bytes || f.groups >= roundGroups {
		return f.endRound()
	}
	return nil
}

func (f *Folder) part(place string) (*tempFile, error) {
	if a, ok := f.open[place]; ok {
		return a, nil
	}
	if place != "." {
		if err := f.root.MkdirAll(place, 0o700); err != nil {
			return nil, err
		}
	}
	form := f.manifest.Job.Form
	if f.manifest.Job.Layout == Hive {
		form.small = true
		// The name of the folder says it, and a reader that finds it twice is at a loss.
		form.Columns = slices.DeleteFunc(slices.Clone(form.Columns), func(c Column) bool { return c.Field == "" && c.Name == "source" })
	}
	a, err := newAside(f.root, path.Join(place, fmt.Sprintf("part-%05d.%s", f.round, form.Format)), form, 0)
	if err == nil {
		f.open[place] = a
	}
	return a, err
}

// heldBytes is what all open files may hold in memory together. Many files get small row groups that way, and of each group
// something is held until its file ends; so a round ends after roundGroups of them.
const (
	heldBytes   = groupBytes
	roundGroups = 128
)

// trim ends the largest row group when all of them together hold too much.
func (f *Folder) trim(part *tempFile, held, written int64) error {
	f.held += part.enc.pending() - held
	f.bytes += part.bytes - written
	if f.held < heldBytes {
		return nil
	}
	largest := part
	for _, a := range f.open {
		if a.enc.pending() > largest.enc.pending() {
			largest = a
		}
	}
	held, written = largest.enc.pending(), largest.bytes
	if err := largest.enc.flush(); err != nil {
		return err
	}
	f.held -= held
	f.bytes += largest.bytes - written
	f.groups++
	return nil
}

// endRound gives all files of the round their names, and then notes in the manifest that they count.
func (f *Folder) endRound() error {
	parts := f.manifest.Files
	places := slices.Sorted(maps.Keys(f.open))
	for _, place := range places {
		part, err := f.open[place].seal()
		if err != nil {
			return err
		}
		parts = append(parts, part)
	}
	for _, place := range places {
		if err := publish(f.root, f.open[place].name); err != nil {
			return err
		}
		f.manifest.Records += f.open[place].records
		f.manifest.Bytes += f.open[place].bytes
	}
	f.manifest.Files, f.manifest.Mark = parts, f.mark
	clear(f.open)
	f.rows, f.bytes, f.held, f.groups = 0, 0, 0, 0
	f.round++
	return writeJSON(f.root, manifestName, f.manifest)
}

// Pause implements Sink: what is written becomes a round, if it can.
func (f *Folder) Pause() error {
	defer f.close()
	if len(f.open) == 0 {
		return nil
	}
	if err := f.endRound(); err != nil {
		for _, a := range f.open {
			a.discard()
		}
		return err
	}
	return nil
}

// Seal implements Sink.
func (f *Folder) Seal() (string, error) {
	if len(f.manifest.Files) == 0 && len(f.open) == 0 && f.manifest.Job.Layout != Hive {
		if _, err := f.part("."); err != nil { // a table without rows still has columns
			return "", err
		}
	}
	if len(f.open) > 0 {
		if err := f.endRound(); err != nil {
			return "", err
		}
	}
	f.manifest.Complete = true
	if err := sealJSON(f.root, manifestName, f.manifest); err != nil {
		return "", err
	}
	return hashOf(f.root, partialName(manifestName))
}

// Publish implements Sink.
func (f *Folder) Publish() error {
	defer f.close()
	return publish(f.root, manifestName)
}

// Result implements Sink.
func (f *Folder) Result() Result { return f.manifest.Result }
