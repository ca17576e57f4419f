package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"

	"patra"
	"patra/internal/registry"
	"patra/internal/replay"
	"patra/internal/source"
	"patra/internal/store"
)

type remapFlags struct {
	since, mapping, file, ids string
	limit                     int64
	signal                    bool
}

// remapped is what another mapping would make of a source's stored answers.
type remapped struct {
	Source string `json:"source"`
	Since  string `json:"since"`
	With   string `json:"with"`
	*replay.Remap
	Fields  []replay.FieldDiff `json:"fields"`
	Signals int64              `json:"signals"` // that were raised
	IDs     string             `json:"ids_file,omitempty"`
}

func (a *app) remapCmd() *cobra.Command {
	var f remapFlags
	var out format
	c := &cobra.Command{
		Use: "remap SOURCE", Short: "See what another mapping would read in the stored answers", Args: exactArgs("SOURCE"),
		Long: "Remap reads the stored answers of a source again, with the mapping of a file or with the source as it counts now, and says\nfield by field what would change. Nobody is asked, and nothing is changed. Each record counts once, with the version that\nis stored. With --signal the records that would change are read again by the next patra update SOURCE --signals.",
		Example: `  patra remap crossref --since 2026-11-01 --mapping new-mapping.yaml
  patra remap crossref --since 2026-11-01 --source-file crossref.yaml --ids changed.txt
  patra remap crossref --since 2026-11-01 --signal`,
		RunE: func(c *cobra.Command, args []string) error {
			done, err := a.remap(c.Context(), args[0], f)
			if err != nil {
				return err
			}
			if out != "table" {
				err = printValue(a.stdout, out, done)
			} else {
				done.print(a.stdout)
			}
			if err != nil {
				return err
			}
			return done.verdict()
		},
	}
	fl := c.Flags()
	fl.StringVar(&f.since, "since", "", "answers of pages that were read at this time or later")
	fl.StringVar(&f.mapping, "mapping", "", "file with the new mapping: its fields, or a mapping: block")
	fl.StringVar(&f.file, "source-file", "", "file with the whole new source")
	fl.StringVar(&f.ids, "ids", "", "file for the ids of the records that would change, one a line")
	fl.Int64Var(&f.limit, "limit", 0, "at most this many pages, the newest first")
	fl.BoolVar(&f.signal, "signal", false, "ask for the records that would change to be read again")
	formatFlag(c, &out)
	return c
}

// remapper reads pages with the mapping that they were read with and with another one.
type remapper struct {
	*replayer
	change func(*source.Spec) (*source.Spec, error)
	with   string
	pairs  map[string]pair // by snapshot
	result *replay.Remap
	tell   func(of recordsOf, id string) error
}

type pair struct{ before, after *replay.Reader }

func (a *app) remap(ctx context.Context, code string, f remapFlags) (done *remapped, err error) {
	since, err := instantField("since", f.since)
	if err != nil {
		return nil, err
	}
	if since == nil {
		return nil, patra.Invalid("since", "say since when with {since} DAY: the answers of that time are read again")
	}
	s, kept, err := a.openEvidence(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := a.target(ctx, s, code); err != nil {
		return nil, err
	}
	change, with, err := a.newMapping(ctx, code, f)
	if err != nil {
		return nil, err
	}
	done = &remapped{Source: code, Since: since.String(), With: with, Remap: &replay.Remap{}, IDs: f.ids}
	found, err := a.affected(ctx, s, f, with, done)
	if err != nil {
		return nil, err
	}
	q := store.PageQuery{Source: code, Status: patra.Succeeded, Since: *since, Bodies: true, Newest: true, Limit: f.limit}
	total, err := s.CountPages(ctx, q)
	if err != nil {
		return nil, err
	}
	r := &remapper{replayer: &replayer{store: s, kept: kept}, change: change, with: with, pairs: map[string]pair{}, result: done.Remap, tell: found.add}
	bar := a.counter("remap", "page", total)
	err = s.Ledger(ctx, q, func(p patra.LedgerPage) error {
		bar.step()
		return r.page(ctx, p)
	})
	bar.finish()
	if err = errors.Join(err, found.close()); err != nil {
		return nil, err
	}
	done.Fields, done.Signals = done.Remap.Fields(), found.raised
	return done, nil
}

// page compares one page.
func (r *remapper) page(ctx context.Context, p patra.LedgerPage) error {
	both, err := r.pair(ctx, p.Spec)
	if err != nil {
		return err
	}
	if both.before.TwoPhases() && p.Phase == patra.PhaseSearch { // ids have no fields
		return nil
	}
	body, note, err := r.body(ctx, p)
	if err != nil {
		return err
	}
	if note != "" {
		r.result.NoBody++
		return nil
	}
	before, err := both.before.Read(p, p.Answered(), body)
	if err != nil {
		return err
	}
	after, err := both.after.Read(p, p.Answered(), body)
	if err != nil {
		return err
	}
	of := recordsOf{p.Source, both.before.Spec().RecordType, both.before.Spec().Repository()}
	stored, err := r.store.StoredVersions(ctx, of.source, of.recordType, of.repository, before.IDs())
	if err != nil {
		return err
	}
	return r.result.Page(p, before, after, stored, func(id string) error { return r.tell(of, id) })
}

func (r *remapper) pair(ctx context.Context, fingerprint string) (pair, error) {
	if both, ok := r.pairs[fingerprint]; ok {
		return both, nil
	}
	before, err := readerOf(ctx, r.store, fingerprint)
	if err != nil {
		return pair{}, err
	}
	spec, err := r.change(before.Spec())
	if err != nil {
		return pair{}, err
	}
	after, err := replay.NewReader(spec)
	if err != nil {
		return pair{}, patra.Problems{{Code: "BAD_MAPPING", File: r.with, Path: "mapping", Text: err.Error(), Hint: "see docs/writing-a-source.md for what a mapping can say"}}
	}
	r.pairs[fingerprint] = pair{before, after}
	return r.pairs[fingerprint], nil
}

// inForceNow is said where no file was named.
const inForceNow = "the source as it counts now"

// newMapping is how a snapshot is changed, and where that is from.
func (a *app) newMapping(ctx context.Context, code string, f remapFlags) (change func(*source.Spec) (*source.Spec, error), with string, err error) {
	switch {
	case f.mapping != "" && f.file != "":
		return nil, "", patra.Invalid("mapping", "{mapping} and {source_file} are two ways to say the same; write one of them")
	case f.mapping != "":
		fields, err := readMapping(f.mapping)
		return withMapping(fields), f.mapping, err
	case f.file != "":
		data, err := os.ReadFile(f.file)
		if err != nil {
			return nil, "", patra.Invalid("source_file", "{source_file}: %s", err)
		}
		file, err := registry.Read(filepath.Base(f.file), data)
		if err == nil && file.Code != code {
			err = patra.Invalid("", "%s describes %q, and not %q", f.file, file.Code, code)
		}
		return withFile(file), f.file, err
	}
	file, _, err := a.activeSource(ctx, code)
	return withFile(file), inForceNow, err
}

// readMapping reads the fields of a mapping, with or without the word before them.
func readMapping(path string) (source.Mapping, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, patra.Invalid("mapping", "{mapping}: %s", err)
	}
	var block struct {
		Mapping source.Mapping `yaml:"mapping"`
	}
	if err := yaml.UnmarshalWithOptions(data, &block, yaml.Strict()); err == nil && len(block.Mapping) > 0 {
		return block.Mapping, nil
	}
	var fields source.Mapping
	if err := yaml.UnmarshalWithOptions(data, &fields, yaml.Strict()); err != nil || len(fields) == 0 {
		return nil, patra.Problems{{Code: "BAD_MAPPING", File: path, Path: "mapping", Text: "this is no mapping", Hint: "write the fields with their paths, as in title: $.title[0]"}}
	}
	return fields, nil
}

// withMapping leaves out what versions mean: a rule may name a field that the new mapping does not have, and no version is made.
func withMapping(fields source.Mapping) func(*source.Spec) (*source.Spec, error) {
	return func(old *source.Spec) (*source.Spec, error) {
		spec := *old
		spec.Changes = nil // what a new version means is not asked here, and may be said of fields that are no more
		if spec.Second == nil {
			spec.Mapping = fields
			return &spec, nil
		}
		second := *spec.Second
		second.Mapping, second.Changes = fields, nil
		spec.Second = &second
		return &spec, nil
	}
}

func withFile(file *source.File) func(*source.Spec) (*source.Spec, error) {
	return func(old *source.Spec) (*source.Spec, error) {
		// Nothing is sent, so nobody needs to know who asks.
		return source.Compile(file, source.Options{Endpoint: old.Endpoint, Operation: old.Operation, Parameters: old.Parameters, Contact: "nobody@localhost"})
	}
}

// changedRecords takes the ids of records that would change: into a file, and as signals. It holds only a few of them.
type changedRecords struct {
	ctx     context.Context
	store   *store.Store
	file    *os.File
	out     *bufio.Writer
	signal  bool
	waiting []string
	of      recordsOf // whose ids wait
	raised  int64
}

// recordsOf is whose records some ids are.
type recordsOf struct{ source, recordType, repository string }

func (a *app) affected(ctx context.Context, s *store.Store, f remapFlags, with string, done *remapped) (*changedRecords, error) {
	to := &changedRecords{ctx: ctx, store: s, signal: f.signal}
	if f.ids != "" {
		file, err := os.OpenFile(f.ids, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
		if err != nil {
			return nil, patra.Environment(err)
		}
		to.file, to.out = file, bufio.NewWriter(file)
	}
	if !f.signal {
		return to, nil
	}
	_, err := s.Audit(ctx, audited(ctx, patra.AuditRemap, done.Source, "", map[string]any{"since": done.Since, "with": with}))
	return to, err
}

// fewSignals is how many are raised in one go.
const fewSignals = 500

func (t *changedRecords) add(of recordsOf, id string) error {
	if t.out != nil {
		if _, err := fmt.Fprintln(t.out, id); err != nil {
			return patra.Environment(err)
		}
	}
	if !t.signal {
		return nil
	}
	if of != t.of {
		if err := t.flush(); err != nil {
			return err
		}
	}
	t.of, t.waiting = of, append(t.waiting, id)
	if len(t.waiting) < fewSignals {
		return nil
	}
	return t.flush()
}

func (t *changedRecords) flush() error {
	if len(t.waiting) == 0 {
		return nil
	}
	n, err := t.store.AddSignals(t.ctx, now(), t.of.source, t.of.recordType, t.of.repository, t.waiting, patra.SignalRemap, "", "")
	t.raised, t.waiting = t.raised+int64(n), nil
	return err
}

func (t *changedRecords) close() error {
	err := t.flush()
	if t.file == nil {
		return err
	}
	return errors.Join(err, patra.Environment(errors.Join(t.out.Flush(), t.file.Close())))
}

func (r *remapped) verdict() error {
	switch {
	case r.Refused > 0:
		return fmt.Errorf("%s of %s cannot be read by %s: %s", thousands(r.Refused), plural(r.Pages, "page"), r.With, r.Refusal)
	case r.NoBody > 0:
		return patra.Incomplete("the answers of %s are not kept any more, or damaged; their records are not in these numbers. See patra check --read-data", plural(r.NoBody, "page"))
	}
	return nil
}

func (r *remapped) print(w io.Writer) {
	fmt.Fprintf(w, "Read %s of %s again, with %s\n", plural(r.Pages, "page"), r.Source, r.With)
	if r.Pages == 0 {
		fmt.Fprintf(w, "No page of %s was read since %s.\nNext: patra batches --source %s\n", r.Source, r.Since, r.Source)
		return
	}
	fmt.Fprintf(w, "records    %s compared, %s would change\n", thousands(r.Records), thousands(r.Changed))
	for _, line := range []struct {
		n    int64
		text string
	}{{r.Older, "versions that newer ones have replaced; they do not count"}, {r.Unreadable, "records that would go into quarantine"}, {r.Renamed, "records that would have another id, or none"}, {r.Readable, "items in quarantine that would become records"}} {
		if line.n > 0 {
			fmt.Fprintf(w, "           %s %s\n", thousands(line.n), line.text)
		}
	}
	t := newTable(w, "field", "same", "changed", "appeared", "vanished", "empty")
	for _, f := range r.Fields {
		t.AppendRow([]any{f.Field, thousands(f.Same), thousands(f.Changed), thousands(f.Appeared), thousands(f.Vanished), share(f.Nulls[0], r.Records) + " > " + share(f.Nulls[1], r.Records)})
	}
	t.Render()
	for _, f := range r.Fields {
		for _, e := range f.Examples[:min(len(f.Examples), 1)] {
			fmt.Fprintf(w, "%s of %s\n  was %.70s\n  is  %.70s\n", f.Field, e.ID, e.Before, e.After)
		}
	}
	switch {
	case r.Signals > 0 && r.With != inForceNow:
		fmt.Fprintf(w, "%s raised.\nNext: patra source apply FILE with the new mapping, then patra update %s --signals\n", plural(r.Signals, "signal"), r.Source)
	case r.Signals > 0:
		fmt.Fprintf(w, "%s raised.\nNext: patra update %s --signals\n", plural(r.Signals, "signal"), r.Source)
	case r.Changed > 0:
		fmt.Fprintf(w, "Next: patra remap %s --since %s --signal has them read again, when the new mapping is in force\n", r.Source, r.Since)
	}
}

func share(part, of int64) string {
	if of == 0 {
		return "0%"
	}
	return fmt.Sprintf("%.1f%%", 100*float64(part)/float64(of))
}
