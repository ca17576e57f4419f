package executor_test

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"patra"
	"patra/internal/gate"
	"patra/internal/sim"
	"patra/internal/source"
)

// examined is the card of a provider.
func examined(t *testing.T, spec *source.Spec, form, base string, from, to *patra.Instant) patra.Certificate {
	t.Helper()
	rows := &requests{}
	p := prober(t, rows, gate.NewLocal(), http.NotFoundHandler())
	p.Client = func(*source.Spec, string) *http.Client { return http.DefaultClient }
	exam := source.NewExam(spec, form, patra.InstantOf(time.Now()), from, to)
	if err := p.Certify(t.Context(), exam, base); err != nil {
		t.Fatal(err)
	}
	if len(rows.opened) != exam.Sent || exam.Sent > source.MaxExamRequests[form] {
		t.Errorf("%d requests have rows, %d were counted", len(rows.opened), exam.Sent)
	}
	return exam.Card(spec.Scope(base), nil)
}

// TestShippedFilesAreNotContradicted: the simulator does what the files say of its providers.
func TestShippedFilesAreNotContradicted(t *testing.T) {
	provider := sim.New(sim.Config{Seed: 9, From: from.AddDate(0, -1, 0), To: to.AddDate(0, 1, 0), PerDay: 120, Exact: true})
	server := httptest.NewServer(provider.Handler())
	t.Cleanup(server.Close)
	oai := map[string]string{"baseUrl": "https://example.org/oai"}
	for _, c := range []struct {
		code, endpoint, path string
		params               map[string]string
	}{
		{code: "crossref"}, {code: "europepmc"}, {code: "datacite"}, {code: "arxiv-oai"},
		{code: "pubmed", endpoint: "search"}, {code: "pubmed", endpoint: "created"}, {code: "pubmed", endpoint: "modified"},
		{code: "openalex", endpoint: "published", path: "/openalex"},
		{code: "oai", path: "/oai/day", params: oai}, {code: "oai", path: "/oai", params: oai}, {code: "oai", path: "/oai/422", params: oai},
	} {
		for _, form := range []string{patra.CertificateFull, patra.CertificateShort} {
			t.Run(c.code+c.endpoint+c.path+form, func(t *testing.T) {
				file, err := source.Load("test.yaml", []byte(shippedFast(t, c.code)))
				if err != nil {
					t.Fatal(err)
				}
				spec, err := source.Compile(file, source.Options{Endpoint: c.endpoint, Operation: patra.Harvest, Contact: "t@example.org", Parameters: c.params})
				if err != nil {
					t.Fatal(err)
				}
				start := patra.InstantOf(from)
				card := examined(t, spec, form, server.URL+c.path, &start, nil)
				want := patra.BasisCertified
				if form == patra.CertificateShort || c.code == "openalex" || c.code == "europepmc" { // whose simulated cursors hide their keys, and whose records tell another date
					want = patra.CertificateUndecided
				}
				if spec.Basis != patra.BasisFile || len(card.Contradictions()) > 0 || card.Verdict != want {
					t.Errorf("basis %q:\n%s", spec.Basis, card.Markdown())
				}
			})
		}
	}
}

// lies are what a small provider does otherwise than its file says.
type lies struct {
	paging string // OFFSET, PAGE, TOKEN, URL

	ignoresWindow, exclusive, byDay, losesInShort bool
	totalOff                                      int
	noTotal, noEnd, endsEarly, sameToken          bool
	repeatsLast, unsorted, shuffles, clamps       bool
	rounds, deaf, scroll                          bool
	token                                         string // key, ties, index, opaque, opaqueIndex
	most                                          int    // rows of a page
}

type lyingRow struct {
	ID string    `json:"id"`
	At time.Time `json:"at"`
}

// liar has 40 records a day for ten days, two of them at each moment.
type liar struct {
	lies
	calls   int
	scrolls map[string]int
}

func (l *liar) rows(from, until time.Time) (rows []lyingRow) {
	short := until.Sub(from) < 20*time.Hour
	for i := range 400 {
		at := time.Date(2026, 5, 1, 0, 0, 7, 0, time.UTC).Add(time.Duration(i/2) * 72 * time.Minute)
		inside := !at.Before(from) && !at.After(until)
		if l.losesInShort && short && i%10 == 3 {
			inside = false
		}
		if l.ignoresWindow || inside {
			rows = append(rows, lyingRow{fmt.Sprintf("rec%04d", i), at})
		}
	}
	if l.unsorted && len(rows) > 2 {
		rows[0], rows[len(rows)-1] = rows[len(rows)-1], rows[0]
	}
	if l.shuffles && l.calls%2 == 0 {
		for i := 0; i+1 < len(rows); i += 2 {
			rows[i], rows[i+1] = rows[i+1], rows[i]
		}
	}
	return rows
}

// window reads the ends of a filter by the second.
func (l *liar) window(r *http.Request) (from, until time.Time) {
	from, _ = time.Parse(time.RFC3339, r.FormValue("from"))
	until, _ = time.Parse(time.RFC3339, r.FormValue("until"))
	until = until.Add(time.Second - 1)
	if l.exclusive {
		until = until.Add(-time.Second)
	}
	if l.byDay {
		from, until = from.Truncate(24*time.Hour), until.Truncate(24*time.Hour).Add(24*time.Hour-1)
	}
	return from, until
}

// ServeHTTP implements http.Handler.
func (l *liar) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.calls++
	all := l.rows(l.window(r))
	size, _ := strconv.Atoi(cmp.Or(r.FormValue("size"), "20"))
	if l.most > 0 && (l.clamps || size > l.most) {
		size = l.most
	}
	at := l.place(r, all, size)
	end := min(at+size, len(all))
	if l.repeatsLast && at >= len(all) {
		at, end = max(0, len(all)-size), len(all)
	}
	page := all[min(at, len(all)):end]
	answer := map[string]any{"items": append([]lyingRow{}, page...), "total": len(all) + l.totalOff}
	if l.noTotal {
		delete(answer, "total")
	}
	more := end < len(all) && !(l.endsEarly && end >= len(all)/2)
	switch {
	case (more || l.noEnd) && len(page) > 0:
		answer["next"] = l.next(r, page, end, size)
	case l.sameToken:
		answer["next"] = r.FormValue("pos")
	}
	_ = json.NewEncoder(w).Encode(answer)
}

func (l *liar) place(r *http.Request, all []lyingRow, size int) int {
	pos := r.FormValue("pos")
	n, _ := strconv.Atoi(pos)
	switch {
	case l.deaf:
		return 0
	case l.scroll:
		if pos == "" {
			pos = "scroll"
			l.scrolls[pos] = 0
		}
		at := l.scrolls[pos]
		l.scrolls[pos] = at + size
		return at
	case l.paging == "OFFSET" && l.rounds:
		return n / size * size
	case l.paging == "OFFSET":
		return n
	case l.paging == "PAGE":
		return (max(n, 1) - 1) * size
	case pos == "":
		return 0
	}
	text := pos
	if strings.HasPrefix(l.token, "opaque") {
		b, _ := base64.StdEncoding.DecodeString(pos)
		for i := range b {
			b[i] ^= 0xa5
		}
		text = string(b)
	}
	switch l.token {
	case "index", "opaqueIndex":
		n, _ = strconv.Atoi(strings.TrimPrefix(text, "list////"))
		return n
	case "ties":
		at := slices.IndexFunc(all, func(r lyingRow) bool { return r.At.Format(time.RFC3339) > text })
		return max(at, 0)
	}
	at := slices.IndexFunc(all, func(r lyingRow) bool { return r.ID > strings.TrimPrefix(text, "after:") })
	return cmp.Or(max(at, 0), 0)
}

func (l *liar) next(r *http.Request, page []lyingRow, end, size int) string {
	text := "after:" + page[len(page)-1].ID
	switch {
	case l.scroll:
		return "scroll"
	case l.paging == "PAGE" || l.paging == "OFFSET":
		return "yes"
	case l.token == "index" || l.token == "opaqueIndex":
		text = fmt.Sprintf("list////%d", end)
	case l.token == "ties":
		text = page[len(page)-1].At.Format(time.RFC3339)
	}
	if strings.HasPrefix(l.token, "opaque") {
		b := []byte(text)
		for i := range b {
			b[i] ^= 0xa5
		}
		text = base64.StdEncoding.EncodeToString(b)
	}
	if l.paging != "URL" {
		return text
	}
	q := r.URL.Query()
	q.Set("pos", text)
	return "http://" + r.Host + r.URL.Path + "?" + q.Encode()
}

// lyingSource describes the provider as it would be if it told the truth.
const lyingSource = `apiVersion: patra/v1
code: liar
name: Liar
recordType: work
defaults: {http: {baseUrl: "https://example.org"}, rate: {perSecond: 100000, burst: 1000}, retry: {maxAttempts: 2, backoff: {initial: 1ms, max: 2ms}}}
endpoints:
  list:
    role: SEARCH
    request: {method: GET, path: /list}
    pagination: {PAGINATION}
    response: {format: JSON, items: "$.items", id: "$.id", updatedAt: "$.at", total: {path: "$.total", trust: EXACT}}
    window: {field: at, mode: CALENDAR, align: DAY, size: P1D, precision: SECOND, upper: INCLUSIVE_SECOND, order: ASC, earliest: 2026-05-01}
query:
  fields: {at: {type: DATETIME, ops: [RANGE]}}
  render: [{field: at, op: RANGE, params: {from: ["{{from}}"], until: ["{{to}}"]}}]
  params: {from: {name: from}, until: {name: until}}
`

const (
	truePage = "type: PAGE, pageSize: 100, maxPageSize: 100, sizeParam: size, positionParam: pos, next: $.next, order: ASC, end: [NO_TOKEN, EMPTY_PAGE]"
	trueList = "type: OFFSET, pageSize: 100, maxPageSize: 100, sizeParam: size, positionParam: pos, order: ASC, end: [EMPTY_PAGE]"
	trueKey  = "type: TOKEN, pageSize: 100, maxPageSize: 100, sizeParam: size, positionParam: pos, next: $.next, token: {state: STATELESS, onSame: ERROR}, stability: KEYSET, key: unique, order: ASC, end: [NO_TOKEN]"
)

func card(t *testing.T, pagination, form string, l lies, change ...string) patra.Certificate {
	t.Helper()
	text := strings.NewReplacer(change...).Replace(strings.Replace(lyingSource, "PAGINATION", pagination, 1))
	file, err := source.Load("liar.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	spec, err := source.Compile(file, source.Options{Operation: patra.Harvest})
	if err != nil {
		t.Fatal(err)
	}
	l.paging, _, _ = strings.Cut(strings.TrimPrefix(pagination, "type: "), ",")
	server := httptest.NewServer(&liar{lies: l, scrolls: map[string]int{}})
	t.Cleanup(server.Close)
	start := patra.Date(2026, 5, 2)
	return examined(t, spec, form, server.URL, &start, nil)
}

// TestHonestProvidersAreCertified: what the file says is so, and its witness is believed.
func TestHonestProvidersAreCertified(t *testing.T) {
	trueURL := strings.NewReplacer("type: TOKEN", "type: URL", ", positionParam: pos", "", ", token: {state: STATELESS, onSame: ERROR}", "").Replace(trueKey)
	scroll := strings.NewReplacer("STATELESS, onSame: ERROR", "STATEFUL, onSame: CONTINUE", "KEYSET, key: unique", "SNAPSHOT").Replace(trueKey)
	for name, c := range map[string]struct {
		pagination string
		lies       lies
		witness    patra.Witness
	}{
		"OFFSET": {trueList, lies{}, patra.WitnessSeam}, "PAGE": {truePage, lies{}, patra.WitnessSizes}, "a key": {trueKey, lies{token: "key"}, patra.WitnessKeyset},
		"a key that cannot be read": {trueKey, lies{token: "opaque"}, patra.WitnessKeyset}, "a link with a key that cannot be read": {trueURL, lies{token: "opaque"}, patra.WitnessKeyset},
		"a scroll": {scroll, lies{scroll: true}, patra.WitnessSnapshot},
	} {
		t.Run(name, func(t *testing.T) {
			full := card(t, c.pagination, patra.CertificateFull, c.lies)
			if full.Verdict != patra.BasisCertified || full.Witness.Witness != c.witness || full.Before.Witness == c.witness {
				t.Error(full.Markdown())
			}
			if short := card(t, c.pagination, patra.CertificateShort, c.lies); short.Verdict != patra.CertificateUndecided || short.Requests > 6 {
				t.Error(short.Markdown())
			}
		})
	}
}

// TestEveryLieIsConvicted: each provider lies about one thing, which is found, with the setting to change.
func TestEveryLieIsConvicted(t *testing.T) {
	scroll := strings.NewReplacer("STATELESS, onSame: ERROR", "STATEFUL, onSame: CONTINUE", "KEYSET, key: unique", "SNAPSHOT").Replace(trueKey)
	for name, c := range map[string]struct {
		pagination string
		lies       lies
		question   patra.Question
		path       string
		short      bool // found by the short form too
		change     []string
	}{
		"the filter is ignored":                      {trueList, lies{ignoresWindow: true}, patra.AskFilter, "window.field", true, nil},
		"the end of a filter is left out":            {trueList, lies{exclusive: true}, patra.AskUpper, "window.upper", false, nil},
		"filters by the day":                         {trueList, lies{byDay: true}, patra.AskPrecision, "window.precision", false, nil},
		"parts have less than the whole":             {trueList, lies{losesInShort: true}, patra.AskDays, "window.upper", false, nil},
		"a token is used up":                         {trueKey, lies{scroll: true}, patra.AskRepeat, "pagination.token.state", true, []string{"onSame: ERROR", "onSame: END", "end: [NO_TOKEN]", "end: [NO_TOKEN]"}},
		"a scroll that is none":                      {scroll, lies{token: "index"}, patra.AskRepeat, "pagination.token.state", true, nil},
		"a frozen list that is an index":             {strings.Replace(trueKey, "KEYSET, key: unique", "SNAPSHOT", 1), lies{token: "index"}, patra.AskPosition, "pagination.stability", true, nil},
		"a total that is too large":                  {trueList, lies{totalOff: 3}, patra.AskTotal, "response.total.trust", false, nil},
		"a total that is too small":                  {trueList, lies{totalOff: -30}, patra.AskTotal, "response.total.trust", true, nil},
		"no total":                                   {trueList, lies{noTotal: true}, patra.AskTotal, "response.total.trust", true, nil},
		"no link although there is more":             {truePage, lies{endsEarly: true}, patra.AskEnd, "pagination.end", false, nil},
		"short pages in the middle":                  {strings.Replace(trueList, "EMPTY_PAGE", "SHORT_PAGE", 1), lies{most: 10}, patra.AskEnd, "pagination.end", false, nil},
		"an end that the file does not name":         {strings.Replace(trueKey, "end: [NO_TOKEN]", "end: [SAME_TOKEN]", 1), lies{token: "key"}, patra.AskEnd, "pagination.end", false, nil},
		"the last page again":                        {trueList, lies{repeatsLast: true}, patra.AskEnd, "pagination.end", false, nil},
		"the last position again":                    {trueKey, lies{token: "key", sameToken: true}, patra.AskEnd, "pagination.end", false, nil},
		"ties in another order":                      {trueList, lies{shuffles: true}, patra.AskOrder, "pagination.order", false, nil},
		"not in the order of time":                   {trueList, lies{unsorted: true}, patra.AskOrder, "pagination.order", true, nil},
		"not in the order that windows rely on":      {strings.Replace(trueList, ", order: ASC", "", 1), lies{unsorted: true}, patra.AskOrder, "window.order", true, nil},
		"pages of one size":                          {truePage, lies{most: 10, clamps: true}, patra.AskPosition, "pagination.sizeParam", true, nil},
		"offsets that are rounded":                   {trueList, lies{rounds: true}, patra.AskPosition, "pagination.type", true, nil},
		"positions that are not heeded":              {trueList, lies{deaf: true}, patra.AskPosition, "pagination.positionParam", true, nil},
		"a key that is an index":                     {trueKey, lies{token: "index"}, patra.AskPosition, "pagination.stability", true, nil},
		"a key that is an index that cannot be read": {trueKey, lies{token: "opaqueIndex"}, patra.AskPosition, "pagination.stability", false, nil},
		"a key with ties":                            {trueKey, lies{token: "ties"}, patra.AskPosition, "pagination.key", false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			for _, form := range []string{patra.CertificateFull, patra.CertificateShort} {
				got := card(t, c.pagination, form, c.lies, c.change...)
				i := slices.IndexFunc(got.Findings, func(f patra.Finding) bool { return f.Question == c.question })
				f := got.Findings[i]
				convicted := f.Verdict == patra.FindingContradicts && f.Path == "endpoints.list."+c.path && f.Change != "" && got.Verdict == patra.BasisContradicted
				if want := form == patra.CertificateFull || c.short; convicted != want {
					t.Errorf("%s: convicted %v, want %v\n%s", form, convicted, want, got.Markdown())
				}
			}
		})
	}
}
