package main

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// The pictures carry their own colours and background, for light and for dark, so that they can be read on any page.
const pictureStyle = `<style>
.back{fill:#ffffff}.text{fill:#1f2328}.dim{fill:#59636e}.grid{stroke:#d1d9e0}.mark{stroke:#1f2328}
.us{fill:#0969da}.floor{fill:#8c959f}.part{fill:#d1d9e0}.peer{fill:#bf8700}
.line-us{stroke:#0969da}.line-floor{stroke:#8c959f}
@media (prefers-color-scheme: dark){
.back{fill:#0d1117}.text{fill:#f0f6fc}.dim{fill:#9198a1}.grid{stroke:#3d444d}.mark{stroke:#f0f6fc}
.us{fill:#4493f8}.floor{fill:#656c76}.part{fill:#3d444d}.peer{fill:#d29922}
.line-us{stroke:#4493f8}.line-floor{stroke:#9198a1}
}
text{font:13px system-ui,sans-serif}.title{font-weight:600;font-size:14px}.num{font-variant-numeric:tabular-nums}
</style>
`

// sheet is a picture in the making.
type sheet struct {
	strings.Builder
	width, height float64
}

func newSheet(title string, width, height float64) *sheet {
	s := &sheet{width: width, height: height}
	fmt.Fprintf(s, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" role="img" aria-label="%s">`+"\n", width, height, width, height, html.EscapeString(title))
	s.WriteString(pictureStyle)
	fmt.Fprintf(s, `<rect class="back" width="%.0f" height="%.0f" rx="6"/>`+"\n", width, height)
	s.say(16, 26, "start", "text title", title)
	return s
}

func (s *sheet) say(x, y float64, anchor, class, words string) {
	fmt.Fprintf(s, `<text class="%s" x="%.1f" y="%.1f" text-anchor="%s">%s</text>`+"\n", class, x, y, anchor, html.EscapeString(words))
}

func (s *sheet) line(class string, x1, y1, x2, y2 float64) {
	fmt.Fprintf(s, `<line class="%s" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`+"\n", class, x1, y1, x2, y2)
}

func (s *sheet) end() string { return s.String() + "</svg>\n" }

// barChart is a bar for everybody, with a mark from the least to the greatest.
type barChart struct {
	title string
	bars  []bar
}

type bar struct {
	name  string
	value spread
	kind  kind
}

func (t table) bars(title string) barChart {
	c := barChart{title: title + ": " + t.task.title}
	for _, s := range t.scores {
		c.bars = append(c.bars, bar{s.contender.name, s.spread(result.perSecond), s.contender.kind})
	}
	return c
}

func (c barChart) svg() string {
	const left, right, top, step, width = 150.0, 90.0, 44.0, 28.0, 760.0
	s := newSheet(c.title, width, top+step*float64(len(c.bars))+34)
	var most float64
	for _, b := range c.bars {
		most = max(most, b.value.High)
	}
	most = max(most, 1)
	scale := (width - left - right) / most
	for i, b := range c.bars {
		y := top + step*float64(i)
		s.say(left-10, y+14, "end", "text", b.name)
		fmt.Fprintf(s, `<rect class="%s" x="%.1f" y="%.1f" width="%.1f" height="18" rx="3"/>`+"\n", b.kind, left, y, max(b.value.Mid*scale, 1))
		if b.value.High > b.value.Low {
			s.line("mark", left+b.value.Low*scale, y+9, left+b.value.High*scale, y+9)
		}
		words := grouped(int64(b.value.Mid + 0.5))
		if b.value.Rounds == 0 {
			words = "failed"
		}
		s.say(left+b.value.High*scale+8, y+14, "start", "text num", words)
	}
	x := left
	for _, k := range []struct {
		kind kind
		name string
	}{{us, "Patra"}, {floor, "the bare work"}, {part, "a part of it, nothing stored"}, {peer, "others"}} {
		fmt.Fprintf(s, `<rect class="%s" x="%.1f" y="%.1f" width="11" height="11" rx="2"/>`+"\n", k.kind, x, s.height-22)
		s.say(x+16, s.height-12, "start", "dim", k.name)
		x += 40 + 7.2*float64(len(k.name))
	}
	return s.end()
}

// lineChart is some lines over places with names.
type lineChart struct {
	title, below string
	places       []string
	lines        []chartLine
	where        []float64 // their places from 0 to 1; empty: equally far apart
	limit        float64   // a line that should not be crossed, or the ideal; 0: none
	limitName    string
}

type chartLine struct {
	name   string
	class  string
	dashed bool
	values []spread
}

func (c lineChart) svg() string {
	const left, right, top, bottom, width, height = 70.0, 150.0, 50.0, 52.0, 760.0, 320.0
	s := newSheet(c.title, width, height)
	most := c.limit
	for _, l := range c.lines {
		for _, v := range l.values {
			most = max(most, v.High)
		}
	}
	tick := nice(most / 4)
	most = math.Ceil(most/tick) * tick
	at := func(v float64) float64 { return height - bottom - v/most*(height-top-bottom) }
	place := func(i int) float64 {
		at := float64(i) / float64(max(len(c.places)-1, 1))
		if len(c.where) > 0 {
			at = c.where[i]
		}
		return left + 30 + at*(width-left-right-60)
	}
	for v := 0.0; v <= most+tick/2; v += tick {
		s.line("grid", left, at(v), width-right, at(v))
		s.say(left-8, at(v)+4, "end", "dim num", grouped(int64(v+0.5)))
	}
	for i, p := range c.places {
		s.say(place(i), height-bottom+18, "middle", "text num", p)
	}
	s.say((left+width-right)/2, height-12, "middle", "dim", c.below)
	if c.limit > 0 {
		fmt.Fprintf(s, `<line class="mark" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke-dasharray="4 4"/>`+"\n", left, at(c.limit), width-right, at(c.limit))
		s.say(width-right+8, at(c.limit)+4, "start", "dim", c.limitName)
	}
	taken := math.Inf(-1) // where the last name stands
	if c.limit > 0 {
		taken = at(c.limit) + 4
	}
	for _, l := range c.lines {
		var points []string
		for i, v := range l.values {
			points = append(points, fmt.Sprintf("%.1f,%.1f", place(i), at(v.Mid)))
		}
		dash := ""
		if l.dashed {
			dash = ` stroke-dasharray="2 5"`
		}
		fmt.Fprintf(s, `<polyline class="line-%s" fill="none" stroke-width="2.5" points="%s"%s/>`+"\n", l.class, strings.Join(points, " "), dash)
		for i, v := range l.values {
			if l.dashed {
				continue
			}
			if v.High > v.Low {
				s.line("mark", place(i), at(v.Low), place(i), at(v.High))
			}
			fmt.Fprintf(s, `<circle class="%s" cx="%.1f" cy="%.1f" r="4"/>`+"\n", l.class, place(i), at(v.Mid))
		}
		last := len(l.values) - 1
		y := at(l.values[last].Mid) + 4
		if math.Abs(y-taken) < 15 {
			y = taken + 15
		}
		taken = y
		s.say(width-right+8, y, "start", "text", l.name)
	}
	return s.end()
}

// nice is the next number of the kind that people put on an axis.
func nice(v float64) float64 {
	if v <= 0 {
		return 1
	}
	ten := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 2.5, 5} {
		if m*ten >= v {
			return m * ten
		}
	}
	return 10 * ten
}

func (rep *report) memoryLines() lineChart {
	c := lineChart{title: "Peak memory of a harvest into SQLite, in MB", below: "records", limit: 150, limitName: "limit, 150 MB"}
	ours, bare := chartLine{name: "Patra", class: "us"}, chartLine{name: "the bare work", class: "floor"}
	for _, t := range rep.sizes {
		c.places = append(c.places, grouped(int64(t.world.records())))
		ours.values = append(ours.values, t.named("Patra, SQLite").spread(result.megabytes))
		bare.values = append(bare.values, t.named("floor, SQLite").spread(result.megabytes))
	}
	c.lines = []chartLine{bare, ours}
	return c
}

func (rep *report) scalingLines() lineChart {
	c := lineChart{title: "Records a second against a provider that is limited per client", below: "executors"}
	ours, ideal := chartLine{name: "Patra", class: "us"}, chartLine{name: "each as fast as one", class: "floor", dashed: true}
	one := spreadOf(rep.scaled[0].rates...).Mid
	for _, s := range rep.scaled {
		c.places = append(c.places, fmt.Sprint(s.executors))
		c.where = append(c.where, float64(s.executors-1)/float64(max(rep.scaled[len(rep.scaled)-1].executors-1, 1)))
		ours.values = append(ours.values, spreadOf(s.rates...))
		ideal.values = append(ideal.values, spreadOf(one*float64(s.executors)))
	}
	c.lines = []chartLine{ideal, ours}
	return c
}
