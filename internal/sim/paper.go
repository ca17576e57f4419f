package sim

import (
	"strconv"
	"strings"
)

// Paper is one publication of the world, in no provider's format. Times are Unix milliseconds.
type Paper struct {
	DOI       string
	Kind      string
	Title     string
	Authors   []Author
	Abstract  string // plain text; empty for about half of the papers
	Language  string
	Licence   string // empty for many
	Volume    int
	Issue     int
	FirstPage int
	LastPage  int
	Issued    []int // year, or year and month, or all three: publishers differ
	Refs      int
	CitedBy   int
	Indexed   int64
	Deposited int64
	Created   int64
	journal   *journal
	poisoned  bool // no provider has its date
}

// Author is a person on a paper.
type Author struct {
	Given, Family string
	ORCID         string // 0000-0009-..., without the address before it; empty for most
	Affiliations  []string
}

// paper writes out the whole of what a sketch began. It is deposited moments before it is indexed and within its own
// slot, which is what makes an order by deposit time an order by index time, and their days the same.
func (w *World) paper(s sketch) Paper {
	p, d := w.names(&s), &s.dice
	p.journal = drawJournal(d)
	p.Deposited = max(s.indexed-int64(d.n(900)), s.slot)
	if s.version > 0 {
		p.Deposited = s.changed
	}
	p.poisoned = w.poisoned(&s)
	p.DOI = w.drawDOI(&s, p.journal)
	if d.percent(55) {
		p.Abstract = drawAbstract(d)
	}
	if w.huge && s.n == hugePlace && s.day%2 == 0 {
		p.Abstract = hugeAbstract
	}
	p.Language = d.pick(languages)
	if d.percent(45) {
		p.Licence = d.pick(licences)
	}
	p.Volume, p.Issue = 1+d.n(80), 1+d.n(12)
	p.FirstPage = 1 + d.n(1800)
	p.LastPage = p.FirstPage + d.n(30)
	p.Issued = drawIssued(d, s.created)
	p.Refs, p.CitedBy = d.n(90), d.n(40)*d.n(10)
	return p
}

// names writes only what a search looks at: the title and the people.
func (w *World) names(s *sketch) Paper {
	p := Paper{
		Kind: s.kind, Indexed: s.changed, Created: s.created,
		Title: drawTitle(&s.dice), Authors: drawAuthors(&s.dice),
	}
	if s.version > 0 {
		p.Title += " (revised)"
	}
	return p
}

func drawTitle(d *dice) string {
	var b strings.Builder
	b.Grow(160)
	objects := things
	if d.percent(12) {
		objects = marked
	}
	join(&b, d.pick(adjectives), " ", d.pick(nouns), " of ", d.pick(objects), " in ", d.pick(settings))
	switch d.n(4) {
	case 0:
		join(&b, ": ", d.pick(methods))
	case 1:
		join(&b, " and its relation to ", d.pick(nouns), ": ", d.pick(methods))
	case 2:
		join(&b, "? A reply to “", d.pick(adjectives), " ", d.pick(nouns), "”")
	}
	return b.String()
}

func join(b *strings.Builder, parts ...string) {
	for _, p := range parts {
		b.WriteString(p)
	}
}

func drawAuthors(d *dice) []Author {
	people := make([]Author, 1+min(d.n(6), d.n(9)))
	for i := range people {
		a := Author{Given: d.pick(given), Family: d.pick(family)}
		if d.percent(30) {
			a.Given += " " + string(rune('A'+d.n(26))) + "."
		}
		if d.percent(25) {
			a.ORCID = drawORCID(d)
		}
		for range d.n(3) {
			a.Affiliations = append(a.Affiliations, d.pick(affiliations))
		}
		people[i] = a
	}
	return people
}

// drawORCID stays in a block (0000-0009-5...) far above what the registry hands out, so that it names nobody, and
// carries the right check digit (ISO 7064, 11-2).
func drawORCID(d *dice) string {
	digits := "000000095" + strconv.Itoa(100_000+d.n(900_000))
	total := 0
	for _, c := range digits {
		total = (total + int(c-'0')) * 2
	}
	digits += string("0123456789X"[(12-total%11)%11])
	return digits[:4] + "-" + digits[4:8] + "-" + digits[8:12] + "-" + digits[12:]
}

func drawAbstract(d *dice) string {
	var b strings.Builder
	b.Grow(1500)
	for i := range 4 + d.n(6) {
		if i > 0 {
			b.WriteByte(' ')
		}
		join(&b, d.pick(openings), " ", d.pick(nouns), " of ", d.pick(things), " in ", d.pick(settings), " ",
			d.pick(middles), " (n = ", strconv.Itoa(8+d.n(90)), ") ", d.pick(endings), ".")
	}
	return b.String()
}

// drawIssued puts the publication some weeks around the day the paper became known.
func drawIssued(d *dice, created int64) []int {
	at := dayOfMS(created + int64(d.n(120)-90)*msPerDay).time()
	parts := []int{at.Year(), int(at.Month()), at.Day()}
	switch r := d.n(10); {
	case r == 0:
		return parts[:1]
	case r < 4:
		return parts[:2]
	}
	return parts
}
