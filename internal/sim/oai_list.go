package sim

import (
	"net/http"
	"strings"
	"time"
)

// oaiList is a list of an archive and a place in it.
type oaiList struct {
	from, to int64 // the datestamps are in [from, to), Unix milliseconds
	set      string
	day, n   int // of the walk
	sent     int
	total    int
}

// The first page is shorter than the others, as at an archive whose pages are filled before rights are looked at.
const (
	oaiFirstPage = 54
	oaiPage      = 100
	oaiHeaders   = 1000 // headers are small, and a page has more of them
)

func (q *oaiRequest) list(verb string) answer {
	l, err := q.begin(verb)
	if err != nil {
		return q.failed(err, err.code != "badArgument")
	}
	if q.call.form.Has("resumptionToken") && q.call.fate == faultExpire {
		a := q.failed(errToken, true)
		a.fault = faultExpire
		return a
	}
	k := walkOf(q.world, l.condition(), q.order)
	if q.call.form.Has("resumptionToken") {
		k.resume(l.day, l.n)
	} else {
		l.total = k.total()
	}
	if l.total == 0 {
		return q.failed(&oaiError{"noRecordsMatch", "The combination of arguments gives an empty list"}, true)
	}
	return q.page(verb, l, &k)
}

// begin reads where a list begins, or from its token where it goes on.
func (q *oaiRequest) begin(verb string) (oaiList, *oaiError) {
	form := q.call.form
	if form.Has("resumptionToken") {
		return q.readToken(verb, form.Get("resumptionToken"))
	}
	if form.Get("metadataPrefix") != "oai_dc" {
		return oaiList{}, errFormat
	}
	all := onDays(byIndexed, everything{}.span())
	l := oaiList{from: all.from, to: all.to, set: form.Get("set")}
	from, until := form.Get("from"), form.Get("until")
	if from != "" && until != "" && len(from) != len(until) {
		return l, badArgument("from and until differ in granularity")
	}
	forms := []string{time.DateOnly, "2006-01-02T15:04:05Z"}
	if q.days {
		forms = forms[:1]
	}
	if form.Has("from") {
		first, _, err := readMoment(from, forms)
		if err != nil {
			return l, badArgument("The from argument is no date of the form " + q.granularity())
		}
		l.from = first
	}
	if form.Has("until") {
		_, next, err := readMoment(until, forms)
		if err != nil {
			return l, badArgument("The until argument is no date of the form " + q.granularity())
		}
		l.to = next
	}
	if l.from >= l.to {
		return l, badArgument("from lies after until")
	}
	return l, nil
}

func (l *oaiList) condition() condition {
	when := dated{byChanged, l.from, l.to}
	kind, one := strings.CutPrefix(l.set, allKinds+":")
	switch {
	case l.set == "" || l.set == allKinds:
		return when
	case one:
		return both{when, test(func(s *subject) bool { return s.sketch.kind == kind })}
	}
	return nothing{}
}

// page serves the next records and says where the rest are.
func (q *oaiRequest) page(verb string, l oaiList, k *walk) answer {
	rows := oaiPage
	switch {
	case verb == "ListIdentifiers":
		rows = oaiHeaders
	case l.sent == 0:
		rows = oaiFirstPage
	}
	before, taken := l.sent, []sketch(nil)
	if l.sent == l.total || !q.call.emptied("") { // an empty page has a token, and what it left out is on the next
		taken = k.take(min(q.call.rows(rows), l.total-l.sent))
	}
	l.sent, l.day, l.n = l.sent+len(taken), k.day, k.n
	if q.call.doubled(len(taken), "") {
		taken = append(taken, taken[0])
	}
	taken = q.call.outdated(taken)
	a := q.document(http.StatusOK, true, func(x *xmlText) {
		x.within(verb, func() {
			for _, sk := range taken {
				s := &subject{world: k.world, sketch: sk}
				if verb == "ListRecords" {
					writeOAIRecord(x, &q.archive, s)
				} else {
					writeOAIHeader(x, &q.archive, s)
				}
			}
			q.writeToken(x, verb, l, before)
		})
	})
	a.list, a.items = true, len(taken)
	return a
}
