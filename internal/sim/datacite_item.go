package sim

import "time"

// DataCite is the world as DataCite serves it. Fields: updated and created; the form is that of a list and of a single
// DOI. Records of other agencies are Foreign.
func (s *Server) DataCite() *Provider {
	p := &Provider{
		world: s.world, grain: time.Second, by: byChanged,
		fields: map[string]*dateField{"updated": byChanged, "created": byCreated},
		name:   func(s *subject, r *Record) { r.ID, r.Foreign = s.paper().DOI, foreign(s) },
		forms: map[string]func(*subject) []byte{"doi": func(s *subject) []byte {
			j := &jsonText{escape: htmlEscapes}
			writeDatacite(j, s)
			return j.b
		}},
	}
	return p.As("doi")
}

// foreign tells whether a DOI was registered with another agency and only copied.
func foreign(s *subject) bool { return s.percent(0xf04e, 8) }

func resourceType(s *subject) string {
	if s.sketch.kind == "dataset" {
		return "Dataset"
	}
	return "Text"
}

func writeDatacite(j *jsonText, s *subject) {
	p := s.paper()
	j.open('{')
	j.pair("id", p.DOI)
	j.pair("type", "dois")
	j.key("attributes")
	j.open('{')
	j.pair("doi", p.DOI)
	j.raw(`"identifiers":[]`)
	writeCreators(j, p.Authors)
	writeOne(j, "titles", "title", p.Title)
	j.pair("publisher", p.journal.publisher)
	j.raw(`"container":{}`)
	j.count("publicationYear", p.Issued[0])
	writeOne(j, "subjects", "subject", p.journal.subjects...)
	j.raw(`"contributors":[]`)
	j.key("dates")
	j.open('[')
	j.open('{')
	j.pair("date", dateText(byPublished.at(s)))
	j.pair("dateType", "Issued")
	j.b = append(j.b, '}', ']')
	j.pair("language", p.Language)
	j.key("types")
	j.open('{')
	j.pair("resourceType", p.Kind)
	j.pair("resourceTypeGeneral", resourceType(s))
	j.close('}')
	j.raw(`"relatedIdentifiers":[],"sizes":[],"formats":[],"version":null`)
	if p.Abstract == "" {
		j.raw(`"descriptions":[]`)
	} else {
		writeOne(j, "descriptions", "description", p.Abstract)
	}
	j.pair("url", "https://"+p.journal.short+".example/article/"+s.code())
	agency := "datacite"
	if foreign(s) {
		agency = "crossref"
	}
	j.pair("agency", agency)
	j.raw(`"schemaVersion":"http://datacite.org/schema/kernel-4","isActive":true,"state":"findable","reason":null`)
	j.count("citationCount", p.CitedBy)
	j.pair("created", secondText(byCreated.at(s)))
	j.pair("registered", secondText(byCreated.at(s)))
	j.raw(`"published":null`)
	j.pair("updated", secondText(byChanged.at(s)))
	j.close('}')
	j.raw(`"relationships":{"client":{"data":{"id":"sim.world","type":"clients"}}}`)
	j.close('}')
}

func writeCreators(j *jsonText, people []Author) {
	j.key("creators")
	j.open('[')
	for _, a := range people {
		j.open('{')
		j.pair("name", a.Family+", "+a.Given)
		j.pair("nameType", "Personal")
		j.pair("givenName", a.Given)
		j.pair("familyName", a.Family)
		writeOne(j, "affiliation", "name", a.Affiliations...)
		if a.ORCID != "" {
			writeOne(j, "nameIdentifiers", "nameIdentifier", "https://orcid.org/"+a.ORCID)
		}
		j.close('}')
	}
	j.close(']')
}

// writeOne writes a list of objects with one value each.
func writeOne(j *jsonText, list, name string, values ...string) {
	j.key(list)
	j.open('[')
	for _, v := range values {
		j.open('{')
		j.pair(name, v)
		j.close('}')
	}
	j.close(']')
}
