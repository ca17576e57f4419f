package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"patra"
	"patra/internal/blob"
	"patra/internal/evidence"
	"patra/internal/store"
)

// evidenceReport is what a look at the kept answers found.
type evidenceReport struct {
	Place     string   `json:"place"`
	Read      bool     `json:"read"`
	Bodies    int64    `json:"bodies"`
	Bytes     int64    `json:"bytes"` // as they came
	Expired   int64    `json:"expired"`
	Before    int64    `json:"before"`   // pages from before answers were kept
	NotKept   int64    `json:"not_kept"` // pages whose answers nobody wanted to keep
	Damaged   int64    `json:"damaged"`
	Damage    []damage `json:"damage"` // some of it
	Orphans   int64    `json:"orphans"`
	OrphanLen int64    `json:"orphan_bytes"`
	Deleted   bool     `json:"orphans_deleted"`
}

// damage is a body that is not as it should be, with one of the pages that it belongs to.
type damage struct {
	evidence.Damage
	Source string `json:"source"`
	Page   int64  `json:"page,omitempty"`
	Run    int64  `json:"run,omitempty"`
	Batch  int64  `json:"batch_no,omitempty"`
	Task   int64  `json:"task,omitempty"`
}

// shownDamage is how much damage is listed; the rest is counted.
const shownDamage = 100

// young is how old a blob must be to be nobody's: one that is younger may belong to a page that is being written.
const young = time.Hour

type checkFlags struct {
	read, orphans bool
	source, since string
}

func (a *app) checkCmd() *cobra.Command {
	var f checkFlags
	var out format
	c := &cobra.Command{
		Use: "check", Short: "See whether all kept answers of providers are there and whole", Args: noArgs,
		Long: "Check asks for every page that was read whether its answer is still there, or was kept as long as it should be. With\n--read-data every answer is read and compared with its hash. Exit code 1 means that something is damaged.",
		Example: `  patra check
  patra check --read-data --source crossref
  patra check --delete-orphans`,
		RunE: func(c *cobra.Command, _ []string) error {
			found, err := a.check(c.Context(), f)
			if err != nil {
				return err
			}
			if out != "table" {
				err = printValue(a.stdout, out, found)
			} else {
				err = found.print(a.stdout)
			}
			if err == nil && found.Damaged > 0 {
				err = fmt.Errorf("%s %s damaged; put %s back from a copy of %s, or read the pages again: patra harvest SOURCE --from DAY --to DAY --force",
					plural(found.Damaged, "answer"), verb(found.Damaged, "is", "are"), verb(found.Damaged, "it", "them"), found.Place)
			}
			return err
		},
	}
	fl := c.Flags()
	fl.BoolVar(&f.read, "read-data", false, "read every answer and compare it with its hash")
	fl.StringVar(&f.source, "source", "", "only answers of this source")
	fl.StringVar(&f.since, "since", "", "only answers of pages that were read at this time or later")
	fl.BoolVar(&f.orphans, "delete-orphans", false, "delete what nobody refers to and is older than an hour")
	formatFlag(c, &out)
	return c
}

func (a *app) check(ctx context.Context, f checkFlags) (*evidenceReport, error) {
	since, err := instantField("since", f.since)
	if err != nil {
		return nil, err
	}
	if since == nil {
		since = new(patra.Instant)
	}
	s, kept, err := a.openEvidence(ctx)
	if err != nil {
		return nil, err
	}
	if f.source != "" {
		if _, err := a.target(ctx, s, f.source); err != nil {
			return nil, err
		}
	}
	found := &evidenceReport{Place: kept.Place().String(), Read: f.read, Damage: []damage{}}
	if err := a.checkPages(ctx, s, f.source, *since, found); err != nil {
		return nil, err
	}
	if err := a.checkBodies(ctx, s, kept, f, *since, found); err != nil {
		return nil, patra.Environment(err)
	}
	return found, a.checkOrphans(ctx, s, kept, f.orphans, found)
}

// openEvidence opens the store and the place of the answers.
func (a *app) openEvidence(ctx context.Context) (*store.Store, *evidence.BodyStore, error) {
	s, err := a.open(ctx)
	if err != nil {
		return nil, nil, err
	}
	c, err := a.load()
	if err != nil {
		return nil, nil, err
	}
	k, err := a.evidence(c)
	if err == nil && k == nil {
		err = patra.Environment(errors.New("no answers are kept here (evidence.url: none)"))
	}
	return s, k, err
}

// checkPages looks for pages of whose bodies nothing is known. Bodies are forgotten together with their rows when their time is
// over; and pages may be older than the keeping of answers.
func (a *app) checkPages(ctx context.Context, s *store.Store, source string, since patra.Instant, found *evidenceReport) error {
	cfg, err := a.load()
	if err != nil {
		return err
	}
	first, err := s.FirstBody(ctx)
	if err != nil {
		return err
	}
	at := now()
	return s.PagesWithoutBody(ctx, source, since, func(b patra.Batch, wanted bool) error {
		keep := cfg.Evidence.For(b.Source)
		switch {
		case !wanted:
			found.NotKept++
		case b.CommittedAt == nil, first == 0, *b.CommittedAt < first:
			found.Before++
		case keep > 0 && b.CommittedAt.Add(keep) <= at:
			found.Expired++
		default:
			found.add(evidence.Damage{Kind: evidence.DamageNoRow, Body: b.BodySHA256, Text: "the page was read, and nothing is known of its answer"}, []patra.Batch{b})
		}
		return nil
	})
}

// checkBodies looks at every body that is known.
func (a *app) checkBodies(ctx context.Context, s *store.Store, kept *evidence.BodyStore, f checkFlags, since patra.Instant, found *evidenceReport) error {
	total, err := s.CountBodies(ctx)
	if err != nil {
		return err
	}
	bar := a.counter("check", "answer", total)
	defer bar.finish()
	at := now()
	return kept.InspectAll(ctx, f.read, func(use func(patra.StoredBody) error) error {
		return s.Bodies(ctx, f.source, since, func(b patra.StoredBody, expires patra.Instant) error {
			if expires != 0 && expires <= at { // whoever cleans up may be at it
				found.Expired++
				bar.step()
				return nil
			}
			return use(b)
		})
	}, func(b patra.StoredBody, d *evidence.Damage) error {
		bar.step()
		if d == nil {
			found.Bodies++
			found.Bytes += b.Size
			return nil
		}
		pages, err := s.PagesWith(ctx, b.Body)
		found.add(*d, pages)
		return err
	})
}

func (c *evidenceReport) add(d evidence.Damage, pages []patra.Batch) {
	if c.Damaged++; len(c.Damage) == shownDamage {
		return
	}
	at := damage{Damage: d}
	if len(pages) > 0 {
		p := pages[0]
		at.Source, at.Page, at.Run, at.Batch, at.Task = p.Source, p.ID, p.RunID, p.BatchNo, p.TaskID
	}
	c.Damage = append(c.Damage, at)
}

// checkOrphans counts blobs that nobody refers to, and deletes them if somebody wants that.
func (a *app) checkOrphans(ctx context.Context, s *store.Store, kept *evidence.BodyStore, remove bool, found *evidenceReport) error {
	known := func(hash string) (bool, error) {
		_, err := s.Body(ctx, hash)
		if errors.Is(err, patra.ErrNotFound) {
			return false, nil
		}
		return err == nil, err
	}
	before := time.Now().Add(-young)
	err := kept.Orphans(ctx, before, known, func(i blob.Info) error {
		found.Orphans++
		found.OrphanLen += i.Size
		return nil
	})
	if err != nil || !remove || found.Orphans == 0 {
		return patra.Environment(err)
	}
	if _, err := s.Audit(ctx, audited(ctx, patra.AuditOrphans, found.Place, "", map[string]any{"blobs": found.Orphans, "bytes": found.OrphanLen})); err != nil {
		return err
	}
	// Each is looked at again just before: a page may have brought the same answer meanwhile.
	err = kept.Orphans(ctx, before, known, func(i blob.Info) error {
		_, err := kept.Place().DeleteOld(ctx, i.Name, before)
		return err
	})
	found.Deleted = err == nil
	return patra.Environment(err)
}

func (c *evidenceReport) print(w io.Writer) error {
	how := "are there"
	if c.Read {
		how = "were read"
	}
	fmt.Fprintf(w, "Checked %s\nanswers    %s %s (%s bytes), %s damaged\n", c.Place, thousands(c.Bodies), how, thousands(c.Bytes), thousands(c.Damaged))
	if c.Expired > 0 {
		fmt.Fprintf(w, "expired    %s: kept for as long as they should be\n", thousands(c.Expired))
	}
	if c.Before > 0 {
		fmt.Fprintf(w, "before     %s from before answers were kept\n", plural(c.Before, "page"))
	}
	if c.NotKept > 0 {
		fmt.Fprintf(w, "not kept   %s that kept no answer, as evidence.url said none then\n", plural(c.NotKept, "page"))
	}
	if c.Orphans > 0 {
		next := "patra check --delete-orphans deletes them"
		if c.Deleted {
			next = "deleted"
		}
		fmt.Fprintf(w, "orphans    %s (%s bytes) that nobody refers to; %s\n", thousands(c.Orphans), thousands(c.OrphanLen), next)
	}
	if c.Bodies == 0 && c.Damaged == 0 {
		_, err := fmt.Fprintln(w, "There are no answers to check. "+emptyNext)
		return err
	}
	if c.Damaged == 0 {
		if !c.Read {
			fmt.Fprintln(w, "Next: patra check --read-data also reads them")
		}
		return nil
	}
	t := newTable(w, "what", "source", "run/batch", "page", "task", "answer")
	for _, d := range c.Damage {
		t.AppendRow([]any{d.Kind, d.Source, fmt.Sprintf("%d/%d", d.Run, d.Batch), d.Page, d.Task, d.Body[:12]})
	}
	fmt.Fprintln(w)
	t.Render()
	return nil
}
