package source

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"patra"
)

func (c *checker) window(at string, e Endpoint, f *File) {
	w := e.Window
	c.oneOf(at+".strategy", string(cmp.Or(w.Strategy, patra.StrategyTime)), windowStrategies...)
	c.oneOf(at+".mode", string(w.Mode), string(patra.ModeCalendar), string(patra.ModeSliding))
	var units []string
	for _, u := range patra.Units {
		units = append(units, string(u))
	}
	if w.filters() || w.Precision != "" {
		c.oneOf(at+".precision", string(w.Precision), append(slices.Clone(units), discovered)...)
	}
	if w.Mode == patra.ModeCalendar {
		c.oneOf(at+".align", string(w.Align), units...)
	}
	c.oneOf(at+".order", cmp.Or(w.Order, "NONE"), "ASC", "DESC", "NONE")
	if w.filters() || w.Upper != "" {
		c.oneOf(at+".upper", w.Upper, "INCLUSIVE_DAY", "INCLUSIVE_SECOND", "EXCLUSIVE", discovered)
	}
	c.discover(at, e)
	c.lengths(at, w)
	c.windowField(at, w, f)
	if !w.filters() && e.Pagination.Type == pageTime {
		c.add(at+".strategy", "CONFLICT", "a walk by TIME moves the beginning of the window, and this source has no filter for it", "write another pagination.type")
	}
	if w.OtherDate && e.Pagination.Type == pageTime {
		c.add(at+".otherDate", "CONFLICT", "a walk by TIME goes on from updatedAt, which must be the date that the window is about", "write another pagination.type")
	}
	if w.Split != nil {
		c.split(at+".split", w, f)
	}
}

// discover checks what is needed to find out how a provider reads the ends of a window.
func (c *checker) discover(at string, e Endpoint) {
	w := e.Window
	if w.Upper != discovered {
		if w.Precision == discovered || w.Discover != nil {
			c.add(at+".upper", "CONFLICT", "what is found out begins with the upper bound", "write upper: DISCOVER, or leave out discover")
		}
		return
	}
	if w.OtherDate || len(e.Response.UpdatedAt) == 0 || e.Response.Total.Trust == patra.TrustExact {
		c.add(at+".upper", "CONFLICT", "an upper bound is found out by the times of records, by which the filter must go, where no total is exact", "write response.updatedAt and leave out otherDate, or write the upper bound itself")
	}
	if w.Precision != discovered {
		return
	}
	d := cmp.Or(w.Discover, &Discover{})
	c.required(at+".discover.precision", d.Precision)
	c.positive(at+".discover.words", len(d.Words) > 0, "the provider's words for its precision are needed, such as {YYYY-MM-DD: DAY}")
	if d.Precision != "" {
		c.path(at+".discover.precision", e.Response.Format, d.Precision)
	}
	for _, word := range slices.Sorted(maps.Keys(d.Words)) {
		c.oneOf(at+".discover.words."+word, string(d.Words[word]), string(patra.UnitSecond), string(patra.UnitMinute), string(patra.UnitHour), string(patra.UnitDay))
	}
}

// lengths checks how long slices may be.
func (c *checker) lengths(at string, w Window) {
	c.positive(at+".size", !w.Size.IsZero(), "a window needs a size such as P1D")
	c.notZero(at+".minStep", w.MinStep.IsZero())
	c.notZero(at+".maxSpan", w.MaxSpan.IsZero())
	if w.Size.IsZero() {
		return
	}
	if longer(w.MinStep, w.Size) {
		c.add(at+".minStep", "BAD_VALUE", fmt.Sprintf("minStep %s is longer than size %s", w.MinStep, w.Size), "minStep is the shortest stretch that is asked for")
	}
	if !w.MaxSpan.IsZero() && longer(w.Size, w.MaxSpan) {
		c.add(at+".maxSpan", "BAD_VALUE", fmt.Sprintf("maxSpan %s is shorter than size %s", w.MaxSpan, w.Size), "maxSpan is the longest stretch that is asked for")
	}
}

// windowField checks what the window is about. Without a filter the field is only the name of the cursor.
func (c *checker) windowField(at string, w Window, f *File) {
	if !w.filters() {
		c.required(at+".field", w.Field)
		return
	}
	if _, ok := f.Query.Fields[w.Field]; !ok {
		c.add(at+".field", "UNKNOWN_FIELD", fmt.Sprintf("field %q is not among query.fields", w.Field), "")
		return
	}
	if !ranged(f.Query, w.Field) {
		c.noRange(at+".field", w.Field)
	}
}

func (c *checker) noRange(at, field string) {
	c.add(at, "NO_RENDER_RULE", fmt.Sprintf("no rule under query.render turns a RANGE of %q into parameters", field), "")
}
