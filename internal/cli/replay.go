package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"patra"
	"patra/internal/blob"
	"patra/internal/config"
	"patra/internal/evidence"
	"patra/internal/executor"
	"patra/internal/replay"
	"patra/internal/source"
	"patra/internal/store"
)

// How a page stands after it was read again.
const (
	replaySame     = "SAME"
	replayDiffers  = "DIFFERS"
	replayNoBody   = "NO_BODY"   // there is nothing to read
	replayNoAnswer = "NO_ANSWER" // there never was: the request was lost with its run
)

// replayed is one page that was read again.
type replayed struct {
	Page        int64                  `json:"page"`
	BatchNo     int64                  `json:"batch_no"`
	Phase       patra.Phase            `json:"phase"`
	Ordinal     int64                  `json:"ordinal"`
	Status      patra.Status           `json:"status"` // in the ledger
	Verdict     string                 `json:"verdict"`
	Items       int                    `json:"items"`
	Body        string                 `json:"body_sha256,omitempty"`
	Note        string                 `json:"note,omitempty"`
	Differences []replay.Difference    `json:"differences"`
	Live        *replay.LiveComparison `json:"live,omitempty"`
}

// replayReport is all pages of a replay.
type replayReport struct {
	Run     int64      `json:"run"`
	Source  string     `json:"source"`
	Window  string     `json:"window"`
	Spec    string     `json:"spec_fingerprint"`
	Live    bool       `json:"live"`
	Pages   []replayed `json:"pages"`
	Same    int        `json:"same"`
	Differs int        `json:"differs"`
	NoBody  int        `json:"no_body"`
	Asked   int        `json:"asked"`   // live: pages that the provider was asked for
	Changed int        `json:"changed"` // and answers otherwise today
}

func (a *app) replayCmd() *cobra.Command {
	var live, sure bool
	var out format
	c := &cobra.Command{
		Use: "replay RUN[/BATCH]", Short: "Read a page again from its stored answer, and compare", Args: exactArgs("RUN[/BATCH]"),
		Long: "Replay makes the request of a page anew from the stored snapshot, reads the stored answer again, and compares both with\nthe ledger: request, status, items, ids, next position, total, and the hash of every record. Nothing is sent and nothing\nis changed. With --live the provider is asked once more, through the gate, and its answer of today is compared with the\nstored one; no record, watermark or page is written. Exit code 0: the same; 1: something differs; 3: an answer is gone.",
		Example: `  patra replay 7
  patra replay 7/2 -o json
  patra replay 7/2 --live --yes`,
		RunE: func(c *cobra.Command, args []string) error {
			ref, err := parseRunRef(args[0])
			if err != nil {
				return err
			}
			report, err := a.replay(c.Context(), ref, replayRequest{live: live, sure: sure, counter: true})
			if err != nil {
				return err
			}
			if out != "table" {
				err = printValue(a.stdout, out, report)
			} else {
				report.print(a.stdout)
			}
			if err != nil {
				return err
			}
			return report.verdict()
		},
	}
	c.Flags().BoolVar(&live, "live", false, "ask the provider too, and compare with what it says today")
	c.Flags().BoolVar(&sure, "yes", false, "do not ask before the provider is asked")
	formatFlag(c, &out)
	return c
}

// replayer reads pages again.
type replayer struct {
	store  *store.Store
	kept   *evidence.BodyStore
	claim  *patra.Claim
	reader *replay.Reader
	prober *executor.Prober // nil: nobody is asked
}

// replayRequest is how a run is to be read again.
type replayRequest struct {
	live, sure bool
	reason     string
	counter    bool  // somebody at a terminal waits
	most       int64 // pages; 0 is any number
}

func (a *app) replay(ctx context.Context, ref runRef, want replayRequest) (*replayReport, error) {
	live := want.live
	s, kept, err := a.openEvidence(ctx)
	if err != nil {
		return nil, err
	}
	run, claim, pages, err := ref.find(ctx, s)
	if err != nil {
		return nil, err
	}
	if want.most > 0 && pages > want.most {
		return nil, patra.Invalid("", "run %d has %s, and at most %s are read again at once; name one of them, or use patra replay", run.ID, plural(pages, "page"), thousands(want.most))
	}
	reader, err := readerOf(ctx, s, claim.Spec)
	if err != nil {
		return nil, err
	}
	if live {
		if err := a.mayAskAgain(run.Source, pages, want.sure); err != nil {
			return nil, err
		}
	}
	// Before, and not after: whoever is stopped half-way has asked all the same.
	if _, err := s.Audit(ctx, audited(ctx, patra.AuditReplay, ref.String(), want.reason, map[string]any{"live": live, "pages": pages})); err != nil {
		return nil, err
	}
	r := &replayer{store: s, kept: kept, claim: claim, reader: reader}
	if live {
		if r.prober, err = a.replayProber(s, claim); err != nil {
			return nil, err
		}
	}
	report := &replayReport{Run: run.ID, Source: run.Source, Window: claim.Slice.Window.String(), Spec: claim.Spec, Live: live, Pages: []replayed{}}
	step := func() {}
	if want.counter {
		bar := a.counter("replay", "page", pages)
		defer bar.finish()
		step = bar.step
	}
	return report, s.Ledger(ctx, ref.query(), func(p patra.LedgerPage) error {
		step()
		done, err := r.page(ctx, p)
		if err == nil {
			report.add(done)
		}
		return err
	})
}

// readerOf is the reader of a stored snapshot.
func readerOf(ctx context.Context, s *store.Store, fingerprint string) (*replay.Reader, error) {
	body, err := s.Snapshot(ctx, fingerprint)
	if err != nil {
		return nil, fmt.Errorf("snapshot %.8s: %w", fingerprint, err)
	}
	spec, err := source.FromSnapshot(fingerprint, body)
	if err != nil {
		return nil, err
	}
	return replay.NewReader(spec)
}

// mayAskAgain sees that somebody wants the provider to be asked.
func (a *app) mayAskAgain(source string, pages int64, sure bool) error {
	if sure {
		return nil
	}
	if !term.IsTerminal(int(os.Stdin.Fd())) {
		return patra.Invalid("live", "{live} asks %s for %s again; say {yes} if that is what you want", source, plural(pages, "page"))
	}
	fmt.Fprintf(a.stderr, "%s will be asked for %s again. Go on? [y/N] ", source, plural(pages, "page"))
	var answer string
	if _, err := fmt.Fscanln(os.Stdin, &answer); err != nil || !strings.HasPrefix(strings.ToLower(answer), "y") {
		return patra.Invalid("", "nobody was asked")
	}
	return nil
}

// replayProber asks providers as everybody does: through the gate, and not where somebody holds requests back.
func (a *app) replayProber(s *store.Store, claim *patra.Claim) (*executor.Prober, error) {
	c, err := a.load()
	if err != nil {
		return nil, err
	}
	return a.prober(c, s, patra.WorkScope{Source: claim.Task.Source, Endpoint: claim.Task.Endpoint, Operation: claim.Task.Operation, Repository: claim.Task.Repository}), nil
}

// prober asks for single pages of a place.
func (a *app) prober(c config.Config, s *store.Store, at patra.WorkScope) *executor.Prober {
	return &executor.Prober{Store: s, Gate: a.gate(c, s), Client: clientFor(c), Vars: source.Vars{Contact: c.Contact, Version: a.version}, Log: a.logger(c), Credentials: a.credentials(),
		Allow: func(ctx context.Context) error {
			hold, err := s.PeekAdmission(ctx, at)
			if err == nil && hold.Code != "" {
				err = patra.Conflict("%s is held back (%s); see patra controls", at.Source, hold.Code)
			}
			return err
		}}
}

// page reads one page again.
func (r *replayer) page(ctx context.Context, p patra.LedgerPage) (done replayed, err error) {
	done = replayed{Page: p.ID, BatchNo: p.BatchNo, Phase: p.Phase, Ordinal: p.Ordinal, Status: p.Status, Body: p.BodySHA256, Verdict: replaySame, Differences: []replay.Difference{}}
	if p.Status != patra.Succeeded && p.Status != patra.Failed {
		done.Verdict, done.Note = replayNoAnswer, "the run was lost before an answer came"
		return done, nil
	}
	var ids []string
	if p.Phase == patra.PhaseDetail {
		ids, err = replay.SplitIDs(p.Before, func(ids []string) (map[string]bool, error) { return r.store.SeenIDs(ctx, p, ids) })
		if err != nil {
			return done, err
		}
	}
	call, err := r.reader.Request(r.claim, p, ids)
	if err != nil {
		return done, err
	}
	done.Differences = append(done.Differences, replay.CompareRequest(p.Request, call)...)
	body, note, err := r.body(ctx, p)
	if err != nil {
		return done, err
	}
	if done.Note = note; note != "" {
		done.Verdict = replayNoBody
	}
	var then replay.ParsedPage
	if note == "" {
		if then, err = r.reader.Read(p, p.Answered(), body); err != nil {
			return done, err
		}
		known, err := r.known(ctx, p, then)
		if err != nil {
			return done, err
		}
		done.Items = then.Items()
		done.Differences = append(done.Differences, r.reader.Compare(p, known, then)...)
	}
	if len(done.Differences) > 0 {
		done.Verdict = replayDiffers
	}
	if r.prober != nil {
		done.Live, err = r.ask(ctx, p, call, then, note != "")
	}
	return done, err
}

// body is the stored answer of a page, or why there is none.
func (r *replayer) body(ctx context.Context, p patra.LedgerPage) (body []byte, note string, err error) {
	if p.BodySHA256 == "" {
		return nil, "no answer came", nil
	}
	kept, err := r.store.Body(ctx, p.BodySHA256)
	if errors.Is(err, patra.ErrNotFound) {
		return nil, "the answer is not kept, or not any more", nil
	}
	if err != nil {
		return nil, "", err
	}
	body, err = r.kept.Get(ctx, kept)
	switch {
	case errors.Is(err, blob.ErrNotFound):
		return nil, "the answer should be kept and is gone; see patra check", nil
	case errors.Is(err, evidence.ErrDamaged):
		return nil, "the answer is damaged; see patra check --read-data", nil
	}
	return body, "", patra.Environment(err)
}

// known is what the store has of a page.
func (r *replayer) known(ctx context.Context, p patra.LedgerPage, g replay.ParsedPage) (k replay.StoredPage, err error) {
	if r.reader.TwoPhases() && p.Phase == patra.PhaseSearch {
		if k.First, err = r.store.IDsOf(ctx, p); err != nil {
			return k, err
		}
		k.Given, err = r.store.SeenIDs(ctx, p, g.IDs())
		return k, err
	}
	k.Versions, err = r.store.Versions(ctx, p.ID)
	return k, err
}

// ask asks the provider for a page once more.
func (r *replayer) ask(ctx context.Context, p patra.LedgerPage, call source.Call, then replay.ParsedPage, alone bool) (*replay.LiveComparison, error) {
	program, err := r.reader.Program(p)
	if err != nil {
		return nil, err
	}
	position := p.Before
	if p.Phase == patra.PhaseDetail {
		position = ""
	}
	got, err := r.prober.Replay(ctx, program, call, position, r.claim.BaseURL)
	if fault, ok := errors.AsType[*patra.Fault](err); ok {
		return &replay.LiveComparison{Error: fault.Error(), Added: []string{}, Removed: []string{}, Changed: []string{}, Differences: []replay.Difference{}}, nil
	}
	if err != nil {
		return nil, err
	}
	fresh, err := r.reader.Read(p, got.Status, got.Body)
	if err != nil {
		return nil, err
	}
	if alone { // there is nothing to compare with but the ledger
		then = replay.ParsedPage{Status: p.Answered()}
	}
	f := replay.CompareFresh(then, fresh)
	f.Body, f.SameBody = got.Sum, got.Sum == p.BodySHA256
	if program.Spec.Stateful() && p.Ordinal > 1 {
		f.Note = "this position can be asked for once, so another answer says little; the first page of a walk can be compared"
	}
	return &f, nil
}

func (r *replayReport) add(p replayed) {
	r.Pages = append(r.Pages, p)
	switch p.Verdict {
	case replaySame:
		r.Same++
	case replayDiffers:
		r.Differs++
	case replayNoBody:
		r.NoBody++
	}
	if p.Live == nil {
		return
	}
	if r.Asked++; !p.Live.Same() {
		r.Changed++
	}
}

func (r *replayReport) verdict() error {
	switch {
	case r.Differs > 0:
		return fmt.Errorf("%s of run %d %s from what the ledger says", plural(int64(r.Differs), "page"), r.Run, verb(int64(r.Differs), "differs", "differ"))
	case r.Changed > 0:
		return fmt.Errorf("the provider answers %s of run %d otherwise today", plural(int64(r.Changed), "page"), r.Run)
	case r.NoBody > 0:
		return patra.Environment(fmt.Errorf("%s of run %d cannot be read again: the answer is gone or damaged", plural(int64(r.NoBody), "page"), r.Run))
	}
	return nil
}

// shownIDs is how many ids of a difference are printed.
const shownIDs = 5

func (r *replayReport) print(w io.Writer) {
	fmt.Fprintf(w, "Run %d of %s, %s, snapshot %.8s\n", r.Run, r.Source, r.Window, r.Spec)
	for _, p := range r.Pages {
		fmt.Fprintf(w, "page %d/%d  %-6s %3d  %-9s  %-7s %s\n", r.Run, p.BatchNo, p.Phase, p.Ordinal, p.Status, p.Verdict, plural(int64(p.Items), "item"))
		if p.Note != "" {
			fmt.Fprintf(w, "  %s\n", wrapped(p.Note, 2))
		}
		for _, d := range p.Differences {
			fmt.Fprintf(w, "  %s\n    was %s\n    is  %s\n", d.Field, wrapped(orNothing(d.Was), 8), wrapped(orNothing(d.Is), 8))
		}
		p.printLive(w)
	}
	switch {
	case len(r.Pages) == 0:
		fmt.Fprintln(w, "The run asked for no page.")
	case r.Same == len(r.Pages) && r.Changed == 0:
		fmt.Fprintf(w, "%s as the ledger says.\n", verb(int64(r.Same), "The page is", "All pages are"))
	case r.NoBody > 0:
		fmt.Fprintln(w, "Next: patra check")
	}
}

func orNothing(text string) string {
	if text == "" {
		return "(nothing)"
	}
	return text
}

func (p replayed) printLive(w io.Writer) {
	f := p.Live
	switch {
	case f == nil:
		return
	case f.Error != "":
		fmt.Fprintf(w, "  today    no answer: %s\n", wrapped(f.Error, 11))
		return
	case f.SameBody:
		fmt.Fprintln(w, "  today    the same answer, byte for byte")
		return
	case f.Same():
		fmt.Fprintln(w, "  today    the same records, in other bytes")
		return
	}
	if f.Note != "" {
		fmt.Fprintf(w, "  today    %s\n", wrapped(f.Note, 11))
	}
	for _, d := range f.Differences {
		fmt.Fprintf(w, "  today    %s is %s, and was %s\n", d.Field, orNothing(d.Is), orNothing(d.Was))
	}
	for _, change := range []struct {
		what string
		ids  []string
	}{{"added", f.Added}, {"removed", f.Removed}, {"changed", f.Changed}} {
		n, more := len(change.ids), ""
		if n == 0 {
			continue
		}
		if n > shownIDs {
			more = " ..."
		}
		fmt.Fprintf(w, "  today    %s %s: %s%s\n", thousands(int64(n)), change.what, wrapped(strings.Join(change.ids[:min(n, shownIDs)], " "), 11), more)
	}
}
