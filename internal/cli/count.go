package cli

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// progressCounter shows how far long work on many pieces is: a bar in a terminal, a line now and then elsewhere. Several may count
// at once.
type progressCounter struct {
	mu    sync.Mutex
	name  string
	noun  string
	total int64
	done  int64
	shown time.Time
	out   io.Writer
	bars  *mpb.Progress
	bar   *mpb.Bar
}

func (a *app) counter(name, noun string, total int64) *progressCounter {
	c := &progressCounter{name: name, noun: noun, total: total, out: a.stderr, shown: time.Now(), bars: newBars(a.stderr)}
	if c.bars != nil && total > 0 {
		c.bar = c.bars.AddBar(total, mpb.PrependDecorators(decor.Name(name+" "), decor.CountersNoUnit("%d/%d "+noun+"s ")), mpb.AppendDecorators(decor.AverageETA(decor.ET_STYLE_GO)))
	}
	return c
}

// step counts one piece.
func (c *progressCounter) step() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done++
	if c.bar != nil {
		c.bar.Increment()
		return
	}
	if c.bars == nil && time.Since(c.shown) >= quiet {
		c.shown = time.Now()
		fmt.Fprintf(c.out, "%s: %d/%d %ss\n", c.name, c.done, c.total, c.noun)
	}
}

// finish leaves the terminal clean.
func (c *progressCounter) finish() {
	if c.bar == nil {
		return
	}
	if c.mu.Lock(); c.done < c.total { // there were fewer than it seemed
		c.bar.Abort(false)
	}
	c.mu.Unlock()
	c.bars.Wait()
}
