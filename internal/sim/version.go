package sim

import (
	"iter"
	"time"
)

// Version is a record as it stood for some time.
type Version struct {
	Record
	Number int       // from 1
	From   time.Time // when it became visible; zero for what was there from the beginning
	Until  time.Time // when another took its place; zero for what is there now
}

// Throughout tells whether the version was visible during the whole of a reading.
func (v *Version) Throughout(began, ended time.Time) bool {
	return !v.From.After(began) && (v.Until.IsZero() || v.Until.After(ended))
}

// Journal gives every version of every record that was visible up to now, each paper's in their order, also where the
// world does not move. What a reader of a window must have at least is what was visible throughout its reading; what a
// reader may have at most is in the journal.
func (p *Provider) Journal() iter.Seq[Version] { return p.journal((*moves).when) }

// Chronicle is the journal of a living world from its beginning to its end: what will happen is in it too.
func (p *Provider) Chronicle() iter.Seq[Version] { return p.journal((*moves).destined) }

func (p *Provider) journal(when func(*moves, int) (time.Time, bool)) iter.Seq[Version] {
	return func(yield func(Version) bool) {
		for d := p.world.first; d < p.world.end; d++ {
			for n, count := 0, p.world.count(d); n < count; n++ {
				for _, v := range p.versions(d, n, count, when) {
					if !yield(v) {
						return
					}
				}
			}
		}
	}
}

func (p *Provider) versions(d day, n, count int, when func(*moves, int) (time.Time, bool)) []Version {
	in := func(w *World) Record { return p.record(&subject{world: w, sketch: w.sketch(d, n, count)}) }
	m := p.world.moves
	if m == nil {
		return []Version{{Record: in(p.world), Number: 1}}
	}
	first := Version{Record: in(p.world.asOf(0)), Number: 1}
	entry, moves := m.of[origin{d, n}]
	if !moves {
		return []Version{first}
	}
	at, done := when(m, entry)
	switch late := m.list[entry].to == 0; {
	case late && !done:
		return nil
	case late:
		first.From = at
		return []Version{first}
	case !done:
		return []Version{first}
	}
	first.Until = at
	return []Version{first, {Record: in(p.world.asOf(entry + 1)), Number: 2, From: at}}
}
