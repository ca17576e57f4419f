package sim

import (
	"strings"
	"time"
)

// allKinds is the set that holds every type's set.
const allKinds = "type"

const oaiNames = "oai:sim.example:"

// OAI is the world as the archives at /oai and /oai/422 serve it, by datestamp. Forms: record (it begins with that) and
// header.
func (s *Server) OAI() *Provider { return s.oaiProvider(&archives[0]) }

// OAIDay is the world as the archive at /oai/day serves it: the same records with days for datestamps.
func (s *Server) OAIDay() *Provider { return s.oaiProvider(&archives[1]) }

func (s *Server) oaiProvider(a *archive) *Provider {
	p := &Provider{
		world: s.world, grain: time.Second, by: byChanged, fields: map[string]*dateField{"datestamp": byChanged},
		name: func(s *subject, r *Record) { r.ID, r.Deleted = oaiID(s), deleted(s) },
		forms: map[string]func(*subject) []byte{
			"record": func(s *subject) []byte {
				x := &xmlText{}
				writeOAIRecord(x, a, s)
				return x.b
			},
			"header": func(s *subject) []byte {
				x := &xmlText{}
				writeOAIHeader(x, a, s)
				return x.b
			},
		},
	}
	if a.days {
		p.grain = 24 * time.Hour
	}
	return p.As("record")
}

func oaiID(s *subject) string { return oaiNames + s.code() }

// deleted tells whether a record is only the memory of one.
func deleted(s *subject) bool { return s.percent(0xde1e, 6) }

// find gives the record of an identifier.
func (q *oaiRequest) find(id string) (*subject, bool) {
	code, ours := strings.CutPrefix(id, oaiNames)
	sk, ok := q.world.decode(code)
	s := &subject{world: q.world, sketch: sk}
	return s, ours && ok && s.code() == code
}

func writeOAIHeader(x *xmlText, a *archive, s *subject) {
	header := "header"
	if deleted(s) {
		header += attribute("status", "deleted")
	}
	x.within(header, func() {
		x.leaf("identifier", oaiID(s))
		if s.poisoned() {
			x.leaf("datestamp", badSecond)
		} else {
			x.leaf("datestamp", a.stamp(byChanged.at(s)))
		}
		x.leaf("setSpec", allKinds+":"+s.sketch.kind)
	})
}

func writeOAIRecord(x *xmlText, a *archive, s *subject) {
	x.within("record", func() {
		writeOAIHeader(x, a, s)
		if !deleted(s) {
			x.within("metadata", func() { writeDublinCore(x, s) })
		}
	})
}

func writeDublinCore(x *xmlText, s *subject) {
	p := s.paper()
	x.within(`oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/" xmlns:dc="http://purl.org/dc/elements/1.1/" `+
		`xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://www.openarchives.org/OAI/2.0/oai_dc/ `+
		`http://www.openarchives.org/OAI/2.0/oai_dc.xsd"`, func() {
		x.leaf("dc:title", p.Title)
		for _, a := range p.Authors {
			x.leaf("dc:creator", a.Family+", "+a.Given)
		}
		for _, subject := range p.journal.subjects {
			x.leaf("dc:subject", subject)
		}
		if p.Abstract != "" {
			x.leaf("dc:description", p.Abstract)
		}
		x.leaf("dc:publisher", p.journal.publisher)
		x.leaf("dc:date", dateText(byPublished.at(s)))
		x.leaf("dc:type", p.Kind)
		x.leaf("dc:identifier", "https://doi.org/"+p.DOI)
		x.leaf("dc:language", p.Language)
		x.leaf("dc:source", p.journal.title+"; "+itoa(p.Volume)+"; "+p.pages())
		if p.Licence != "" {
			x.leaf("dc:rights", p.Licence)
		}
	})
}
