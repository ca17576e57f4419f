package sim

import (
	"fmt"
	"iter"
	"time"
)

// Provider is one provider's view of the world, for those who want to know what a complete harvest of it contains.
type Provider struct {
	world  *World
	grain  time.Duration            // what the provider's dates are known to
	grains map[string]time.Duration // the same for each field, where they differ; may be nil
	micros func(*subject) int64     // what the dates have below the millisecond; may be nil
	fields map[string]*dateField
	forms  map[string]func(*subject) []byte
	by     *dateField
	form   func(*subject) []byte
	name   func(*subject, *Record) // fills in the id and what else sets the record apart
}

// Record is a paper exactly as one provider serves it.
type Record struct {
	ID      string
	Source  string    // the other half of the id at Europe PMC: MED, PMC or PPR; empty elsewhere
	At      time.Time // the date that the filter goes by, as exactly as the provider knows it, UTC
	Deleted bool      // OAI-PMH: a header without metadata
	Foreign bool      // DataCite: registered with another agency, left out when the client asks for that
	Bytes   []byte    // the item as served

	Poisoned bool // the date in the text is none, and At what the provider knows
}

// By gives the same provider with another of its date fields; it panics if there is no such field.
func (p *Provider) By(field string) *Provider {
	q := *p
	if q.by = p.fields[field]; q.by == nil {
		panic(fmt.Sprintf("sim: no date field %q", field))
	}
	if grain, ok := p.grains[field]; ok {
		q.grain = grain
	}
	return &q
}

// As gives the same provider with another form of its items; it panics if there is no such form.
func (p *Provider) As(form string) *Provider {
	q := *p
	if q.form = p.forms[form]; q.form == nil {
		panic(fmt.Sprintf("sim: no form %q", form))
	}
	return &q
}

// Truth gives every record whose date lies in [from, to), both cut to what the provider's dates are known to. They
// come in ascending order of indexing, which is the order of the date unless another field was chosen.
func (p *Provider) Truth(from, to time.Time) iter.Seq[Record] {
	return func(yield func(Record) bool) {
		for k := p.walk(from, to); ; {
			s, ok := k.next()
			if !ok || !yield(p.record(&subject{world: k.world, sketch: s})) {
				return
			}
		}
	}
}

// Count is the number of records of [from, to).
func (p *Provider) Count(from, to time.Time) int { return p.walk(from, to).total() }

func (p *Provider) walk(from, to time.Time) walk {
	return walkOf(p.world.present(), dated{p.by, from.Truncate(p.grain).UnixMilli(), to.Truncate(p.grain).UnixMilli()}, ascending)
}

func (p *Provider) record(s *subject) Record {
	at := time.UnixMilli(p.by.at(s)).UTC()
	if p.micros != nil {
		at = at.Add(time.Duration(p.micros(s)) * time.Microsecond)
	}
	r := Record{At: at.Truncate(p.grain), Bytes: p.form(s), Poisoned: s.poisoned()}
	p.name(s, &r)
	return r
}
