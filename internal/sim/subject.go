package sim

import (
	"strconv"
	"strings"
)

// subject is a paper under examination. Its text is written only when somebody looks at it.
type subject struct {
	world  *World
	sketch sketch
	text   *Paper
}

func (s *subject) paper() *Paper {
	if s.text == nil {
		p := s.world.paper(s.sketch)
		s.text = &p
	}
	return s.text
}

// draw gives a number that belongs to this paper and this salt. It takes nothing from the paper's dice, so that a new
// provider leaves every other one's bytes as they were.
func (s *subject) draw(salt uint64) uint64 {
	return mix(s.world.seed ^ mix(salt) ^ mix(uint64(s.sketch.day)<<32|uint64(s.sketch.n)))
}

func (s *subject) percent(salt uint64, p uint64) bool { return s.draw(salt)%100 < p }

func (s *subject) pmid() int64 { return s.world.pmid(s.sketch.day, s.sketch.n) }

func (s *subject) pmidText() string { return strconv.FormatInt(s.pmid(), 10) }

// pmcid is empty for papers without a free full text.
func (s *subject) pmcid() string {
	if s.paper().Licence == "" {
		return ""
	}
	return "PMC" + strconv.FormatInt(7_000_000+s.pmid(), 10)
}

func (s *subject) code() string { return s.world.code(s.sketch.day, s.sketch.n) }

// headings are the paper's subject headings.
func (s *subject) headings() []string {
	list := []string{"Humans", "Animals", "Seasons", "Reproducibility of Results"}
	return append(s.paper().journal.subjects[:2:2], list[s.draw(0x4ead)%4])
}

// initials are the first letters of the given names.
func (a *Author) initials() string {
	var b strings.Builder
	for part := range strings.FieldsSeq(a.Given) {
		for _, c := range part {
			b.WriteRune(c)
			break
		}
	}
	return b.String()
}

// byline is the name as biomedical indexes write it: Baptista JA.
func (a *Author) byline() string { return a.Family + " " + a.initials() }

// year is that of publication.
func (p *Paper) year() string { return strconv.Itoa(p.Issued[0]) }

func (p *Paper) pages() string { return strconv.Itoa(p.FirstPage) + "-" + strconv.Itoa(p.LastPage) }
