package cli

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"patra"
	"patra/internal/export"
)

// exportSummary is what an export says at its end.
type exportSummary struct {
	Records int64             `json:"records"`
	Bytes   int64             `json:"bytes"`
	Seconds float64           `json:"seconds"`
	Format  string            `json:"format"`
	Out     string            `json:"out"`
	Files   []export.Part     `json:"files"`
	Before  int64             `json:"records_before,omitempty"` // of these, written by an export that was gone on with
	Cursor  string            `json:"cursor,omitempty"`
	Haul    *exportWindowView `json:"haul,omitempty"`
}

// exportWindowView is a stretch of changes for people: the first one has no beginning.
type exportWindowView struct {
	From *patra.Instant `json:"from,omitempty"`
	To   patra.Instant  `json:"to"`
}

func tellHaul(h *patra.ExportWindow) *exportWindowView {
	switch {
	case h == nil:
		return nil
	case h.From < 0:
		return &exportWindowView{To: h.To}
	}
	return &exportWindowView{&h.From, h.To}
}

func (e *exportRun) report() error {
	r := e.sink.Result()
	sum := exportSummary{Records: r.Records, Bytes: r.Bytes, Seconds: time.Since(e.began).Seconds(), Format: e.job.Form.Format, Out: e.flags.out, Files: r.Files, Before: e.before, Cursor: e.job.Cursor, Haul: tellHaul(e.job.Haul)}
	if sum.Files == nil {
		sum.Files = []export.Part{}
	}
	if e.flags.print == "table" {
		_, err := io.WriteString(e.a.stderr, sum.text(e.folder))
		return err
	}
	w := e.a.stdout
	if e.stream { // that is where the records are
		w = e.a.stderr
	}
	return printValue(w, e.flags.print, sum)
}

func (s exportSummary) text(folder bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Exported %s%s in %.1f s", plural(s.Records, "record"), sizeText(s.Bytes), s.Seconds)
	switch {
	case folder:
		fmt.Fprintf(&b, " to %s: %s and %s", s.Out, plural(int64(len(s.Files)), "part"), filepath.Join(s.Out, "_manifest.json"))
	case s.Out != "-":
		fmt.Fprintf(&b, " to %s", s.Out)
	}
	b.WriteString(".\n")
	if s.Before > 0 {
		fmt.Fprintf(&b, "%s of these were there from before.\n", thousands(s.Before))
	}
	if s.Haul != nil {
		fmt.Fprintf(&b, "Export %s has everything that changed until %s.\nWhat changed in the last two minutes comes with the next one.\n", s.Cursor, seconds(s.Haul.To))
	}
	return b.String()
}

// exportBar shows how far an export is: a bar in a terminal, a line now and then elsewhere.
type exportBar struct {
	out         io.Writer
	bars        *mpb.Progress
	bar         *mpb.Bar
	done, total int64
	shown       time.Time
}

func (a *app) exportBar(before, expected int64) *exportBar {
	b := &exportBar{out: a.stderr, bars: newBars(a.stderr), done: before, total: max(expected, before), shown: time.Now()}
	if b.bars != nil && b.total > 0 {
		b.bar = b.bars.AddBar(0, mpb.PrependDecorators(decor.Name("export "), decor.CountersNoUnit("%d of about %d records ")),
			mpb.AppendDecorators(decor.AverageETA(decor.ET_STYLE_GO)))
		b.bar.SetTotal(b.total, false)
		b.bar.SetCurrent(before)
	}
	return b
}

// barStep is how many records go by before the bar moves: looking at the clock costs more than a record.
const barStep = 256

func (b *exportBar) add() {
	if b.done++; b.done%barStep != 0 {
		return
	}
	if b.bar != nil {
		b.bar.SetCurrent(b.done)
		return
	}
	if time.Since(b.shown) >= quiet {
		b.shown = time.Now()
		fmt.Fprintf(b.out, "export: %s of about %s records\n", thousands(b.done), thousands(b.total))
	}
}

func (b *exportBar) finish() {
	if b.bar != nil {
		b.bar.Abort(true)
		b.bars.Wait()
	}
}
