package sim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

const arxivNames = "oai:arXiv.org:"

// ArXiv is the world as arXiv serves it over OAI-PMH, by datestamp, which is a day. Forms: record (it begins with that)
// and header.
func (s *Server) ArXiv() *Provider {
	xml := func(write func(*xmlText, *subject)) func(*subject) []byte {
		return func(s *subject) []byte {
			x := &xmlText{}
			write(x, s)
			return x.b
		}
	}
	p := &Provider{
		world: s.world, grain: 24 * time.Hour, by: byChanged, fields: map[string]*dateField{"datestamp": byChanged},
		name:  func(s *subject, r *Record) { r.ID, r.Deleted = arxivNames+s.arxiv(), deleted(s) },
		forms: map[string]func(*subject) []byte{"record": xml(writeArXivRecord), "header": xml(writeArXivHeader)},
	}
	return p.As("record")
}

// arxiv is the paper's number: year and month, a point, and its place in the month. Every day has the same room, and
// every number the same length, so that their order is that of the papers.
func (s *subject) arxiv() string {
	at := s.sketch.day.time()
	room := s.world.pmidsPerDay()
	width := max(len(strconv.FormatInt(31*room, 10)), 5)
	return fmt.Sprintf("%s.%0*d", at.Format("0601"), width, int64(at.Day()-1)*room+int64(s.sketch.n)+1)
}

// find gives the record of an identifier. The number does not tell the century; the world does.
func (q *arxivRequest) find(id string) (*subject, bool) {
	number, ours := strings.CutPrefix(id, arxivNames)
	month, place, found := strings.Cut(number, ".")
	at, err1 := time.Parse("0601", month)
	n, err2 := strconv.ParseInt(place, 10, 64)
	if !ours || !found || err1 != nil || err2 != nil || n < 1 {
		return nil, false
	}
	room := q.world.pmidsPerDay()
	d := dayOf(at) + day(min((n-1)/room, 31))
	k := int((n - 1) % room)
	count := q.world.count(d)
	if k >= count {
		return nil, false
	}
	s := &subject{world: q.world, sketch: q.world.sketch(d, k, count)}
	return s, s.arxiv() == number
}

// arxivSubjects are the categories, each with the set that holds its papers.
var arxivSubjects = []struct{ category, set string }{
	{"hep-th", "physics:hep-th"}, {"physics.ao-ph", "physics:physics:ao-ph"}, {"astro-ph.SR", "physics:astro-ph:SR"},
	{"cond-mat.mtrl-sci", "physics:cond-mat:mtrl-sci"}, {"math.CO", "math:math:CO"}, {"cs.LG", "cs:cs:LG"},
	{"q-bio.PE", "q-bio:q-bio:PE"}, {"stat.ME", "stat:stat:ME"},
}

// arxivClasses gives the categories of a paper and their sets: one, or two.
func (s *subject) arxivClasses() (categories, sets []string) {
	first, count := s.draw(0xca7e), uint64(len(arxivSubjects))
	places := []uint64{first % count}
	if s.percent(0xca7f, 40) {
		places = append(places, (first+1+s.draw(0xca80)%(count-1))%count)
	}
	for _, i := range places {
		categories = append(categories, arxivSubjects[i].category)
		sets = append(sets, arxivSubjects[i].set)
	}
	return categories, sets
}

// inArXivSet holds for the papers of a set and of those below it.
func inArXivSet(set string) condition {
	if set == "" {
		return everything{}
	}
	return test(func(s *subject) bool {
		_, sets := s.arxivClasses()
		return slices.ContainsFunc(sets, func(own string) bool { return strings.HasPrefix(own+":", set+":") })
	})
}

func writeArXivHeader(x *xmlText, s *subject) {
	header := "header"
	if deleted(s) {
		header += attribute("status", "deleted")
	}
	x.within(header, func() {
		x.leaf("identifier", arxivNames+s.arxiv())
		x.leaf("datestamp", dateText(byChanged.at(s)))
		_, sets := s.arxivClasses()
		for _, set := range sets {
			x.leaf("setSpec", set)
		}
	})
}

func writeArXivRecord(x *xmlText, s *subject) {
	x.within("record", func() {
		writeArXivHeader(x, s)
		if !deleted(s) {
			x.within("metadata", func() { writeArXiv(x, s) })
		}
	})
}

// writeArXiv writes a paper in arXiv's own format. Not every paper has a DOI yet; every one has an abstract.
func writeArXiv(x *xmlText, s *subject) {
	p, created, changed := s.paper(), dateText(byPublished.at(s)), dateText(byChanged.at(s))
	x.within(`arXiv xmlns="http://arxiv.org/OAI/arXiv/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" `+
		`xsi:schemaLocation="http://arxiv.org/OAI/arXiv/ https://oaipmh.arxiv.org/OAI/arXiv.xsd"`, func() {
		x.leaf("id", s.arxiv())
		x.leaf("created", created)
		if changed != created {
			x.leaf("updated", changed)
		}
		x.within("authors", func() {
			for _, a := range p.Authors {
				x.within("author", func() {
					x.leaf("keyname", a.Family)
					x.leaf("forenames", a.Given)
				})
			}
		})
		x.leaf("title", p.Title)
		categories, _ := s.arxivClasses()
		x.leaf("categories", strings.Join(categories, " "))
		if s.percent(0xd01, 70) {
			x.leaf("journal-ref", p.journal.title+" "+itoa(p.Volume)+" ("+p.year()+") "+p.pages())
			x.leaf("doi", p.DOI)
		}
		licence := p.Licence
		if licence == "" {
			licence = "http://arxiv.org/licenses/nonexclusive-distrib/1.0/"
		}
		x.leaf("license", licence)
		abstract := p.Abstract
		if abstract == "" {
			abstract = p.Title + "."
		}
		x.leaf("abstract", abstract)
	})
}
