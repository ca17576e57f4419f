package cli

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"patra"
	"patra/internal/bundle"
	"patra/internal/config"
	"patra/internal/store"
)

func (a *app) blackboxCmd() *cobra.Command {
	c := &cobra.Command{
		Use: "blackbox", Short: "Give evidence of a run to somebody else, and check what others give", Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.blackboxExportCmd(), a.blackboxVerifyCmd(), a.blackboxKeyCmd())
	return c
}

// keyFile is where the private key is.
func keyFile(c config.Config) string {
	if c.Blackbox.Key != "" {
		return c.Blackbox.Key
	}
	file, ok := strings.CutPrefix(c.Store.URL, "sqlite:")
	if !ok {
		return "patra.key"
	}
	return filepath.Join(filepath.Dir(file), "patra.key")
}

func (a *app) blackboxKeyCmd() *cobra.Command {
	return &cobra.Command{
		Use: "key", Short: "Print the public key that others check our bundles with", Args: noArgs,
		Long: "Key prints the public key of this installation, and makes the pair the first time. The private key is a file that only\nyou can read (blackbox.key; by default patra.key beside the store).",
		RunE: func(*cobra.Command, []string) error {
			c, err := a.load()
			if err != nil {
				return err
			}
			key, made, err := bundle.EnsureKey(keyFile(c))
			if err != nil {
				return patra.Environment(fmt.Errorf("the key cannot be had (blackbox.key): %w", err))
			}
			if made {
				fmt.Fprintf(a.stderr, "A new key was made: %s. Keep it.\n", keyFile(c))
			}
			_, err = fmt.Fprintln(a.stdout, bundle.FormatKey(key.Public().(ed25519.PublicKey)))
			return err
		},
	}
}

type bundleFlags struct {
	reason, by, out, expires string
	force                    bool
}

// bundleResult is a bundle that was written.
type bundleResult struct {
	File    string        `json:"file"`
	SHA256  string        `json:"sha256"`
	Size    int64         `json:"size"`
	Subject string        `json:"subject"`
	Pages   int           `json:"pages"`
	Files   int           `json:"files"`
	Missing []string      `json:"missing"`
	Expires patra.Instant `json:"expires_at"`
	Key     string        `json:"public_key"`
}

func (a *app) blackboxExportCmd() *cobra.Command {
	var f bundleFlags
	var out format
	c := &cobra.Command{
		Use: "export RUN[/BATCH]", Short: "Write everything about a run, or one page of it, into a signed file", Args: exactArgs("RUN[/BATCH]"),
		Long:    "Export writes a zip file: the snapshot, the slice, the ledger, the moves of the watermark, all answers, a report to read, and\na signed list of it all. Secrets were taken out before anything was stored. It is written down who exported what, and why.",
		Example: "  patra blackbox export 7 --reason 'the provider asks what we got on Monday'",
		RunE: func(c *cobra.Command, args []string) error {
			ref, err := parseRunRef(args[0])
			if err != nil {
				return err
			}
			done, err := a.exportBundle(c.Context(), ref, f)
			if err != nil {
				return err
			}
			if out != "table" {
				err = printValue(a.stdout, out, done)
			} else {
				fmt.Fprintf(a.stdout, "%s: %s of %s, %s bytes\nsha256     %s\nsigned by  %s\nexpires    %s\nNext: patra blackbox verify %s\n", done.File, plural(int64(done.Pages), "page"), done.Subject, thousands(done.Size), done.SHA256, done.Key, done.Expires, done.File)
			}
			if err == nil && len(done.Missing) > 0 {
				err = patra.Incomplete("%s of it %s not kept any more, or damaged; the list says which. See patra check --read-data", plural(int64(len(done.Missing)), "answer"), verb(int64(len(done.Missing)), "is", "are"))
			}
			return err
		},
	}
	fl := c.Flags()
	fl.StringVar(&f.reason, "reason", "", "why, for those who ask later")
	fl.StringVar(&f.by, "by", "", "who exports it (default the user at the terminal)")
	fl.StringVar(&f.out, "out", "", "file to write (default run-RUN.zip)")
	fl.StringVar(&f.expires, "expires", "30d", "how long it may be used")
	fl.BoolVar(&f.force, "force", false, "write over a file that is there")
	formatFlag(c, &out)
	return c
}

func (a *app) exportBundle(ctx context.Context, ref runRef, f bundleFlags) (*bundleResult, error) {
	if strings.TrimSpace(f.reason) == "" {
		return nil, patra.Invalid("reason", "say why with {reason}: it stays with the bundle and in the audit log")
	}
	var lasts config.Duration
	if err := lasts.UnmarshalText([]byte(f.expires)); err != nil || lasts <= 0 {
		return nil, patra.Invalid("expires", "{expires} %q is no length of time; write one such as 30d", f.expires)
	}
	if f.by == "" {
		f.by = actor(ctx)
	}
	if f.out == "" {
		f.out = ref.zipName()
	}
	if _, err := os.Lstat(f.out); err == nil && !f.force { // somebody may have its hash
		return nil, patra.Invalid("", "%s is there already; name another file with {out}, or write over it with {force}", f.out)
	}
	// The file gets its name when it is whole and it is written down that it was made.
	temp, err := os.CreateTemp(filepath.Dir(f.out), ".patra-bundle-*")
	if err != nil {
		return nil, patra.Environment(err)
	}
	defer os.Remove(temp.Name()) // nothing, once it has its name
	defer temp.Close()
	done, err := a.writeBundle(ctx, ref, f, time.Duration(lasts), temp)
	if err != nil {
		return nil, err
	}
	done.File = f.out
	return done, patra.Environment(errors.Join(temp.Close(), os.Rename(temp.Name(), f.out)))
}

// writeBundle puts a bundle into a file, and writes down that it was made.
func (a *app) writeBundle(ctx context.Context, ref runRef, f bundleFlags, lasts time.Duration, temp *os.File) (*bundleResult, error) {
	s, kept, err := a.openEvidence(ctx)
	if err != nil {
		return nil, err
	}
	run, claim, _, err := ref.find(ctx, s)
	if err != nil {
		return nil, err
	}
	cfg, err := a.load()
	if err != nil {
		return nil, err
	}
	key, made, err := bundle.EnsureKey(keyFile(cfg))
	if err != nil {
		return nil, patra.Environment(fmt.Errorf("the bundle cannot be signed (blackbox.key): %w", err))
	}
	if made {
		fmt.Fprintf(a.stderr, "A new key was made: %s. Keep it, and give others its public half: patra blackbox key\n", keyFile(cfg))
	}
	at := now()
	p := &bundleBuilder{replayer: &replayer{store: s, kept: kept, claim: claim}, run: run, ref: ref,
		list: bundle.Manifest{Subject: ref.String(), By: f.by, At: at, Reason: f.reason, ExpiresAt: at.Add(lasts)}}
	sum := sha256.New()
	if err := p.pack(ctx, io.MultiWriter(temp, sum), key); err != nil {
		return nil, err
	}
	info, err := temp.Stat()
	if err = errors.Join(err, temp.Sync()); err != nil {
		return nil, patra.Environment(err)
	}
	done := &bundleResult{SHA256: hex.EncodeToString(sum.Sum(nil)), Size: info.Size(), Subject: ref.String(), Pages: len(p.pages), Files: len(p.list.Files), Missing: append([]string{}, p.list.Missing...),
		Expires: p.list.ExpiresAt, Key: p.list.Key}
	entry := audited(ctx, patra.AuditExport, ref.String(), f.reason, map[string]any{"sha256": done.SHA256, "pages": done.Pages, "expires_at": done.Expires.String()})
	entry.Actor = f.by
	_, err = s.Audit(ctx, entry)
	return done, err
}

// bundleBuilder collects what belongs to a run.
type bundleBuilder struct {
	*replayer
	run   patra.Run
	ref   runRef
	list  bundle.Manifest
	pages []bundle.ReportPage
	into  *bundle.Writer
	seen  map[string]string // bodies that are in, or why they are not
}

func (p *bundleBuilder) pack(ctx context.Context, w io.Writer, key ed25519.PrivateKey) error {
	p.into, p.seen = bundle.NewWriter(w), map[string]string{}
	snapshot, err := p.store.Snapshot(ctx, p.claim.Spec)
	if err != nil {
		return err
	}
	slices, err := p.store.Slices(ctx, store.Filter{Slice: p.run.SliceID})
	if err != nil {
		return err
	}
	var ledger bytes.Buffer
	err = p.store.Ledger(ctx, p.ref.query(), func(page patra.LedgerPage) error {
		if err := printJSON(&ledger, page, ""); err != nil {
			return err
		}
		return p.page(ctx, page)
	})
	if err != nil {
		return err
	}
	moves, n, err := p.moves(ctx)
	if err != nil {
		return err
	}
	whole := map[string]any{"run": p.run, "query": p.claim.Query, "base_url": p.claim.BaseURL, "task": p.claim.Task, "spec_fingerprint": p.claim.Spec}
	if len(slices) > 0 {
		whole["slice"] = slices[0]
	}
	slice, err := json.MarshalIndent(whole, "", "  ")
	if err != nil {
		return err
	}
	report, err := bundle.Report(bundle.ReportData{Manifest: p.list, Run: p.run, Claim: p.claim, Query: queryText(p.claim.Query), Pages: p.pages, Events: n})
	if err != nil {
		return err
	}
	for _, file := range []struct {
		name string
		data []byte
	}{{"snapshot.json", snapshot}, {"slice.json", slice}, {"batches.jsonl", ledger.Bytes()}, {"cursor_events.jsonl", moves}, {"report.html", report}} {
		if err := p.into.Add(file.name, file.data); err != nil {
			return err
		}
	}
	p.list, err = p.into.Close(p.list, key)
	return err
}

// page adds the answer of a page.
func (p *bundleBuilder) page(ctx context.Context, page patra.LedgerPage) error {
	told := bundle.ReportPage{LedgerPage: page, Request: bundle.IndentJSON(page.Request), Response: bundle.IndentJSON(page.Response)}
	body, note, err := p.body(ctx, page)
	if err != nil {
		return err
	}
	told.NoBody, told.Sample = note, bundle.Sample(body)
	p.pages = append(p.pages, told)
	if _, in := p.seen[page.BodySHA256]; in || page.BodySHA256 == "" {
		return nil
	}
	if p.seen[page.BodySHA256] = note; note != "" {
		p.list.Missing = append(p.list.Missing, page.BodySHA256)
		return nil
	}
	err = p.into.Add(bundle.BodyName(page.BodySHA256), body)
	if err != nil {
		err = patra.Invalid("", "%s; export single pages: patra blackbox export %d/%d", err, p.run.ID, page.BatchNo)
	}
	return err
}

// moves are the moves of the watermark that the slice caused.
func (p *bundleBuilder) moves(ctx context.Context) ([]byte, int, error) {
	events, err := p.store.CursorEvents(ctx, store.Filter{Slice: p.run.SliceID, Limit: 1000})
	var b bytes.Buffer
	for _, e := range events {
		if err == nil {
			err = printJSON(&b, e, "")
		}
	}
	return b.Bytes(), len(events), err
}

func (a *app) blackboxVerifyCmd() *cobra.Command {
	var keys []string
	var out format
	c := &cobra.Command{
		Use: "verify FILE", Short: "See whether a bundle is what was signed, by whom, and still to be used", Args: exactArgs("FILE"),
		Long:    "Verify checks the signature, every hash and the time of a bundle. Whose signature counts is said by --key, with what patra\nblackbox key prints at the other end; without it only our own does. Nothing is unpacked. Exit code 1: do not believe it.",
		Example: "  patra blackbox verify run-7.zip\n  patra blackbox verify theirs.zip --key ed25519:...",
		RunE: func(c *cobra.Command, args []string) error {
			trusted, err := a.trusted(keys)
			if err != nil {
				return err
			}
			file, err := os.Open(args[0])
			if err != nil {
				return patra.Invalid("", "%s", err)
			}
			defer file.Close()
			info, err := file.Stat()
			if err != nil || !info.Mode().IsRegular() {
				return patra.Invalid("", "%s is no file", args[0])
			}
			m, err := bundle.Verify(file, info.Size(), trusted, now())
			if errors.Is(err, bundle.ErrUnknown) {
				err = fmt.Errorf("%w; if you know that key, say --key %s", err, m.Key)
			}
			if err != nil {
				return fmt.Errorf("%s is not to be believed: %w", args[0], err)
			}
			if out != "table" {
				return printValue(a.stdout, out, m)
			}
			fmt.Fprintf(a.stdout, "%s is whole: %s about %s\nby         %s at %s\nwhy        %s\nsigned by  %s\nexpires    %s\n", args[0], plural(int64(len(m.Files)), "file"), m.Subject, m.By, m.At, wrapped(m.Reason, 11), m.Key, m.ExpiresAt)
			if len(m.Missing) > 0 {
				fmt.Fprintf(a.stdout, "missing    %s could not be had when it was made\n", plural(int64(len(m.Missing)), "answer"))
			}
			return nil
		},
	}
	c.Flags().StringArrayVar(&keys, "key", nil, "public key that counts; may be given more than once")
	formatFlag(c, &out)
	return c
}

// trusted are the keys whose signatures count.
func (a *app) trusted(keys []string) (all []ed25519.PublicKey, err error) {
	for _, text := range keys {
		key, err := bundle.ParseKey(text)
		if err != nil {
			return nil, patra.Invalid("key", "{key} %q: %s", text, err)
		}
		all = append(all, key)
	}
	if len(keys) > 0 {
		return all, nil
	}
	c, err := a.load()
	if err != nil {
		return nil, err
	}
	own, err := bundle.OpenKey(keyFile(c))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, patra.Environment(fmt.Errorf("our own key cannot be read (blackbox.key): %w", err))
	}
	return append(all, own.Public().(ed25519.PublicKey)), nil
}
