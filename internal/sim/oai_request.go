package sim

import (
	"net/http"
	"slices"
	"time"
)

// oaiRequest is one request to an archive.
type oaiRequest struct {
	archive
	world *World
	call  *call
	ttl   time.Duration
}

// oaiError is an error of the protocol.
type oaiError struct{ code, message string }

func badArgument(message string) *oaiError { return &oaiError{"badArgument", message} }

// arguments are those a verb must have and may have. A resumption token stands alone.
type arguments struct{ required, optional []string }

var oaiVerbs = map[string]arguments{
	"Identify":            {},
	"ListMetadataFormats": {nil, []string{"identifier"}},
	"ListSets":            {nil, []string{"resumptionToken"}},
	"ListIdentifiers":     {[]string{"metadataPrefix"}, []string{"from", "until", "set", "resumptionToken"}},
	"ListRecords":         {[]string{"metadataPrefix"}, []string{"from", "until", "set", "resumptionToken"}},
	"GetRecord":           {[]string{"identifier", "metadataPrefix"}, nil},
}

func (q *oaiRequest) answer() answer {
	verb, err := q.check()
	if err != nil {
		return q.failed(err, false)
	}
	switch verb {
	case "Identify":
		return q.identify()
	case "ListMetadataFormats":
		return q.formats()
	case "ListSets":
		return q.sets()
	case "GetRecord":
		return q.getRecord()
	}
	return q.list(verb)
}

// check looks at the arguments before their meaning.
func (q *oaiRequest) check() (verb string, err *oaiError) {
	form := q.call.form
	args, ok := oaiVerbs[form.Get("verb")]
	if !ok || len(form["verb"]) > 1 {
		return "", &oaiError{"badVerb", "Illegal OAI verb"}
	}
	for name, values := range form {
		if name != "verb" && !slices.Contains(args.required, name) && !slices.Contains(args.optional, name) {
			return "", badArgument("The argument " + name + " is illegal")
		}
		if len(values) > 1 {
			return "", badArgument("The argument " + name + " is repeated")
		}
	}
	if form.Has("resumptionToken") {
		if len(form) > 2 {
			return "", badArgument("The argument resumptionToken is exclusive")
		}
		return form.Get("verb"), nil
	}
	for _, name := range args.required {
		if form.Get(name) == "" {
			return "", badArgument("The argument " + name + " is missing")
		}
	}
	return form.Get("verb"), nil
}

// document writes an answer. The request is echoed with its arguments unless they made no sense.
func (q *oaiRequest) document(status int, echo bool, fill func(x *xmlText)) answer {
	x := &xmlText{}
	x.raw(`<?xml version="1.0" encoding="UTF-8"?><OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/" ` +
		`xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://www.openarchives.org/OAI/2.0/ ` +
		`http://www.openarchives.org/OAI/2.0/OAI-PMH.xsd">`)
	x.leaf("responseDate", secondText(q.call.now.UnixMilli()))
	request := "request"
	for _, name := range []string{"verb", "metadataPrefix", "from", "until", "set", "identifier", "resumptionToken"} {
		if echo && q.call.form.Has(name) {
			request += attribute(name, q.call.form.Get(name))
		}
	}
	x.leaf(request, q.call.address(q.path))
	fill(x)
	x.close("OAI-PMH")
	return newAnswer(status, "text/xml;charset=UTF-8", x.b)
}

// failed gives an OAI error. That nothing matches is an empty list by another name.
func (q *oaiRequest) failed(err *oaiError, echo bool) answer {
	a := q.document(q.asError, echo, func(x *xmlText) { x.leaf("error"+attribute("code", err.code), err.message) })
	a.list = err.code == "noRecordsMatch"
	a.refused = !a.list
	return a
}

func (q *oaiRequest) identify() answer {
	return q.document(http.StatusOK, true, func(x *xmlText) {
		x.within("Identify", func() {
			x.leaf("repositoryName", "A simulated archive")
			x.leaf("baseURL", q.call.address(q.path))
			x.leaf("protocolVersion", "2.0")
			x.leaf("adminEmail", "archive@sim.example")
			x.leaf("earliestDatestamp", q.stamp(q.world.first.ms()))
			x.leaf("deletedRecord", "persistent")
			x.leaf("granularity", q.granularity())
		})
	})
}

func (q *oaiRequest) formats() answer {
	if id := q.call.form.Get("identifier"); q.call.form.Has("identifier") {
		if _, ok := q.find(id); !ok {
			return q.failed(&oaiError{"idDoesNotExist", "No matching identifier"}, true)
		}
	}
	return q.document(http.StatusOK, true, func(x *xmlText) {
		x.within("ListMetadataFormats", func() {
			x.within("metadataFormat", func() {
				x.leaf("metadataPrefix", "oai_dc")
				x.leaf("schema", "http://www.openarchives.org/OAI/2.0/oai_dc.xsd")
				x.leaf("metadataNamespace", "http://www.openarchives.org/OAI/2.0/oai_dc/")
			})
		})
	})
}

func (q *oaiRequest) sets() answer {
	if q.call.form.Has("resumptionToken") {
		return q.failed(&oaiError{"badResumptionToken", "The list of sets has no tokens"}, true)
	}
	return q.document(http.StatusOK, true, func(x *xmlText) {
		x.within("ListSets", func() {
			writeSet(x, allKinds, "Works of every type")
			for _, k := range kindShares {
				writeSet(x, allKinds+":"+k.name, "Works of the type "+k.name)
			}
		})
	})
}

func writeSet(x *xmlText, spec, name string) {
	x.within("set", func() {
		x.leaf("setSpec", spec)
		x.leaf("setName", name)
	})
}

func (q *oaiRequest) getRecord() answer {
	s, ok := q.find(q.call.form.Get("identifier"))
	switch {
	case !ok:
		return q.failed(&oaiError{"idDoesNotExist", "No matching identifier"}, true)
	case q.call.form.Get("metadataPrefix") != "oai_dc":
		return q.failed(errFormat, true)
	}
	a := q.document(http.StatusOK, true, func(x *xmlText) {
		x.within("GetRecord", func() { writeOAIRecord(x, &q.archive, s) })
	})
	a.items = 1
	return a
}

var errFormat = &oaiError{"cannotDisseminateFormat", "The only format is oai_dc"}
