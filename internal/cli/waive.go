package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"patra"
	"patra/internal/store"
)

// waiverFlags are a stretch and a person's word about it.
type waiverFlags struct {
	timeRangeFlags
	reason, by string
}

func (f *waiverFlags) add(c *cobra.Command) {
	f.timeRangeFlags.add(c)
	c.Flags().StringVar(&f.reason, "reason", "", "why, for those who ask later")
	c.Flags().StringVar(&f.by, "by", "", "who says so (default the user at the terminal)")
}

// signed is the word with the name under it.
func (f waiverFlags) signed(ctx context.Context) (string, error) {
	if f.reason == "" {
		return "", patra.Invalid("reason", "say why with {reason}: it stays with the stretch for ever")
	}
	if f.by != "" {
		return f.by, nil
	}
	return actor(ctx), nil
}

// waiverScope is what somebody says about a stretch of a source, with the watermark that it is about.
func (a *app) waiverScope(ctx context.Context, f waiverFlags, source string) (*store.Store, patra.Cursor, patra.Waiver, error) {
	window, err := f.whole()
	if err != nil {
		return nil, patra.Cursor{}, patra.Waiver{}, err
	}
	by, err := f.signed(ctx)
	if err != nil {
		return nil, patra.Cursor{}, patra.Waiver{}, err
	}
	s, err := a.open(ctx)
	if err != nil {
		return nil, patra.Cursor{}, patra.Waiver{}, err
	}
	cur, err := f.one(ctx, s, source)
	return s, cur, patra.Waiver{CursorID: cur.ID, Window: window, Reason: f.reason, By: by}, err
}

func (a *app) waiveCmd() *cobra.Command {
	var f waiverFlags
	var revoke bool
	var out format
	c := &cobra.Command{
		Use: "waive SOURCE", Short: "Sign a stretch off as missing, so that the watermark passes it", Args: exactArgs("SOURCE"),
		Long: "Waive says that a stretch will not be read, and why. The watermark passes it, \"complete through\" does not, and the\nstretch stays on the list of gaps. With --revoke the waivers inside the stretch are taken back, and a watermark that had\npassed them goes back too.",
		Example: `  patra coverage waive crossref --from 2026-05-02 --to 2026-05-04 --reason "the provider lost them"
  patra coverage waive crossref --from 2026-05-02 --to 2026-05-04 --reason "they are back" --revoke`,
		RunE: func(c *cobra.Command, args []string) error {
			s, cur, word, err := a.waiverScope(c.Context(), f, args[0])
			if err != nil {
				return err
			}
			var done waiverResult
			if revoke {
				done, err = unwaive(c.Context(), s, cur, word)
			} else {
				done, err = waive(c.Context(), s, cur, word)
			}
			if err != nil {
				return err
			}
			return a.done(out, done, done.Said, done.Next)
		},
	}
	f.add(c)
	c.Flags().BoolVar(&revoke, "revoke", false, "take waivers back")
	formatFlag(c, &out)
	return c
}

// waiverResult is what became of a word about a stretch.
type waiverResult struct {
	Cursor  patra.Cursor `json:"cursor"`
	Window  patra.Window `json:"window"`
	Waivers int64        `json:"waivers"` // that were given, or taken back
	Said    string       `json:"said"`
	Next    string       `json:"next,omitempty"`
}

// waive signs a stretch off, if something of it is missing.
func waive(ctx context.Context, s *store.Store, cur patra.Cursor, word patra.Waiver) (waiverResult, error) {
	missing, err := s.Gaps(ctx, cur.ID, word.Window)
	if err != nil {
		return waiverResult{}, err
	}
	if !waivable(missing) {
		return waiverResult{}, patra.Invalid("", "nothing of %s is missing; a dispute is settled by patra coverage accept", word.Window)
	}
	moved, err := s.Waive(ctx, now(), word)
	return waiverResult{Cursor: moved, Window: word.Window, Waivers: 1,
		Said: fmt.Sprintf("%s of %s is waived. The watermark is %s, complete through %s.", word.Window, cur.Source, moved.Value, moved.SealedThrough)}, err
}

// unwaive takes back the waivers inside a stretch, or the one that is named.
func unwaive(ctx context.Context, s *store.Store, cur patra.Cursor, word patra.Waiver) (waiverResult, error) {
	moved, n, err := s.Revoke(ctx, now(), word)
	if err != nil {
		return waiverResult{}, err
	}
	if n == 0 {
		return waiverResult{}, patra.Invalid("", "no waiver lies inside %s; see patra coverage gaps %s", word.Window, cur.Source)
	}
	return waiverResult{Cursor: moved, Window: word.Window, Waivers: n, Said: fmt.Sprintf("%s of %s taken back. The watermark is %s.", plural(n, "waiver"), cur.Source, moved.Value),
		Next: fmt.Sprintf("patra coverage fill %s --from %s --to %s", cur.Source, short(word.Window.From), short(word.Window.To))}, nil
}

func waivable(gaps []patra.Gap) bool {
	for _, g := range gaps {
		if g.Actionable() && g.Unread() {
			return true
		}
	}
	return false
}

func (a *app) acceptCmd() *cobra.Command {
	var f waiverFlags
	var read, revoke bool
	var out format
	c := &cobra.Command{
		Use: "accept SOURCE", Short: "Accept what is in dispute, or that a source is read without a proof", Args: exactArgs("SOURCE"),
		Long: "Accept seals the disputed windows that lie inside a stretch, with a reason that stays with them. Reading them again\n(patra coverage fill --disputed) is better, where it helps.\n\nWith --read it accepts that windows of this source are READ: read to their end, without evidence that would have noticed\na missing record. They stay READ and listed, \"complete through\" does not pass them, and they are no gap any more:\ncommands do not exit with 4 because of them. With --read --revoke they are gaps again.",
		Example: `  patra coverage accept crossref --from 2026-05-02 --to 2026-05-03 --reason "their count includes withdrawn works"
  patra coverage accept pmc-oai --read --reason "the repository has no order that could be checked"
  patra coverage accept pmc-oai --read --revoke --reason "its tokens hold a key now"`,
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case revoke && !read:
				return patra.Invalid("revoke", "{revoke} takes back what {read} accepted; name both")
			case read:
				return a.acceptRead(c.Context(), f, args[0], revoke, out)
			}
			s, cur, word, err := a.waiverScope(c.Context(), f, args[0])
			if err != nil {
				return err
			}
			done, err := acceptDisputes(c.Context(), s, cur, word)
			if err != nil {
				return err
			}
			return a.done(out, done, done.Said, "")
		},
	}
	f.add(c)
	c.Flags().BoolVar(&read, "read", false, "accept windows of the source that were read without a proof")
	c.Flags().BoolVar(&revoke, "revoke", false, "take that back")
	formatFlag(c, &out)
	return c
}

// acceptDisputes seals the disputed windows inside a stretch.
func acceptDisputes(ctx context.Context, s *store.Store, cur patra.Cursor, word patra.Waiver) (acceptResult, error) {
	answers, err := s.CoverageEntries(ctx, cur.ID)
	if err != nil {
		return acceptResult{}, err
	}
	var ids []int64
	for _, d := range patra.Disputes(answers) {
		if d.Window.From >= word.Window.From && d.Window.To <= word.Window.To {
			ids = append(ids, d.ID)
		}
	}
	if len(ids) == 0 {
		return acceptResult{}, patra.Invalid("", "no disputed window lies inside %s; see patra coverage gaps %s", word.Window, cur.Source)
	}
	if err := s.ResolveDispute(ctx, cur.ID, ids, patra.CoverageNote{At: now(), By: word.By, From: patra.StateDisputed, To: patra.StateSealed, Reason: word.Reason}); err != nil {
		return acceptResult{}, err
	}
	after, err := s.Cursor(ctx, cur.Namespace)
	if err != nil {
		return acceptResult{}, err
	}
	return acceptResult{Cursor: *after, Window: word.Window, Accepted: ids,
		Said: fmt.Sprintf("%s of %s accepted. Complete through %s.", plural(int64(len(ids)), "window"), cur.Source, after.SealedThrough)}, nil
}

// acceptRead accepts that a source is read without a proof, or takes that back.
func (a *app) acceptRead(ctx context.Context, f waiverFlags, source string, revoke bool, out format) error {
	if f.from != "" || f.to != "" || f.cursor != 0 {
		return patra.Invalid("read", "{read} is about all windows of a source: leave out {from}, {to} and {cursor}")
	}
	by, err := f.signed(ctx)
	if err != nil {
		return err
	}
	s, err := a.open(ctx)
	if err != nil {
		return err
	}
	cursors, err := f.cursors(ctx, s, source)
	if err != nil {
		return err
	}
	done, err := acceptRead(ctx, s, patra.ReadAcceptance{Source: cursors[0].Source, Reason: f.reason, By: by}, revoke)
	if err != nil {
		return err
	}
	return a.done(out, done, done.Said, done.Next)
}

// acceptRead keeps a person's word that READ is enough for a source, or revokes it.
func acceptRead(ctx context.Context, s *store.Store, word patra.ReadAcceptance, revoke bool) (r readAcceptanceResult, err error) {
	r = readAcceptanceResult{Source: word.Source, Accepted: !revoke}
	if revoke {
		err = s.RevokeRead(ctx, now(), word)
		if errors.Is(err, patra.ErrNotFound) {
			err = patra.Invalid("", "READ is not accepted for %s; see patra coverage gaps %s", word.Source, word.Source)
		}
		r.Said, r.Next = fmt.Sprintf("Windows of %s that were read without a proof are gaps again.", word.Source), "patra coverage fill "+word.Source+" --read"
		return r, err
	}
	r.Said = fmt.Sprintf("Windows of %s that were read without a proof are accepted. They stay READ.", word.Source)
	return r, s.AcceptRead(ctx, now(), word)
}

// readAcceptanceResult is what became of a word that READ is enough.
type readAcceptanceResult struct {
	Source   string `json:"source"`
	Accepted bool   `json:"accepted"`
	Said     string `json:"said"`
	Next     string `json:"next,omitempty"`
}

// acceptResult is what became of disputed windows that somebody accepts.
type acceptResult struct {
	Cursor   patra.Cursor `json:"cursor"`
	Window   patra.Window `json:"window"`
	Accepted []int64      `json:"accepted"` // answers, by their ids
	Said     string       `json:"said"`
}

func short(i patra.Instant) string { return i.Time().Format("2006-01-02") }
