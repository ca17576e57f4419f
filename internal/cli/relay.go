package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"patra"
	"patra/internal/config"
	"patra/internal/relay"
	"patra/internal/store"
)

func (a *app) relayCmd() *cobra.Command {
	c := &cobra.Command{
		Use: "relay", Short: "Send events to the sinks of patra.yaml, and see how far they are", Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.relayRunCmd(), a.relayStatusCmd(), a.relayRewindCmd(), a.relayForgetCmd())
	return c
}

func (a *app) relayRunCmd() *cobra.Command {
	var once bool
	var out format
	c := &cobra.Command{
		Use: "run [SINK...]", Short: "Send events until it is told to stop",
		Long: "Run sends events to all sinks, or to those that are named. Several processes may do so: for each sink one works and the\nothers stand by. SIGTERM or Ctrl-C drains: what is on its way is waited for.",
		Example: `  patra relay run
  patra relay run feed --once           until nothing is left`,
		RunE: func(c *cobra.Command, args []string) error { return a.relayRun(c.Context(), args, once, out) },
	}
	c.Flags().BoolVar(&once, "once", false, "end when nothing is left")
	formatFlag(c, &out)
	return c
}

func (a *app) relayRun(ctx context.Context, names []string, once bool, out format) error {
	cfg, err := a.load()
	if err != nil {
		return err
	}
	s, err := a.open(ctx)
	if err != nil {
		return err
	}
	r, err := a.relay(cfg, s, names)
	if err != nil {
		return err
	}
	total := &sentCount{sent: map[string]int{}}
	r.Config.Once, r.Observe = once, total.add
	if !once {
		s.OnOutage(logOutage(a.logger(cfg)))
		if out == "table" {
			fmt.Fprintf(a.stdout, "Sending events to %s. Ctrl-C drains and stops.\n", plural(int64(len(r.Sinks)), "sink"))
		}
	}
	err = role(ctx, a.logger(cfg), roleRelay, r.Run, "sinks", len(r.Sinks), "owner", r.Config.Owner)()
	if told := a.tellSent(r.Sinks, total, out); told != nil {
		return errors.Join(err, told)
	}
	switch {
	case errors.Is(err, relay.ErrDown):
		return patra.Incomplete("%s; the events wait for it. Next: patra relay status", err)
	case errors.Is(err, relay.ErrElsewhere):
		return patra.Incomplete("%s. Next: patra relay status", err)
	case err == nil && ctx.Err() != nil && once:
		return patra.Incomplete("stopped before all events were sent; give the same command again")
	}
	return err
}

// tellSent says how much each sink got.
func (a *app) tellSent(sinks []relay.Sink, total *sentCount, out format) error {
	type got struct {
		Sink string `json:"sink"`
		Sent int    `json:"sent"`
	}
	all := []got{}
	for _, sink := range sinks {
		all = append(all, got{sink.Name, total.sent[sink.Name]})
	}
	if out != "table" {
		return printRows(a.stdout, out, all, columns[got]{})
	}
	for _, g := range all {
		fmt.Fprintf(a.stdout, "%s: %s sent.\n", g.Sink, plural(int64(g.Sent), "event"))
	}
	return nil
}

// sentCount counts what was sent, by sink.
type sentCount struct {
	mu   sync.Mutex
	sent map[string]int
}

func (t *sentCount) add(p relay.Progress) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sent[p.Sink] += p.Published
}

// relay makes the relay of the sinks with these names, or of all.
func (a *app) relay(cfg config.Config, s *store.Store, names []string) (*relay.Relay, error) {
	if len(cfg.Sinks) == 0 {
		return nil, patra.Invalid("", "there are no sinks to send events to; write some under sinks in patra.yaml")
	}
	for _, name := range names {
		if _, err := sinkNamed(cfg, name); err != nil {
			return nil, err
		}
	}
	a.credentials()
	r := &relay.Relay{Store: s, Log: a.logger(cfg), Tracer: a.tracer(cfg), Guard: a.recoverPanic(), Config: relay.Config{Owner: store.NewOwner(), Lease: time.Duration(cfg.Events.Lease)}}
	for _, c := range cfg.Sinks {
		if len(names) == 0 || slices.Contains(names, c.Name) {
			r.Sinks = append(r.Sinks, relay.Sink{Name: c.Name, Filter: c.Filter(), FromNow: c.From == config.FromNow, Open: func(context.Context) (relay.Publisher, error) { return a.publisher(c) }})
		}
	}
	return r, nil
}

func sinkNamed(cfg config.Config, name string) (config.Sink, error) {
	var known []string
	for _, c := range cfg.Sinks {
		if c.Name == name {
			return c, nil
		}
		known = append(known, c.Name)
	}
	if len(known) == 0 {
		known = []string{"none"}
	}
	return config.Sink{}, patra.Absent("there is no sink %q in patra.yaml; there are: %s", name, strings.Join(known, ", "))
}

// publisher makes the way to a sink. Its secret is read each time, so that a new one counts with the next term.
func (a *app) publisher(c config.Sink) (relay.Publisher, error) {
	secret := ""
	if c.Secret != "" {
		var err error
		if secret, err = a.secretOf(c.Secret); err != nil {
			return nil, err
		}
	}
	switch c.Type {
	case config.SinkFile:
		return relay.OpenFile(relay.FileOptions{Path: c.Path(), Limit: int64(c.Rotate)})
	case config.SinkNATS:
		return relay.OpenNATS(relay.NATSOptions{URL: c.URL, Secret: secret, Prefix: c.Topic})
	case config.SinkKafka:
		return relay.OpenKafka(relay.KafkaOptions{URL: c.URL, Secret: secret, Topic: c.Topic})
	}
	return relay.OpenWebhook(relay.WebhookOptions{URL: c.URL, Secret: secret, KeyID: c.KeyID, Local: c.Local})
}

func (a *app) relayStatusCmd() *cobra.Command {
	var out format
	c := &cobra.Command{
		Use: "status", Short: "How far each sink is, and what it would not take", Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := a.open(c.Context())
			if err != nil {
				return err
			}
			sinks, err := a.sinkStates(c.Context(), s)
			if err != nil {
				return err
			}
			if err := printRows(a.stdout, out, sinks, sinkColumns); err != nil || out != "table" {
				return err
			}
			a.sayTrouble(sinks)
			return a.sayStrangers(sinks)
		},
	}
	formatFlag(c, &out)
	return c
}

// sinkStates are the sinks that ever had a relay, and those that are only in the settings yet.
func (a *app) sinkStates(ctx context.Context, s *store.Store) ([]patra.SinkState, error) {
	cfg, err := a.load()
	if err != nil {
		return nil, err
	}
	all, err := s.Sinks(ctx)
	for _, c := range cfg.Sinks {
		if !slices.ContainsFunc(all, func(st patra.SinkState) bool { return st.Name == c.Name }) {
			all = append(all, patra.SinkState{Name: c.Name, New: true})
		}
	}
	return all, err
}

var sinkColumns = columns[patra.SinkState]{
	names: []string{"sink", "behind", "oldest", "wait", "aside", "tries", "relay"},
	row: func(s patra.SinkState) []any {
		oldest, owner := "", "nobody"
		if s.Oldest != nil {
			oldest = seconds(*s.Oldest)
		}
		if s.Held {
			owner = s.Owner[:min(len(s.Owner), 8)]
		}
		behind := thousands(s.Lag)
		if s.Capped {
			behind += "+"
		}
		if s.New {
			owner, behind = "never", "?"
		}
		return []any{s.Name, behind, oldest, s.Waiting, s.Aside, s.Attempts, owner}
	},
	empty: "No sinks. Write some under sinks in patra.yaml; docs/events.md shows how.",
}

// sayTrouble says below the table what went wrong, and what to do.
func (a *app) sayTrouble(sinks []patra.SinkState) {
	for _, s := range sinks {
		if s.Error != "" {
			fmt.Fprintf(a.stdout, "%s\n", wrapped(fmt.Sprintf("%s: %s", s.Name, stopped(s.Error)), 0))
		}
		if s.New {
			fmt.Fprintf(a.stdout, "%s: no relay was at it yet. Next: patra relay run, or patra serve\n", s.Name)
		}
		if s.Aside > 0 {
			fmt.Fprintf(a.stdout, "%s\n", wrapped(fmt.Sprintf("%s: %s set aside. When the sink is mended, patra relay rewind %s --from TIME sends them again.", s.Name, counted(s.Aside, "was", "were"), s.Name), 0))
		}
	}
}

// sayStrangers names sinks that got events once and are no longer in the settings: nobody sends to them.
func (a *app) sayStrangers(sinks []patra.SinkState) error {
	cfg, err := a.load()
	if err != nil {
		return err
	}
	for _, s := range sinks {
		if _, err := sinkNamed(cfg, s.Name); err != nil {
			fmt.Fprintf(a.stdout, "%s: it is not in patra.yaml, so nothing is sent to it. Next: patra relay forget %s, if it is gone\n", s.Name, s.Name)
		}
	}
	return nil
}

func (a *app) relayRewindCmd() *cobra.Command {
	var from, reason string
	var out format
	c := &cobra.Command{
		Use: "rewind SINK", Short: "Send events to a sink again", Args: exactArgs("SINK"),
		Long:    "Rewind puts a sink back to the first event of a moment, or to the start. It gets everything from there again, in order,\nwith the ids that the events had; also what was set aside. A relay that is at work goes on from there at once.",
		Example: "  patra relay rewind feed --from 2026-11-01\n  patra relay rewind feed --from START --reason 'the file was lost'",
		RunE: func(c *cobra.Command, args []string) error {
			if from == "" {
				return patra.Invalid("from", "patra relay rewind needs {from} with a time, or START")
			}
			s, err := a.open(c.Context())
			if err != nil {
				return err
			}
			done, err := rewind(c.Context(), s, args[0], "from", from, reason)
			if err != nil {
				return err
			}
			if out != "table" {
				return printValue(a.stdout, out, done)
			}
			fmt.Fprintf(a.stdout, "%s\nNext: %s\n", done.Said, done.Next)
			return nil
		},
	}
	c.Flags().StringVar(&from, "from", "", "a time such as 2026-11-01 or 2026-11-01T12:00:00Z, or START")
	reasonFlag(c, &reason)
	formatFlag(c, &out)
	return c
}

// rewindResult is a sink that is told again.
type rewindResult struct {
	Sink string `json:"sink"`
	From int64  `json:"from"` // the event that it had come to
	To   int64  `json:"to"`
	Said string `json:"said"`
	Next string `json:"next"`
}

// rewind sends the events since a time to a sink again. field is what the caller names the time.
func rewind(ctx context.Context, s *store.Store, sink, field, from, reason string) (rewindResult, error) {
	gone, err := s.Purged(ctx)
	if err != nil {
		return rewindResult{}, err
	}
	to := int64(0)
	if !strings.EqualFold(from, config.FromStart) {
		at, err := patra.ParseInstant(from)
		if err != nil {
			return rewindResult{}, patra.Invalid(field, "{"+field+"} %q is no time; write 2026-11-01, 2026-11-01T12:00:00Z or START", from)
		}
		if to, err = s.PositionBefore(ctx, at); err != nil {
			return rewindResult{}, err
		}
		if gone.Last > 0 && at <= gone.At { // what happened then is not all there
			to = 0
		}
	}
	was, err := s.Rewind(ctx, sink, to, actor(ctx), reason)
	switch {
	case errors.Is(err, patra.ErrNotFound):
		return rewindResult{}, patra.Absent("no events were ever sent to a sink %q; patra relay status lists those that there are", sink)
	case errors.Is(err, store.ErrPurged):
		return rewindResult{}, patra.Invalid("", "events from before %s are not there any more: every sink had them, and they were older than events.keep. Next: patra relay rewind %s --from %s sends what is left; patra records export has every record as it is now",
			seconds(gone.At+patra.Second), sink, (gone.At + patra.Second).String())
	case errors.Is(err, patra.ErrIllegalMove):
		return rewindResult{}, patra.Invalid("", "%s has not come as far as %s: it stands at event %s, and that is event %s", sink, from, thousands(was), thousands(to))
	case err != nil:
		return rewindResult{}, err
	}
	return rewindResult{Sink: sink, From: was, To: to, Said: fmt.Sprintf("%s goes back from event %s to event %s.", sink, thousands(was), thousands(to)), Next: "patra relay run, unless patra serve is at work"}, nil
}
