package cli

import (
	"context"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"patra"
	"patra/internal/config"
	"patra/internal/store"
)

// gateFlags are what a person can do to a key.
type gateFlags struct {
	perSecond           string
	cooldown            time.Duration
	endCooldown, forget bool
	sure                bool
	reason              string
}

// gateUpdateResult is what became of a key.
type gateUpdateResult struct {
	Key       string          `json:"key"`
	PerSecond float64         `json:"per_second"` // what is given out now
	Was       patra.RateState `json:"was"`
	Is        patra.RateState `json:"is"`
	Said      string          `json:"said"`
	Next      string          `json:"next"`
}

func (a *app) gateSetCmd() *cobra.Command {
	var f gateFlags
	var out format
	c := &cobra.Command{
		Use: "set KEY", Short: "Ask a provider more slowly, leave it alone for a while, or take that back", Args: exactArgs("KEY"),
		Long: strings.TrimSpace(`
Set changes a key of the gate for all processes of the store, at once. A rate can only be lowered: what a provider permits
stands in its source file. Who did it, when and why is kept; patra gate status KEY shows it.`),
		Example: `  patra gate set crossref --per-second 1 --reason 'they asked us to go easy until Monday'
  patra gate set crossref --per-second default
  patra gate set crossref --cooldown 10m
  patra gate set crossref --end-cooldown
  patra gate set crossref --forget --yes`,
		RunE: func(c *cobra.Command, args []string) error {
			done, err := a.gateSet(c.Context(), args[0], f)
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
	fl := c.Flags()
	fl.StringVar(&f.perSecond, "per-second", "", "not more requests a second than this, or default for as many as the source permits")
	fl.DurationVar(&f.cooldown, "cooldown", 0, "nobody sends for this time, such as 10m")
	fl.BoolVar(&f.endCooldown, "end-cooldown", false, "end a cooldown before its time, also one that the provider asked for")
	fl.BoolVar(&f.forget, "forget", false, "forget refusals, what the provider said about its limits, and its cooldown: back to the full rate")
	fl.BoolVar(&f.sure, "yes", false, "do not ask")
	reasonFlag(c, &f.reason)
	formatFlag(c, &out)
	return c
}

// turn reads the flags, as far as they can be understood without knowing the key.
func (f gateFlags) turn(key string) (t patra.GateUpdate, err error) {
	t = patra.GateUpdate{Cooldown: f.cooldown, EndCooldown: f.endCooldown, Forget: f.forget}
	switch {
	case f.perSecond == "default":
		t.Default = true
	case f.perSecond != "":
		t.PerSecond, err = strconv.ParseFloat(f.perSecond, 64)
		if err != nil || math.IsNaN(t.PerSecond) || t.PerSecond < leastSet {
			return t, patra.Invalid("per_second", "{per_second} %q is no rate; write a number from %g, such as 0.5, or default (to stop, use {cooldown} or patra pause)", f.perSecond, leastSet)
		}
	}
	switch {
	case t == patra.GateUpdate{}:
		return t, patra.Invalid("", "say what to do with %s: {per_second} N, {per_second} default, {cooldown} TIME, {end_cooldown} or {forget}", key)
	case f.cooldown < 0 || f.cooldown > longestCooldown:
		return t, patra.Invalid("cooldown", "{cooldown} %s is not between 1s and %s; to hold work back for longer, use patra pause", f.cooldown, longestCooldown)
	case f.cooldown > 0 && (f.endCooldown || f.forget):
		return t, patra.Invalid("", "a cooldown cannot begin and end at once; leave out {cooldown}, or what ends it")
	}
	return t, nil
}

const (
	leastSet        = 0.001 // thousandths are what the gate counts in
	longestCooldown = 24 * time.Hour
)

// gateSet does what a person wants of a key.
func (a *app) gateSet(ctx context.Context, key string, f gateFlags) (gateUpdateResult, error) {
	turn, err := f.turn(key)
	if err != nil {
		return gateUpdateResult{}, err
	}
	s, err := a.openOrCreate(ctx)
	if err != nil {
		return gateUpdateResult{}, err
	}
	limit, err := a.permittedAt(ctx, s, key)
	if err != nil {
		return gateUpdateResult{}, err
	}
	if limit > 0 && turn.PerSecond > limit {
		return gateUpdateResult{}, patra.Invalid("per_second", "{per_second} %s is more than %s permits (%s a second); if the provider permits more, say so in its source file (rate.perSecond), or write default",
			f.perSecond, key, rateText(limit))
	}
	if err := a.confirmForget(key, f); err != nil {
		return gateUpdateResult{}, err
	}
	was, is, clock, err := s.UpdateGate(ctx, key, turn, f.reason, actor(ctx))
	if err != nil {
		return gateUpdateResult{}, err
	}
	if is.Limit == 0 { // nobody has asked yet
		was.Limit, is.Limit = int64(limit*1000), int64(limit*1000)
	}
	done := gateUpdateResult{Key: key, PerSecond: is.Rate(), Was: was, Is: is, Said: steeredText(key, turn, was, is, clock), Next: "patra gate status " + quoted(key)}
	if a.config.Gate.Backend == config.GateLocal {
		done.Said += " But gate.backend is local here: processes with this setting count for themselves, and do not see it."
	}
	return done, nil
}

// permittedAt is the highest rate under a key, which must be one that is used or would be.
func (a *app) permittedAt(ctx context.Context, s *store.Store, key string) (float64, error) {
	ring, err := a.gateKeys(ctx)
	if err != nil {
		return 0, err
	}
	states, _, err := s.AllGates(ctx)
	if err != nil {
		return 0, err
	}
	known := 0.0
	for _, k := range states {
		ring.of(k.Key)
		if k.Key == key {
			known = float64(k.Limit) / 1000
		}
	}
	if _, ok := ring[key]; !ok {
		return 0, ring.unknown(key)
	}
	if limit := ring[key].limit.PerSecond; limit > 0 {
		return limit, nil
	}
	return known, nil
}

// confirmForget asks before what a provider said about us is forgotten: it may be angry already.
func (a *app) confirmForget(key string, f gateFlags) error {
	if !f.forget || f.sure {
		return nil
	}
	if !term.IsTerminal(int(os.Stdin.Fd())) {
		return patra.Invalid("forget", "{forget} asks %s at the full rate again, whatever it said; add {yes} if that is meant", key)
	}
	fmt.Fprintf(a.stderr, "%s is asked at the full rate again, whatever it said. Go on? [y/N] ", key)
	var answer string
	if _, err := fmt.Fscanln(os.Stdin, &answer); err != nil {
		answer = "" // nothing was said, or too much: that is no yes
	}
	if !strings.HasPrefix(strings.ToLower(answer), "y") {
		return patra.Invalid("", "nothing was forgotten")
	}
	return nil
}

// steeredText says what a turn did.
func steeredText(key string, t patra.GateUpdate, was, is patra.RateState, clock patra.Instant) string {
	var said []string
	add := func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }
	switch {
	case t.PerSecond > 0:
		add("Not more than %s a second are sent to %s from now on, by all processes together.", rateText(float64(is.Set)/1000), key)
	case t.Default:
		add("%s is asked as fast as its source permits again.", key)
	}
	if t.Forget {
		add("What %s said about our speed is forgotten.", key)
	}
	switch {
	case !t.EndCooldown && !t.Forget:
	case was.EndsSoon(clock):
		add("Its cooldown is left to end by itself, in %s.", roughDuration(was.Cooldown.Sub(clock)))
	case was.Cooldown > clock:
		add("Its cooldown is over; whoever waited for its end takes a new turn.")
	case t.EndCooldown:
		add("%s has no cooldown.", key)
	}
	if t.Cooldown > 0 {
		add("Nobody sends to %s for %s. What is on its way comes back.", key, roughDuration(is.Cooldown.Sub(clock)))
	}
	if t.Forget && is.Set > 0 && is.Set < is.Limit {
		add("A person's limit of %s a second stays; --per-second default ends it.", rateText(float64(is.Set)/1000))
	}
	if ahead := is.Arrival.Sub(clock); (t.Default || t.Forget) && ahead > time.Second {
		add("What is given out already keeps its turn; whoever comes now waits about %s.", roughDuration(ahead))
	}
	if is.Loan.Leased(clock) {
		add("Its state is lent to Redis, and comes back for this within %s.", roughDuration(is.Loan.Until.Sub(clock)))
	}
	return strings.Join(said, " ")
}
