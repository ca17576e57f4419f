package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"patra"
)

func (a *app) gateCmd() *cobra.Command {
	c := &cobra.Command{
		Use: "gate", Short: "See and steer how fast providers are asked", Args: noArgs,
		Long: strings.TrimSpace(`
Every request is charged at the gate before it leaves. A key of the gate is what shares a limit at a provider: usually a
source (crossref), one of its endpoints (crossref/works), a credential with a rate of its own (pubmed#ncbi), or an address
(host:export.example.org).`),
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.gateStatusCmd(), a.gateWatchCmd(), a.gateSetCmd(), a.gateReportCmd())
	return c
}

func (a *app) gateStatusCmd() *cobra.Command {
	var out format
	c := &cobra.Command{
		Use: "status [SOURCE|KEY]", Short: "Show how fast each provider is asked now, and why not faster", Args: atMostOne,
		Long: strings.TrimSpace(`
Status shows each key of the gate. With a source or a key it says everything about that, in words.

  NOW/MAX  requests a second that are given out now, of those that the source permits
  AWAY     requests on their way, of as many as may be
  AHEAD    how far ahead requests are given out: whoever comes now waits so long
  1 MIN    requests of the last minute; 1 H of the last hour; REF those of the hour that were refused with 429 or 503
  TASKS    tasks that are due or running`),
		Example: "  patra gate status\n  patra gate status crossref\n  patra gate status -o json",
		RunE: func(c *cobra.Command, args []string) error {
			s, err := a.openReadOnly(c.Context())
			if err != nil {
				return err
			}
			board, err := a.gateBoard(c.Context(), s, strings.Join(args, ""))
			if err != nil {
				return err
			}
			views, err := board.look(c.Context())
			if err != nil {
				return err
			}
			if out != "table" {
				return printRows(a.stdout, out, views, columns[gateView]{})
			}
			printGates(a.stdout, views, len(args) > 0)
			return nil
		},
	}
	formatFlag(c, &out)
	return c
}

// printGates prints keys for people: a table, or all that is known of each.
func printGates(w io.Writer, views []gateView, whole bool) {
	if whole {
		for i, v := range views {
			if i > 0 {
				fmt.Fprintln(w)
			}
			v.print(w)
		}
		return
	}
	t := newTable(w, "key", "now/max", "away", "ahead", "1 min", "1 h", "ref", "tasks")
	quiet := true
	for _, v := range views {
		quiet = quiet && !v.Used && v.LastHour.Requests == 0
		now := v.PerSecond
		if v.CooldownUntil != 0 {
			now = 0
		}
		t.AppendRow([]any{cut(v.Key, keyWidth), rateText(now) + "/" + rateText(v.Permitted.PerSecond), v.away(), brief(v.Ahead), v.LastMinute.Requests, v.LastHour.Requests, v.LastHour.Refused, v.Tasks.Waiting + v.Tasks.Running})
	}
	t.Render()
	for _, v := range views {
		for _, said := range v.notes() {
			fmt.Fprintln(w, wrapped(v.Key+": "+said, 2))
		}
	}
	if quiet {
		fmt.Fprintln(w, "Nobody was asked yet. "+emptyNext)
	}
}

// keyWidth leaves room for everything else on a page.
const keyWidth = 26

// rateText is a rate in a table.
func rateText(perSecond float64) string { return fmt.Sprintf("%.3g", perSecond) }

// brief is a time in a table.
func brief(seconds float64) string {
	switch d := time.Duration(seconds * float64(time.Second)); {
	case d < time.Millisecond:
		return "0"
	case d < 10*time.Second:
		return fmt.Sprintf("%.1fs", d.Seconds())
	default:
		return roughDuration(d)
	}
}

// roughDuration is a time in words that need no more exactness than this.
func roughDuration(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%.0fs", max(d.Seconds(), 1))
	case d < time.Hour:
		return strings.Replace(d.Round(time.Second).String(), "m0s", "m", 1)
	}
	return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
}

func (v gateView) away() string {
	if v.Concurrency == 0 {
		return "-"
	}
	return fmt.Sprintf("%d/%d", v.OnTheWay, v.Concurrency)
}

// notes are what a person should know beside the numbers: sentences that end with what they mean.
func (v gateView) notes() (all []string) {
	if v.CooldownUntil != 0 {
		all = append(all, v.cooldownText())
	}
	for _, s := range v.Slower {
		all = append(all, slowText(s, v.Changes))
	}
	for _, q := range v.Quotas {
		if !q.Lasts {
			all = append(all, q.text())
		}
	}
	if v.Concurrency > 0 && v.OnTheWay >= v.Concurrency {
		all = append(all, fmt.Sprintf("%d of %d requests are on their way; the next leaves when one of them is back.", v.OnTheWay, v.Concurrency))
	}
	return all
}

func (v gateView) cooldownText() string {
	until := fmt.Sprintf("until %s (%s)", clockTime(v.CooldownUntil), roughDuration(time.Duration(v.CooldownLeft*float64(time.Second))))
	if c := v.CooldownBy; c != nil {
		return fmt.Sprintf("nobody sends %s: %s said so%s. patra gate set %s --end-cooldown ends it.", until, c.Actor, throttleText(c.Reason), quoted(v.Key))
	}
	return fmt.Sprintf("the provider asked to be left alone %s.", until)
}

func throttleText(reason string) string {
	if reason == "" {
		return ""
	}
	return " (" + reason + ")"
}

// clockTime is a moment of today, or with its day if it is of another.
func clockTime(at patra.Instant) string {
	if at.Time().Format(time.DateOnly) == now().Time().Format(time.DateOnly) {
		return at.Time().Format("15:04:05")
	}
	return seconds(at)
}

// slowText says why a rate is lower; of what a person did, the last change has who and why.
func slowText(s patra.ThrottleReason, changes []patra.GateChange) string {
	switch s.Code {
	case patra.SlowRefused:
		return fmt.Sprintf("slowed down to %s a second, because it refused us at %s; answers bring the rate back.", rateText(s.PerSecond), clockTime(s.Since))
	case patra.SlowTold:
		return fmt.Sprintf("the provider says that it permits %s a second.", rateText(s.PerSecond))
	case patra.SlowSet:
		who := "a person"
		if i := slices.IndexFunc(changes, func(c patra.GateChange) bool { return c.Action == patra.GateSetRate }); i >= 0 {
			who = changes[i].Actor + throttleText(changes[i].Reason)
		}
		return fmt.Sprintf("the rate was lowered to %s a second by %s.", rateText(s.PerSecond), who)
	}
	return fmt.Sprintf("coming to full speed since %s, after a pause.", clockTime(s.Since))
}

var quotaWords = map[string]string{patra.QuotaHour: "this hour", patra.QuotaDay: "today", patra.QuotaMonth: "this month"}

func (q quotaView) text() string {
	said := fmt.Sprintf("%s of %s usable requests %s %s used", thousands(q.Used), thousands(q.Usable), quotaWords[q.Window], verb(q.Used, "is", "are"))
	if kept := q.Limit - q.Usable; kept > 0 {
		said += fmt.Sprintf(" (the provider permits %s, %s are kept in reserve)", thousands(q.Limit), thousands(kept))
	}
	switch {
	case q.usedUp() && q.Again > q.To:
		return fmt.Sprintf("%s; it begins anew at %s, and as the provider's clock may be off, nothing leaves until %s.", said, seconds(q.To), clockTime(q.Again))
	case q.usedUp():
		return fmt.Sprintf("%s; nothing leaves until it begins anew at %s.", said, seconds(q.To))
	case !q.Lasts:
		return fmt.Sprintf("%s; at this pace that lasts until %s, and it begins anew at %s.", said, seconds(q.LastsUntil), seconds(q.To))
	}
	return fmt.Sprintf("%s; at this pace it lasts until it begins anew at %s.", said, seconds(q.To))
}

// print says everything about one key.
func (v gateView) print(w io.Writer) {
	at := now()
	fact := func(name, format string, args ...any) {
		fmt.Fprintf(w, "  %s%s\n", text.Pad(name, 13, ' '), wrapped(fmt.Sprintf(format, args...), 15))
	}
	fmt.Fprintf(w, "%s\n", v.Key)
	if len(v.SharedBy) > 0 {
		fact("shared by", "%s", strings.Join(v.SharedBy, ", "))
	} else {
		fact("shared by", "no source that is installed here")
	}
	if v.Credential != "" {
		fact("credential", "%s", v.Credential)
	}
	fact("permitted", "%s a second, %d at once%s", rateText(v.Permitted.PerSecond), v.Permitted.Burst, v.concurrencyText())
	if v.Permitted.Cost > 1 {
		fact("", "A request counts up to %d, here and in quotas.", v.Permitted.Cost)
	}
	now, full := v.PerSecond, ""
	switch {
	case v.CooldownUntil != 0:
		now = 0
	case len(v.Slower) == 0 && v.stopped() == 0:
		full = ", as much as is permitted"
	}
	fact("now", "%s a second%s", rateText(now), full)
	for _, said := range v.notes() {
		fact("", "%s", sentence(said))
	}
	for _, q := range v.Quotas {
		if q.Lasts {
			fact("quota", "%s", sentence(q.text()))
		}
	}
	switch until := v.stopped(); {
	case until != 0:
		fact("given out", "nothing before %s", clockTime(until))
	case v.CooldownUntil != 0:
		fact("given out", "nothing before %s", clockTime(v.CooldownUntil))
	case v.Keeper == keptByOther:
		fact("given out", "by Redis; how far ahead is not seen from here")
	case v.Ahead > 0.001:
		fact("given out", "until %s: whoever comes now waits about %s", clockTime(at.Add(time.Duration(v.Ahead*float64(time.Second)))), brief(v.Ahead))
	default:
		fact("given out", "nothing ahead: whoever comes now is let through")
	}
	fact("asked", "%s in the last minute (%d refused), %s in the last hour (%d refused)", plural(v.LastMinute.Requests, "request"), v.LastMinute.Refused, thousands(v.LastHour.Requests), v.LastHour.Refused)
	fact("tasks", "%s due, %s running", thousands(v.Tasks.Waiting), thousands(v.Tasks.Running))
	switch v.Keeper {
	case keptByOther:
		fact("kept by", "Redis, to which the store has lent it until %s", clockTime(v.LentUntil))
	case keptByNone:
		fact("kept by", "each process for itself (gate.backend is local): what others do is not seen here")
	default:
		fact("kept by", "the store")
	}
	for _, c := range v.Changes {
		fact("changed", "%s by %s: %s%s", seconds(c.At), c.Actor, changeText(c), throttleText(c.Reason))
	}
	if v.LastHour.Requests > 0 {
		fmt.Fprintf(w, "Next: patra gate report %s\n", quoted(v.Key))
	}
}

func (v gateView) concurrencyText() string {
	switch {
	case v.Concurrency == 0:
		return ""
	case v.Concurrency != v.Permitted.Concurrency:
		return fmt.Sprintf(", %d on their way (the provider says so); %d %s", v.Concurrency, v.OnTheWay, verb(int64(v.OnTheWay), "is", "are"))
	}
	return fmt.Sprintf(", %d on their way; %d %s", v.Concurrency, v.OnTheWay, verb(int64(v.OnTheWay), "is", "are"))
}

// changeText is what a person did, in words.
func changeText(c patra.GateChange) string {
	switch c.Action {
	case patra.GateSetRate:
		return c.Value + " a second"
	case patra.GateDefaultRate:
		return "as fast as the source permits"
	case patra.GateCooldown:
		return "nobody sends for " + c.Value
	case patra.GateEndCooldown:
		return "the cooldown is over"
	case patra.GateForget:
		return "what was learned is forgotten"
	}
	return c.Action
}

// quoted is a key as it can be typed: # begins a comment only after a space, but people cannot know that.
func quoted(key string) string {
	if strings.ContainsAny(key, "#*[] ") {
		return "'" + key + "'"
	}
	return key
}
