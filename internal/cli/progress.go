package cli

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"patra"
	"patra/internal/executor"
	"patra/internal/planner"
)

// quiet is how often a line is printed where there is no terminal.
const quiet = 2 * time.Second

// progress shows a harvest while it runs: a bar in a terminal, a line now and then elsewhere.
type progress struct {
	mu    sync.Mutex
	sum   *summary
	name  string
	total int64
	out   io.Writer
	shown time.Time
	said  string // why nothing happens

	bars    *mpb.Progress
	bar     *mpb.Bar
	alone   bool   // the bars are nobody else's
	gone    func() // the bars are not drawn any more
	refused int    // times in a row that the provider asked us to slow down
}

func (a *app) progress(sum *summary, name string, total int64) *progress {
	p := &progress{sum: sum, name: name, total: total, out: a.stderr, shown: time.Now()}
	if p.bars = a.bars; p.bars == nil {
		p.bars, p.alone = newBars(a.stderr), true
	}
	a.drawn.Store(p.bars)
	p.gone = func() { a.drawn.CompareAndSwap(p.bars, nil) }
	if p.bars == nil || total == 0 {
		return p
	}
	p.bar = p.bars.AddBar(0, // one that knows its total ends when it is reached, and more may come
		mpb.PrependDecorators(decor.Name(name, decor.WCSyncSpaceR), decor.CountersNoUnit("%d/%d slices ", decor.WCSyncSpace)),
		mpb.AppendDecorators(decor.Any(p.counters), decor.AverageETA(decor.ET_STYLE_GO, decor.WCSyncSpace)),
	)
	p.bar.SetTotal(total, false)
	return p
}

// newBars is a place for bars, where there is a terminal to show them.
func newBars(w io.Writer) *mpb.Progress {
	if f, ok := w.(*os.File); !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return mpb.New(mpb.WithOutput(w), mpb.WithWidth(40), mpb.WithRefreshRate(120*time.Millisecond))
}

// counters is what stands behind the bar.
func (p *progress) counters(decor.Statistics) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return fmt.Sprintf(" %s · %.1f pages/s ·", plural(p.sum.Counts.Total(), "record"), p.rate())
}

func (p *progress) rate() float64 {
	return float64(p.sum.Pages) / max(time.Since(p.sum.started).Seconds(), 0.001)
}

// observe counts one event.
func (p *progress) observe(e executor.Event) {
	p.mu.Lock()
	step := p.count(e)
	line := p.line(step)
	slow := p.slow(e)
	p.mu.Unlock()
	if slow != "" {
		p.say(slow)
	}
	if p.bar != nil {
		p.bar.IncrBy(step)
	} else if line != "" {
		fmt.Fprintln(p.out, line)
	}
}

// oftenRefused is how many refusals for speed in a row somebody who waits should hear of.
const oftenRefused = 3

// slow is what to say when a provider asks us to slow down again and again, and nothing comes in between.
func (p *progress) slow(e executor.Event) string {
	switch {
	case e.Kind == executor.EventPage:
		p.refused = 0
	case e.Healing != nil && e.Healing.Action == patra.HealCooldown:
		if p.refused++; p.refused == oftenRefused {
			return fmt.Sprintf("%s/%s asks us to slow down again and again. This waits as long as it says; patra why %d tells until when.", e.Healing.Source, e.Healing.Endpoint, e.Claim.TaskID)
		}
	}
	return ""
}

// count adds an event to the summary; it gives 1 when a slice has ended.
func (p *progress) count(e executor.Event) int {
	s := p.sum
	if e.Fault != nil && e.Kind != executor.EventFailed {
		s.Faults[e.Fault.Code]++
	}
	switch e.Kind {
	case executor.EventPage:
		s.Pages++
		s.Counts = s.Counts.Add(e.Counts)
	case executor.EventRetry:
		s.Retries++
	case executor.EventRestart:
		s.Restarts++
	case executor.EventLost:
		s.Lost++
	case executor.EventDone:
		s.Slices++
		return 1
	case executor.EventPartial:
		s.Early++
		return 1
	case executor.EventFailed:
		s.Failed++
		return 1
	}
	return 0
}

// line is what is printed without a terminal: now and then, and when a slice fails.
func (p *progress) line(step int) string {
	done := p.sum.Slices + p.sum.Failed + p.sum.Early
	if step == 0 || (time.Since(p.shown) < quiet && done < p.total) {
		return ""
	}
	p.shown = time.Now()
	return fmt.Sprintf("%s: %d/%d slices, %s, %.1f pages/s", p.name, done, p.total, plural(p.sum.Counts.Total(), "record"), p.rate())
}

// say prints why nothing happens, once.
func (p *progress) say(line string) {
	p.mu.Lock()
	news := line != "" && line != p.said
	p.said = line
	p.mu.Unlock()
	switch {
	case !news:
	case p.bars != nil:
		fmt.Fprintln(p.bars, line)
	default:
		fmt.Fprintln(p.out, line)
	}
}

// grow says how many slices are still open, when there are more than the bar knew.
func (p *progress) grow(open int64) {
	p.mu.Lock()
	p.total = p.sum.Slices + p.sum.Failed + p.sum.Early + open
	total := p.total
	p.mu.Unlock()
	if p.bar != nil {
		p.bar.SetTotal(total, false)
	}
}

// finish leaves the terminal clean.
func (p *progress) finish() {
	if p.bar != nil {
		p.endBar()
	}
	if p.alone && p.bars != nil {
		p.gone()
		p.bars.Wait()
	}
}

func (p *progress) endBar() {
	p.mu.Lock()
	full := p.sum.Slices+p.sum.Failed+p.sum.Early >= p.total
	p.mu.Unlock()
	if full {
		p.bar.SetTotal(-1, true)
	} else {
		p.bar.Abort(false)
	}
}

// aboveBars writes lines to the standard error, above the bars while there are some: what is logged and what is drawn never
// mix.
type aboveBars struct{ *app }

// Write implements io.Writer.
func (w aboveBars) Write(line []byte) (int, error) {
	if bars := w.drawn.Load(); bars != nil {
		if n, err := bars.Write(line); err == nil {
			return n, nil
		}
	}
	return w.stderr.Write(line)
}

// planning shows now and then how far a plan is: counting at a provider's rate can take a while.
func (a *app) planning() func(planner.SlicingStats) {
	var mu sync.Mutex
	shown := time.Now()
	return func(t planner.SlicingStats) {
		mu.Lock()
		defer mu.Unlock()
		if watch := a.watched.Load(); watch != nil {
			watch.happened()
		}
		if time.Since(shown) < quiet {
			return
		}
		shown = time.Now()
		fmt.Fprintf(a.stderr, "%s: planning, %s asked, %s so far\n", t.Of, plural(int64(t.Probes), "count"), plural(t.Price.Slices, "slice"))
	}
}
