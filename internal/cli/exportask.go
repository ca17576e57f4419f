package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"patra"
	"patra/internal/export"
	"patra/internal/store"
)

// exportRequest is what an export is to do.
type exportRequest struct {
	extract store.ExportQuery
	job     export.Job
	filter  json.RawMessage // what a cursor is bound to
	limit   export.Limit
	lineage bool
	folder  bool
	stream  bool // somebody reads along: standard output, a pipe, a device
}

// exportFilter is which records are wanted, as it is compared and shown.
type exportFilter struct {
	Sources      []string       `json:"sources,omitempty"`
	Type         string         `json:"record_type,omitempty"`
	Where        []string       `json:"where,omitempty"`
	Deleted      string         `json:"deleted,omitempty"`
	Missing      bool           `json:"missing,omitempty"`
	Gone         string         `json:"gone,omitempty"`
	From         *patra.Instant `json:"from,omitempty"`
	To           *patra.Instant `json:"to,omitempty"`
	ChangedSince *patra.Instant `json:"changed_since,omitempty"`
	Limit        int64          `json:"limit,omitempty"`
	Lineage      bool           `json:"lineage,omitempty"`
}

// ask turns the flags into work, or says what is wrong with them.
func (f *exportFlags) ask() (ask exportRequest, err error) {
	if err := f.settleFormat(); err != nil {
		return ask, err
	}
	if ask.folder, ask.stream, err = f.place(); err != nil {
		return ask, err
	}
	if err := f.honest(ask); err != nil {
		return ask, err
	}
	q := exportFilter{Sources: slices.Sorted(slices.Values(f.sources)), Type: f.recordType, Where: f.where, Limit: f.limit, Lineage: f.lineage}
	look := recordFilterFlags{where: f.where, recordType: f.recordType, limit: f.limit, changedSince: f.changedSince}
	if ask.extract.RecordQuery, err = look.query(nil); err != nil {
		return ask, err
	}
	if ask.extract.UpdatedFrom, err = instantField("from", f.from); err != nil {
		return ask, err
	}
	if ask.extract.UpdatedTo, err = instantField("to", f.to); err != nil {
		return ask, err
	}
	x := &ask.extract
	if x.UpdatedFrom != nil && x.UpdatedTo != nil && *x.UpdatedFrom >= *x.UpdatedTo {
		return ask, patra.Invalid("from", "{from} %s does not lie before {to} %s", f.from, f.to)
	}
	q.From, q.To, q.ChangedSince = x.UpdatedFrom, x.UpdatedTo, x.ChangedSince
	x.Sources = q.Sources
	switch f.deleted {
	case "include":
	case "exclude":
		x.Present, q.Deleted = true, f.deleted
	case "only":
		x.Deleted, q.Deleted = true, f.deleted
	default:
		return ask, patra.Invalid("deleted", "{deleted} %q is not known; write include, exclude or only", f.deleted)
	}
	x.Missing, q.Missing = f.missing, f.missing
	switch f.gone {
	case "include":
	case "exclude":
		x.NotGone, q.Gone = true, f.gone
	case "only":
		x.Gone, q.Gone = true, f.gone
	default:
		return ask, patra.Invalid("gone", "{gone} %q is not known; write include, exclude or only", f.gone)
	}
	if ask.limit, err = parsePartSize(f.partSize); err != nil {
		return ask, err
	}
	if err := f.agree(); err != nil {
		return ask, err
	}
	ask.lineage = f.lineage
	x.Raw = f.raw || slices.Contains(f.columns, "raw")
	ask.job = export.Job{Layout: f.layout, Cursor: f.cursor, Form: export.Format{Format: f.format, Fields: f.fields, Raw: x.Raw, RawCells: f.rawCells}}
	if f.table() && f.format != export.Parquet {
		ask.job.Form.Separator = f.separator
	}
	ask.filter, err = json.Marshal(q)
	ask.job.Question = string(ask.filter)
	return ask, err
}

// table reports whether the format has columns.
func (f *exportFlags) table() bool { return f.format != export.JSONL }

var exportFormats = []string{export.JSONL, export.CSV, export.TSV, export.Parquet}

// settleFormat finds the format, and what goes without saying in it.
func (f *exportFlags) settleFormat() error {
	if f.format == "" {
		f.format, f.unsaid = export.JSONL, true
		if ext := strings.TrimPrefix(filepath.Ext(f.out), "."); slices.Contains(exportFormats, ext) {
			f.format, f.unsaid = ext, false
		}
	}
	if !slices.Contains(exportFormats, f.format) {
		return patra.Invalid("format", "{format} %q is not known; write %s", f.format, strings.Join(exportFormats, ", "))
	}
	if !f.rawSaid {
		f.raw = !f.table()
	}
	return nil
}

// linesNames are the ends of names that JSON lines may have too.
var linesNames = []string{"", ".json", ".ndjson", ".txt"}

// honest refuses a file whose name promises something else than JSON lines, where nobody said which format.
func (f *exportFlags) honest(ask exportRequest) error {
	if ext := filepath.Ext(f.out); f.unsaid && !ask.folder && !ask.stream && !slices.Contains(linesNames, ext) {
		return patra.Invalid("out", "{out} %s: %s is no format that can be written; say {format} %s", f.out, ext, strings.Join(exportFormats, ", "))
	}
	return nil
}

// knownSources refuses a source that nobody knows: it has no records, and never will.
func (a *app) knownSources(ctx context.Context, s *store.Store, codes []string) error {
	for _, code := range codes {
		if _, err := a.target(ctx, s, code); err != nil {
			return err
		}
	}
	return nil
}

// place says what kind of place --out is.
func (f *exportFlags) place() (folder, stream bool, err error) {
	if f.out == "" || f.out == "-" {
		f.out = "-"
		if f.layout != "" || f.partSize != "" {
			return false, false, patra.Invalid("", "parts need a folder: name one with {out}")
		}
		return false, true, nil
	}
	info, statErr := os.Stat(f.out)
	switch {
	case f.layout != "" && f.layout != export.Hive:
		return false, false, patra.Invalid("layout", "{layout} %q is not known; write hive, or leave it out", f.layout)
	case statErr == nil && info.IsDir(), f.layout != "", f.partSize != "", strings.HasSuffix(f.out, "/"):
		if statErr == nil && !info.IsDir() {
			return false, false, patra.Invalid("out", "{out} %s is a file; parts need a folder", f.out)
		}
		return true, false, nil
	}
	return false, statErr == nil && !info.Mode().IsRegular(), nil
}

// agree refuses flags that do not go together.
func (f *exportFlags) agree() error {
	switch {
	case f.lineage && f.table():
		return patra.Invalid("lineage", "{lineage} is for {format} jsonl only")
	case len(f.columns) > 0 && !f.table():
		return patra.Invalid("columns", "{columns} is for csv, tsv and parquet; JSON lines take {fields}")
	case len(f.columns) > 0 && len(f.fields) > 0:
		return patra.Invalid("", "say {columns} or {fields}, not both")
	case (f.rawCells || f.separatorSaid) && f.format != export.CSV && f.format != export.TSV:
		return patra.Invalid("raw_cells", "{raw_cells} and {list_separator} are for csv and tsv only")
	case f.cursor != "" && (f.from != "" || f.to != "" || f.changedSince != "" || f.limit != 0):
		return patra.Invalid("cursor", "{cursor} keeps its own place in time; leave out {from}, {to}, {changed_since} and {limit}")
	case len(f.cursor) > 128:
		return patra.Invalid("cursor", "{cursor}: a name has at most 128 bytes")
	case f.how.Resume && f.how.Force:
		return patra.Invalid("resume", "{resume} goes on with what is there and {force} writes over it; say one of them")
	}
	seen := map[string]bool{}
	for _, name := range f.columns {
		if name == "" || seen[strings.ToLower(name)] {
			return patra.Invalid("columns", "{columns} has %q twice, or has a column without a name", name)
		}
		seen[strings.ToLower(name)] = true
	}
	return nil
}

var partSize = regexp.MustCompile(`^(\d+)\s*([A-Za-z]+)$`)

var sizeUnits = map[string]int64{"kb": 1e3, "mb": 1e6, "gb": 1e9, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30}

// defaultPart is how large a part becomes where nobody says.
const defaultPart = 500_000_000

// parsePartSize reads 500MB or 100000rows.
func parsePartSize(text string) (export.Limit, error) {
	if text == "" {
		return export.Limit{Bytes: defaultPart}, nil
	}
	if found := partSize.FindStringSubmatch(strings.TrimSpace(text)); found != nil {
		n, err := strconv.ParseInt(found[1], 10, 40)
		unit := strings.ToLower(found[2])
		switch {
		case err != nil || n == 0:
		case unit == "rows":
			return export.Limit{Rows: n}, nil
		case sizeUnits[unit] > 0:
			return export.Limit{Bytes: n * sizeUnits[unit]}, nil
		}
	}
	return export.Limit{}, patra.Invalid("part_size", "{part_size} %q is not a size; write 500MB, 2GiB or 100000rows", text)
}

// columnsFor are the columns of a table: the fields that the present source files map, or those that were chosen. A source
// whose file is gone has its fields among all the others. What is to be said about them goes to remarks.
func (a *app) columnsFor(ctx context.Context, s *store.Store, f exportFlags, remarks io.Writer) ([]export.Column, error) {
	sources := f.sources
	if len(sources) == 0 {
		var err error
		if sources, err = s.RecordSources(ctx); err != nil {
			return nil, err
		}
	}
	fields, mapped := map[string]bool{}, map[string]bool{}
	for _, code := range sources {
		file, _, err := a.activeSource(ctx, code)
		if err != nil {
			continue
		}
		for name := range file.Mapping {
			mapped[name] = true
		}
		for name, list := range file.Columns() {
			if len(f.fields) == 0 || slices.Contains(f.fields, name) {
				fields[name] = fields[name] || list
			}
		}
	}
	for _, name := range f.fields { // also one that no present file maps
		if _, ok := fields[name]; !ok {
			fields[name] = false
		}
	}
	for _, name := range f.columns {
		_, plain := fields[name]
		switch {
		case plain, slices.Contains(export.FixedNames(), name):
		case mapped[name] && f.format == export.Parquet:
			fmt.Fprintf(remarks, "%s has a shape of its own, so its column is empty; it stands in the column fields.\n", name)
		case !mapped[name]:
			fmt.Fprintf(remarks, "No source maps %s now; its column is empty but for records of before.\n", name)
		}
	}
	if len(f.columns) > 0 {
		return export.Choose(f.columns, fields), nil
	}
	several := false
	for _, code := range sources {
		repositories, err := s.Repositories(ctx, code)
		if err != nil {
			return nil, err
		}
		several = several || len(repositories) > 0
	}
	return export.Columns(fields, several, f.raw), nil
}
