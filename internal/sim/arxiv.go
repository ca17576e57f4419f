package sim

import (
	"net/http"
	"strings"
	"time"
)

// arxivPage is how many records come at once. The real archive sends 2,500.
const arxivPage = 200

// arxivArchive is arXiv. It shares its real path with another archive, so only requests that concern its own format are
// its: it has no Identify, ListMetadataFormats and ListSets here.
var arxivArchive = archive{path: oaiPath, days: true, asError: http.StatusOK, order: ascending}

const arxivPrefix = "arXiv"

// arxivFirst is the first day that may be asked for.
var arxivFirst = dayOf(time.Date(2005, 9, 16, 0, 0, 0, 0, time.UTC))

// forArXiv tells whether a request is for arXiv: by the format it names, or by a token that only arXiv makes.
func forArXiv(c *call) bool {
	token := c.form.Get("resumptionToken")
	return strings.TrimSuffix(c.URL.Path, "/") == oaiPath &&
		(c.form.Get("metadataPrefix") == arxivPrefix || strings.HasPrefix(token, "verb%3D") || strings.HasPrefix(token, "verb="))
}

// arxivRequest is a request to arXiv. It differs from the other archives in its dates, which are days, in its tokens,
// which live until midnight and say nothing of the size of the list, and in how it ends: a last page has no token.
type arxivRequest struct {
	oaiRequest
	rows int
}

// arxivList is a list and a place in it.
type arxivList struct {
	from, until string // days as they were asked for, or empty
	set         string
	day, n      int // of the walk
}

func (q *arxivRequest) answer() answer {
	verb, err := q.check()
	switch {
	case err != nil:
		return q.failed(err, false)
	case verb == "GetRecord":
		return q.getRecord()
	}
	form := q.call.form
	l := arxivList{from: form.Get("from"), until: form.Get("until"), set: form.Get("set")}
	if form.Has("resumptionToken") {
		if q.call.fate == faultExpire {
			a := q.failed(errToken, true)
			a.fault = faultExpire
			return a
		}
		var ok bool
		if l, ok = q.readToken(verb, form.Get("resumptionToken")); !ok {
			return q.failed(errToken, true)
		}
	}
	when, err := q.window(l)
	if err != nil {
		return q.failed(err, false)
	}
	k := walkOf(q.world, both{when, inArXivSet(l.set)}, q.order)
	if q.call.form.Has("resumptionToken") {
		k.resume(l.day, l.n)
	}
	return q.page(verb, l, &k)
}

// window reads the days of a list, both included.
func (q *arxivRequest) window(l arxivList) (condition, *oaiError) {
	days := span{arxivFirst, farDay}
	for _, end := range []struct {
		name, text string
		into       *day
	}{{"from", l.from, &days.first}, {"until", l.until, &days.last}} {
		if end.text == "" {
			continue
		}
		t, err := time.Parse(time.DateOnly, end.text)
		if err != nil {
			return nil, badArgument("The " + end.name + " argument is no date of the form " + q.granularity())
		}
		*end.into = dayOf(t)
	}
	switch {
	case days.first < arxivFirst:
		return nil, badArgument("start date too early")
	case l.until != "" && days.last > dayOf(q.call.now)+1:
		return nil, badArgument("until date too late")
	case days.empty():
		return nil, badArgument("from lies after until")
	}
	return onDays(byChanged, days), nil
}

// page serves the next records and says where the rest are.
func (q *arxivRequest) page(verb string, l arxivList, k *walk) answer {
	rows := q.rows
	if verb == "ListIdentifiers" {
		rows *= 8
	}
	var found []sketch
	for len(found) < rows {
		s, ok := k.next()
		if !ok {
			break
		}
		found = append(found, s)
	}
	if len(found) == 0 {
		return q.failed(&oaiError{"noRecordsMatch", "The combination of arguments gives an empty list"}, true)
	}
	l.day, l.n = k.day, k.n
	ahead := *k
	_, more := ahead.next()
	a := q.document(http.StatusOK, true, func(x *xmlText) {
		x.within(verb, func() {
			for _, sk := range found {
				s := &subject{world: q.world, sketch: sk}
				if verb == "ListRecords" {
					writeArXivRecord(x, s)
				} else {
					writeArXivHeader(x, s)
				}
			}
			if more {
				expires := q.expires()
				x.leaf("resumptionToken"+attribute("expirationDate", secondText(expires.UnixMilli())), q.token(verb, l, expires.Unix()))
			}
		})
	})
	a.list, a.items = true, len(found)
	return a
}

func (q *arxivRequest) getRecord() answer {
	s, ok := q.find(q.call.form.Get("identifier"))
	if !ok {
		return q.failed(&oaiError{"idDoesNotExist", "No matching identifier"}, true)
	}
	a := q.document(http.StatusOK, true, func(x *xmlText) {
		x.within("GetRecord", func() { writeArXivRecord(x, s) })
	})
	a.items = 1
	return a
}
