package replay

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"patra"
	"patra/internal/query"
	"patra/internal/source"
)

// Difference is one thing of which two say different things.
type Difference struct {
	Field string `json:"field"`
	Was   string `json:"was"` // in the ledger, or in the stored answer
	Is    string `json:"is"`
}

// differences collects them.
type differences []Difference

func (d *differences) compare(field, was, is string) {
	if was != is {
		*d = append(*d, Difference{field, was, is})
	}
}

// CompareRequest compares a request that was made anew with the one that was sent.
func CompareRequest(sent json.RawMessage, call source.Call) []Difference {
	type digest struct {
		Method  string            `json:"method"`
		URL     string            `json:"url"`
		Headers map[string]string `json:"headers"`
		Body    string            `json:"body"`
	}
	var was, is digest
	var d differences
	if err := json.Unmarshal(sent, &was); err != nil {
		return []Difference{{"request", "none is stored", call.Method + " " + call.URL}}
	}
	_ = json.Unmarshal(call.Digest(), &is) // our own texts always come back
	d.compare("request.method", was.Method, is.Method)
	d.compare("request.url", was.URL, is.URL)
	d.compare("request.body", was.Body, is.Body)
	names := slices.Concat(slices.Collect(maps.Keys(was.Headers)), slices.Collect(maps.Keys(is.Headers)))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		d.compare("request.headers."+name, was.Headers[name], is.Headers[name])
	}
	return d
}

// StoredPage is what the store has of a page beside its row.
type StoredPage struct {
	Versions []patra.PageVersion // those that it brought
	First    []string            // of a search that gives only ids: those that nobody in its scan gave before
	Given    map[string]bool     // and all of the page's that the scan knows
}

// onTheWire are faults that do not come out of a body, or not out of one body alone.
var onTheWire = []string{patra.CodeNetwork, patra.CodeTimeout, patra.CodeTooLarge, patra.CodeBadBody, patra.CodeLoop, patra.CodeLinkAway, patra.CodeEncoding, patra.CodeInternal}

// Compare compares what a stored body says with what the ledger and the biographies of the records say.
func (r *Reader) Compare(p patra.LedgerPage, k StoredPage, g ParsedPage) []Difference {
	var d differences
	if p.Status == patra.Failed {
		var was patra.Fault
		_ = json.Unmarshal(p.Error, &was) // what cannot be read has no code, and so it differs
		if !slices.Contains(onTheWire, was.Code) {
			d.compare("error", was.Code, codeOf(g.Fault))
		}
		return d
	}
	if d.compare("error", "", codeOf(g.Fault)); g.Fault != nil {
		return d
	}
	if !r.choosesPositions(p) {
		d.compare("has_next", fmt.Sprint(p.HasNext != nil && *p.HasNext), fmt.Sprint(g.HasNext))
		d.compare("next_position", p.After, g.After)
		d.compare("end", p.EndCode, g.End)
	}
	d.compare("total", number(p.ProviderTotal), number(g.Total))
	if r.TwoPhases() && p.Phase == patra.PhaseSearch {
		return append(d, compareIDs(p, k, g)...)
	}
	d.compare("items", strconv.FormatInt(p.RecordCount, 10), strconv.Itoa(g.Items()))
	d.compare("quarantined", strconv.FormatInt(p.Counts.Quarantine, 10), strconv.Itoa(len(g.Quarantined)))
	first, last := span(g.Records)
	d.compare("ts_min", instant(p.TimeMin), instant(first))
	d.compare("ts_max", instant(p.TimeMax), instant(last))
	own, merged := forerunners(k.Versions, g.Records)
	d.compare("versions", strconv.FormatInt(p.Counts.Insert+p.Counts.Update, 10), strconv.Itoa(len(own)))
	return append(d, append(compareVersions(own, g.Records), merged...)...)
}

// choosesPositions reports whether where a walk went on after a page, or that it ended there, was decided by the proof of the window and
// not by the answer alone.
func (r *Reader) choosesPositions(p patra.LedgerPage) bool {
	if p.EndCode == patra.EndWhole || p.EndCode == patra.EndSeam {
		return true
	}
	program, err := r.Program(p)
	if err != nil || p.Phase != patra.PhaseSearch {
		return false
	}
	w := program.Spec.Witness(query.All()).Witness
	return w == patra.WitnessSeam || w == patra.WitnessSizes
}

// compareIDs compares the ids of a search: what the page was the first to give must be on it, and everything on it must
// be known to the scan.
func compareIDs(p patra.LedgerPage, k StoredPage, g ParsedPage) (d differences) {
	d.compare("quarantined", strconv.FormatInt(p.Counts.Quarantine, 10), strconv.Itoa(len(g.Quarantined)))
	on := map[string]bool{}
	for _, o := range g.Records {
		on[o.ID] = true
		if !k.Given[o.ID] {
			d.compare("id "+o.ID, "", "on the page")
		}
	}
	for _, id := range k.First {
		if !on[id] {
			d.compare("id "+id, "on the page", "")
		}
	}
	return d
}

// compareVersions sees that every version that a page brought is still on it. A page may have had an id twice.
func compareVersions(versions []patra.PageVersion, records []patra.Observation) (d differences) {
	on := map[string][]patra.Observation{}
	for _, o := range records {
		on[o.ID] = append(on[o.ID], o)
	}
	for _, v := range versions {
		found := on[v.ID]
		if len(found) == 0 {
			d.compare("record "+v.ID, "revision "+strconv.FormatInt(v.Rev, 10), "")
			continue
		}
		same := slices.IndexFunc(found, func(o patra.Observation) bool { return o.Hash == v.Hash })
		if same < 0 {
			d.compare("record "+v.ID+" content_sha256", v.Hash, found[0].Hash)
			continue
		}
		d.compare("record "+v.ID+" updated_at", instant(v.UpdatedAt), instant(found[same].UpdatedAt))
	}
	return d
}

// forerunners takes out the versions of records whose place a record of the page has taken: they are no items of it.
func forerunners(versions []patra.PageVersion, records []patra.Observation) (own []patra.PageVersion, d differences) {
	gone := map[string][]patra.Observation{}
	for _, o := range records {
		for _, f := range o.MergedFromRecords() {
			gone[f.ID] = append(gone[f.ID], f)
		}
	}
	for _, v := range versions {
		by := gone[v.ID]
		if v.Change != patra.ChangeTakenOver || len(by) == 0 {
			own = append(own, v)
			continue
		}
		if !slices.ContainsFunc(by, func(o patra.Observation) bool { return o.Hash == v.Hash }) {
			d.compare("record "+v.ID+" merged_into", v.Hash, by[0].MergedInto)
		}
	}
	return own, d
}

func span(records []patra.Observation) (first, last *patra.Instant) {
	for _, o := range records {
		if o.UpdatedAt == nil {
			continue
		}
		if first == nil || *o.UpdatedAt < *first {
			first = o.UpdatedAt
		}
		if last == nil || *o.UpdatedAt > *last {
			last = o.UpdatedAt
		}
	}
	return first, last
}

func codeOf(f *patra.Fault) string {
	if f == nil {
		return ""
	}
	return f.Code
}

func number(n *int64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatInt(*n, 10)
}

func instant(i *patra.Instant) string {
	if i == nil {
		return ""
	}
	return i.String()
}

// LiveComparison is what a provider says now, beside what it said then.
type LiveComparison struct {
	Status      [2]int       `json:"status"` // then, now
	SameBody    bool         `json:"same_body"`
	Body        string       `json:"body_sha256,omitempty"` // of now
	Items       [2]int       `json:"items"`
	Added       []string     `json:"added"` // ids
	Removed     []string     `json:"removed"`
	Changed     []string     `json:"changed"`
	Differences []Difference `json:"differences"`
	Error       string       `json:"error,omitempty"` // there was no answer
	Note        string       `json:"note,omitempty"`
}

// Same reports whether nothing changed that anybody would notice. A body may differ in what means nothing.
func (f LiveComparison) Same() bool {
	return f.Error == "" && len(f.Differences)+len(f.Added)+len(f.Removed)+len(f.Changed) == 0
}

// CompareFresh compares an answer of today with the one that is stored.
func CompareFresh(then, now ParsedPage) LiveComparison {
	f := LiveComparison{Status: [2]int{then.Status, now.Status}, Items: [2]int{then.Items(), now.Items()}, Added: []string{}, Removed: []string{}, Changed: []string{}}
	var d differences
	d.compare("status", strconv.Itoa(then.Status), strconv.Itoa(now.Status))
	d.compare("error", codeOf(then.Fault), codeOf(now.Fault))
	if then.Fault != nil || now.Fault != nil { // what is no page has no records that could be gone
		f.Differences = append([]Difference{}, d...)
		return f
	}
	d.compare("has_next", fmt.Sprint(then.HasNext), fmt.Sprint(now.HasNext))
	d.compare("end", then.End, now.End)
	d.compare("total", number(then.Total), number(now.Total))
	f.Differences = append([]Difference{}, d...)
	was, is := hashes(then.Records), hashes(now.Records)
	for _, id := range slices.SortedFunc(maps.Keys(was), cmp.Compare[string]) {
		switch hash, there := is[id]; {
		case !there:
			f.Removed = append(f.Removed, id)
		case hash != was[id]:
			f.Changed = append(f.Changed, id)
		}
	}
	for _, id := range slices.SortedFunc(maps.Keys(is), cmp.Compare[string]) {
		if _, there := was[id]; !there {
			f.Added = append(f.Added, id)
		}
	}
	return f
}

func hashes(records []patra.Observation) map[string]string {
	all := map[string]string{}
	for _, o := range records {
		all[o.ID] = o.Hash
	}
	return all
}
