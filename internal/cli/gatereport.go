package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"patra"
	"patra/internal/gate"
	"patra/internal/source"
	"patra/internal/store"
)

// requestStatsView is how we asked under one key, in a stretch of time.
type requestStatsView struct {
	Key        string                  `json:"key"`
	SharedBy   []string                `json:"shared_by"`
	Credential string                  `json:"credential,omitempty"`
	Identity   []source.ClientIdentity `json:"identity,omitempty"`
	From       patra.Instant           `json:"from"`
	To         patra.Instant           `json:"to"`
	patra.RequestStats
	RefusedShare float64 `json:"refused_share"`
	WaitedAll    float64 `json:"waited_seconds"`
	WaitedMean   float64 `json:"waited_mean_seconds"`
	WaitedMost   float64 `json:"waited_95th_seconds"`

	PerSecond float64 `json:"permitted_per_second"` // by the source as it counts now
	Burst     int     `json:"permitted_burst"`
	InSecond  int64   `json:"permitted_in_a_second"`
	InMinute  int64   `json:"permitted_in_a_minute"`

	Archived      int64         `json:"archived_requests,omitempty"` // about so many more are in the archive, and in none of these figures
	ArchivedUntil patra.Instant `json:"archived_until,omitzero"`     // all of them are older than this

	Days []requestStatsView `json:"days,omitempty"`
}

const markdown = "markdown"

func (a *app) gateReportCmd() *cobra.Command {
	out := format("table")
	var since string
	var daily bool
	c := &cobra.Command{
		Use: "report [SOURCE|KEY]", Short: "Report how politely providers were asked", Args: atMostOne,
		Long: strings.TrimSpace(`
Report counts the requests that were sent: how many, of which kind, how many were refused, how long they waited for their
turn, the busiest second and minute against what the provider permits, whether it was left alone when it asked for that,
and how we introduced ourselves. With -o markdown it is a page that can be sent to a provider. No secret is ever in it.`),
		Example: "  patra gate report\n  patra gate report crossref --since 7d --daily\n  patra gate report crossref --since 2026-11-01 -o markdown > manners.md",
		RunE: func(c *cobra.Command, args []string) error {
			from, err := sinceFlag(since, now())
			if err != nil {
				return err
			}
			s, err := a.openReadOnly(c.Context())
			if err != nil {
				return err
			}
			views, err := a.conduct(c.Context(), s, strings.Join(args, ""), from, daily)
			if err != nil {
				return err
			}
			switch out {
			case "table":
				printConduct(a.stdout, views, from)
			case markdown:
				markdownConduct(a.stdout, views, from, a.version)
			default:
				return printRows(a.stdout, out, views, columns[requestStatsView]{})
			}
			return nil
		},
	}
	c.Flags().StringVar(&since, "since", "24h", "from when on: a time such as 90m, 24h or 7d, or a day or moment such as 2026-11-01")
	c.Flags().BoolVar(&daily, "daily", false, "also each day (UTC) on its own")
	c.Flags().VarP((*reportFormat)(&out), "output", "o", "table, json, jsonl, yaml or markdown")
	return c
}

// reportFormat is a format, or a page to send.
type reportFormat format

// String implements pflag.Value.
func (f *reportFormat) String() string { return string(*f) }

// Type implements pflag.Value.
func (f *reportFormat) Type() string { return "format" }

// Set implements pflag.Value.
func (f *reportFormat) Set(s string) error {
	if s == markdown {
		*f = markdown
		return nil
	}
	if err := (*formatValue)(f).Set(s); err != nil {
		return fmt.Errorf("%w, %s", err, markdown)
	}
	return nil
}

// sinceFlag reads a time before now, or a moment.
func sinceFlag(text string, now patra.Instant) (patra.Instant, error) {
	hours := text
	if days, ok := strings.CutSuffix(text, "d"); ok {
		hours = days + "h"
	}
	if d, err := time.ParseDuration(hours); err == nil && d > 0 && d < 100*365*24*time.Hour {
		if hours != text {
			d *= 24
		}
		return now.Add(-d), nil
	}
	at, err := patra.ParseInstant(text)
	if err != nil {
		return 0, patra.Invalid("since", "{since} %q is neither a time such as 24h or 7d nor a day such as 2026-11-01", text)
	}
	if at >= now {
		return 0, patra.Invalid("since", "{since} %s lies in the future", text)
	}
	return at, nil
}

// conduct looks at the requests of some keys. Those without any are left out.
func (a *app) conduct(ctx context.Context, s *store.Store, only string, from patra.Instant, daily bool) ([]requestStatsView, error) {
	ring, err := a.gateKeys(ctx)
	if err != nil {
		return nil, err
	}
	states, _, err := s.AllGates(ctx)
	if err != nil {
		return nil, err
	}
	keys, err := s.RequestKeys(ctx)
	if err != nil {
		return nil, err
	}
	for _, k := range states {
		g := ring.of(k.Key)
		if g.limit.PerSecond == 0 { // no installed source says what is permitted: then what was asked for last
			g.limit.PerSecond, g.limit.Burst = float64(k.Limit)/1000, k.Burst
		}
	}
	for _, k := range keys {
		ring.of(k)
	}
	names := ring.names()
	if only != "" {
		if names, err = ring.find(only); err != nil {
			return nil, err
		}
	}
	views := []requestStatsView{}
	for _, name := range names {
		if !slices.Contains(keys, name) {
			continue
		}
		v, err := conductOf(ctx, s, ring[name], from, now(), daily)
		if err != nil {
			return nil, err
		}
		if v.Requests+v.Open+v.Archived > 0 {
			views = append(views, v)
		}
	}
	return views, nil
}

// written is how long it may take until an answer that asks for patience is written down for everybody.
const written = 250 * time.Millisecond

// graceOf is how long after such an answer a request may leave that nobody could call back: it looked for a cooldown just
// before its turn, and it may have been a little late.
func graceOf(l patra.RateLimit) time.Duration {
	const look = 20 * time.Millisecond
	if l.PerSecond <= 0 {
		return written + look + time.Second
	}
	return written + look + gate.PaceOf(patra.RateLimit{PerSecond: l.PerSecond, Burst: max(l.Burst, 1), Heaviest: l.Heaviest}).Patience()
}

// conductOf counts the requests of one key.
func conductOf(ctx context.Context, s *store.Store, k *GateKey, from, to patra.Instant, daily bool) (requestStatsView, error) {
	whole := patra.NewRequestStats(graceOf(k.limit))
	var days []requestStatsView
	var day *patra.RequestStatsCounter
	var begins patra.Instant
	close := func() {
		if day != nil {
			days = append(days, k.conduct(day.Manners(), max(begins, from), min(begins+patra.Day, to)))
		}
	}
	err := s.SentRequests(ctx, k.Key, from, to, func(r patra.SentRequest) error {
		whole.Add(r)
		if !daily {
			return nil
		}
		if at := r.AcquiredAt - r.AcquiredAt%patra.Day; day == nil || at != begins {
			close()
			day, begins = patra.NewRequestStats(graceOf(k.limit)), at
		}
		day.Add(r)
		return nil
	})
	close()
	if err != nil {
		return requestStatsView{}, err
	}
	v := k.conduct(whole.Manners(), from, to)
	v.Days = days
	v.Archived, v.ArchivedUntil, err = s.SentArchived(ctx, k.Key, from, to)
	return v, err
}

// conduct puts what was counted beside what is permitted.
func (k *GateKey) conduct(m patra.RequestStats, from, to patra.Instant) requestStatsView {
	v := requestStatsView{Key: k.Key, SharedBy: k.SharedBy, Credential: k.Credential, From: from, To: to, RequestStats: m, RefusedShare: m.RefusedShare(),
		WaitedAll: m.Waited.Seconds(), WaitedMean: m.MeanWait().Seconds(), WaitedMost: m.Waited95.Seconds(), PerSecond: k.limit.PerSecond, Burst: k.limit.Burst}
	if k.limit.PerSecond > 0 {
		v.InSecond, v.InMinute = k.limit.MostIn(time.Second), k.limit.MostIn(time.Minute)
	}
	v.Identity = slices.SortedFunc(maps.Keys(k.shown), func(x, y source.ClientIdentity) int {
		return cmp.Or(cmp.Compare(x.Where, y.Where), cmp.Compare(x.Name, y.Name), cmp.Compare(x.Value, y.Value))
	})
	return v
}
