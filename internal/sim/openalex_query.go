package sim

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// alexQuery is a list request after validation.
type alexQuery struct {
	filter    string // as it was sent
	sort      string // as it was sent
	want      condition
	published span // days of publication outside of which nothing is wanted
	byDay     bool // the order is that of the days of publication
	order     order
	size      int
	number    int    // of the page, from 1; without meaning if there is a cursor
	cursor    string // as it was sent
	byCursor  bool
}

var (
	alexParams  = []string{"filter", "sort", "per_page", "per-page", "page", "cursor", "api_key", "mailto"}
	alexFilters = []string{"from_publication_date", "to_publication_date", "from_updated_date", "to_updated_date", "from_created_date"}
)

// The search engine behind the API reaches this far by page number.
const (
	alexReach   = 10_000
	alexMaxPage = 200
)

func parseAlex(c *call) (*alexQuery, *answer) {
	form := c.form
	q := &alexQuery{
		filter: form.Get("filter"), sort: form.Get("sort"), want: everything{}, published: everything{}.span(),
		size: 25, number: 1, cursor: form.Get("cursor"), byCursor: form.Has("cursor"),
	}
	for name, values := range form {
		if !slices.Contains(alexParams, name) {
			return nil, alexInvalid(name + " is not a valid parameter. Valid parameters are: " + strings.Join(alexParams, ", ") + ".")
		}
		if len(values) > 1 {
			return nil, alexInvalid(name + " may be given only once.")
		}
	}
	if bad := q.readPaging(c); bad != nil {
		return nil, bad
	}
	if bad := q.readSort(); bad != nil {
		return nil, bad
	}
	if q.filter == "" {
		return q, nil
	}
	paid := form.Get("api_key") != "" || strings.HasPrefix(c.Header.Get("Authorization"), "Bearer ")
	for pair := range strings.SplitSeq(q.filter, ",") {
		name, value, _ := strings.Cut(pair, ":")
		if bad := q.readPair(name, value, paid); bad != nil {
			return nil, bad
		}
	}
	return q, nil
}

func (q *alexQuery) readPaging(c *call) *answer {
	for _, name := range []string{"per_page", "per-page"} {
		if !c.form.Has(name) {
			continue
		}
		n, err := strconv.Atoi(c.form.Get(name))
		if err != nil || n < 1 || n > alexMaxPage {
			return alexInvalid("per_page parameter must be a number between 1 and " + itoa(alexMaxPage) + ".")
		}
		q.size = n
	}
	if !c.form.Has("page") {
		return nil
	}
	n, err := strconv.Atoi(c.form.Get("page"))
	switch {
	case q.byCursor:
		return alexInvalid("page and cursor cannot be used together.")
	case err != nil || n < 1:
		return alexInvalid("page parameter must be a number greater than 0.")
	case n > alexReach/q.size:
		return alexInvalid("Maximum results size of 10,000 records is exceeded. Cursor pagination is required for records beyond 10,000 results.")
	}
	q.number = n
	return nil
}

func (q *alexQuery) readSort() *answer {
	if q.sort == "" {
		return nil
	}
	field, direction, _ := strings.Cut(q.sort, ":")
	var known bool
	q.order, known = map[string]order{"": ascending, "asc": ascending, "desc": descending}[direction]
	if q.byDay = field == "publication_date"; !known || !q.byDay && field != "updated_date" {
		return alexInvalid("Sort " + q.sort + " is not valid. Valid fields are publication_date and updated_date, each with :asc or :desc.")
	}
	return nil
}

func (q *alexQuery) readPair(name, value string, paid bool) *answer {
	if !slices.Contains(alexFilters, name) {
		return alexInvalid(name + " is not a valid field. Valid fields are underscore versions of: " + strings.Join(alexFilters, ", ") + ".")
	}
	day, err := time.Parse(time.DateOnly, value)
	moment, isMoment := readAlexMoment(value)
	switch {
	case !strings.HasSuffix(name, "_publication_date") && !paid:
		return alexPlan(name)
	case err != nil && (!isMoment || !strings.HasSuffix(name, "_updated_date")):
		return alexInvalid("Value for param " + name + " must be a date in the format YYYY-MM-DD: " + value + ".")
	}
	switch name {
	case "from_publication_date":
		q.published.first = max(q.published.first, dayOf(day))
		q.want = both{q.want, onDays(byPublished, span{dayOf(day), farDay})}
	case "to_publication_date":
		q.published.last = min(q.published.last, dayOf(day))
		q.want = both{q.want, onDays(byPublished, span{0, dayOf(day)})}
	case "from_created_date":
		q.want = both{q.want, onDays(byCreated, span{dayOf(day), farDay})}
	case "from_updated_date":
		if !isMoment {
			moment = day
		}
		q.want = both{q.want, updated{moment.UnixMicro(), farDay.ms() * 1000}}
	case "to_updated_date":
		if !isMoment {
			moment = day.AddDate(0, 0, 1).Add(-time.Microsecond)
		}
		q.want = both{q.want, updated{0, moment.UnixMicro()}}
	}
	return nil
}

// readAlexMoment reads a time with or without a fraction and a zone; without one it is UTC.
func readAlexMoment(text string) (time.Time, bool) {
	for _, form := range []string{"2006-01-02T15:04:05", time.RFC3339} {
		if t, err := time.Parse(form, text); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// updated holds for works that were changed from one microsecond to another, both included.
type updated struct{ from, to int64 }

func (u updated) holds(s *subject) bool {
	at := alexUpdated(s)
	return u.from <= at && at <= u.to
}

func (u updated) span() span { return span{dayOf(time.UnixMicro(u.from)), dayOf(time.UnixMicro(u.to))} }

func (u updated) exact() bool { return false }
