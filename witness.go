package patra

import (
	"fmt"
	"slices"
)

// Witness is the kind of evidence by which a window is called complete.
type Witness string

// The witnesses. Each proves that every record which was in the window from before the first to after the last request of
// the evidence was read.
const (
	WitnessAtomic   Witness = "ATOMIC"    // one answer held the whole window
	WitnessSeam     Witness = "SEAM"      // every page began with a row that was read before and has not changed
	WitnessSizes    Witness = "SIZES"     // SEAM with pages of varying size, where positions are page numbers
	WitnessKeyset   Witness = "KEYSET"    // positions are unique keys, so nothing moves under the walk
	WitnessSnapshot Witness = "SNAPSHOT"  // the provider froze the list at the first request
	WitnessTime     Witness = "TIME"      // positions are times, and every page overlaps the one before it
	WitnessMetAgain Witness = "MET_AGAIN" // a second scan met everything that the first had read
	WitnessCensus   Witness = "CENSUS"    // the ids of the window came in one answer, and the walk has read all of them
	WitnessParts    Witness = "PARTS"     // each part of a window cut by ids has a witness, and nothing lies outside of them
	WitnessNone     Witness = "NONE"      // the walk came to its end, which proves nothing by itself
)

// ProofVersion is the shape of a stored proof. Windows of older versions have none: they were judged by the walk and the count.
const ProofVersion = 2

// maxIdle is after how many pages that bring nothing new a walk is given up: the provider may not heed the position.
const maxIdle = 8

// MaxScans is how often a window is scanned before it is left without a witness.
const MaxScans = 4

// WitnessPlan is what a source allows to be proved, and how.
type WitnessPlan struct {
	Witness Witness `json:"witness"`
	Trust   Trust   `json:"total,omitempty"`
	Refutes bool    `json:"refutes,omitempty"` // a total that differs from what was read is a contradiction, although it proves nothing
	Index   bool    `json:"index,omitempty"`   // positions are places in the list, hidden or not
	Says    bool    `json:"says,omitempty"`    // the provider says itself that nothing follows
	Fixed   bool    `json:"fixed,omitempty"`   // the sort key of a record never changes
	Lag     int64   `json:"lag,omitempty"`     // microseconds by which copies of the provider may lag behind each other
	Basis   string  `json:"basis,omitempty"`   // what the claims about the provider rest on
	Reason  string  `json:"reason,omitempty"`  // why there is no witness
}

// What the claims of a source file rest on.
const (
	BasisFile      = "FILE"      // the file says so, and nothing has contradicted it
	BasisCertified = "CERTIFIED" // the provider was examined

	BasisContradicted = "CONTRADICTED" // the provider was examined, and does not do what the file says
)

// Requests is about how many requests an undisturbed window takes, from the number of its records and the size of a page. plain is how
// many a walk takes that proves nothing.
func (p WitnessPlan) Requests(records, pageSize, plain int64) int64 {
	if pageSize <= 0 || records <= 0 {
		return plain
	}
	switch last := int64(1); {
	case records <= pageSize && (p.Trust == TrustExact || p.Says):
		return 1
	case p.Witness == WitnessSeam && pageSize > 1:
		if p.Trust == TrustExact || p.Says {
			last = 0 // the last page says that it is the last
		}
		return (records+pageSize-3)/(pageSize-1) + last
	case p.Witness == WitnessSizes:
		pages := (records + pageSize - 1) / pageSize
		return pages + (pages+4)/5
	case p.Witness == WitnessCensus:
		return plain + 1
	case p.Witness == WitnessMetAgain && p.Lag > 0:
		return 3 * plain
	case p.Witness == WitnessMetAgain:
		return 2 * plain
	}
	return plain
}

// Scans is how many scans of an undisturbed window that is longer than a page the witness takes.
func (p WitnessPlan) Scans() int {
	switch {
	case p.Witness != WitnessMetAgain:
		return 1
	case p.Lag > 0:
		return 3
	}
	return 2
}

// String names a witness for people, and what is believed for it.
func (p WitnessPlan) String() string {
	if p.Witness == WitnessNone || p.Witness == "" {
		return "none, because " + p.Reason
	}
	text := witnessTexts[p.Witness]
	if p.Trust == TrustExact || p.Says {
		text = "ATOMIC where one answer holds a window, else " + text
	}
	switch p.Basis {
	case BasisFile:
		text += " (claimed by the shipped file)"
	case BasisCertified:
		text += " (certified)"
	}
	return text
}

var witnessTexts = map[Witness]string{
	WitnessSeam: "SEAM: pages overlap by a row", WitnessSizes: "SIZES: pages of changing size overlap", WitnessKeyset: "KEYSET: a position is the key of a record",
	WitnessSnapshot: "SNAPSHOT: the provider freezes the list", WitnessTime: "TIME: pages overlap by a moment", WitnessCensus: "CENSUS: a list of all ids in one answer", WitnessMetAgain: "MET_AGAIN: a second scan meets what the first has read",
}

// WindowProof is the evidence by which a window was judged, as it stands in the coverage ledger.
type WindowProof struct {
	V       int           `json:"v"`
	Witness Witness       `json:"witness"`
	Planned Witness       `json:"planned,omitempty"` // the evidence that was looked for
	Basis   string        `json:"basis,omitempty"`
	TaskID  int64         `json:"task_id,omitempty"`
	Scans   []ScanSummary `json:"scans,omitempty"`
	Met     int64         `json:"met,omitempty"`    // ids of the first scan that the second has met
	Census  *int64        `json:"census,omitempty"` // ids of the census, all of which the scan has read
	Rest    *int64        `json:"rest,omitempty"`   // of a window that was cut by ids: how many of its records no part has asked for
	Why     string        `json:"why,omitempty"`    // why there is no witness
}

// ScanSummary is what a judge needs of a complete scan beside its rows.
type ScanSummary struct {
	No         int64  `json:"scan"`
	Pages      int64  `json:"pages"`
	Rows       int64  `json:"rows"`
	Distinct   int64  `json:"distinct"`
	Duplicates int64  `json:"duplicates"`
	Outside    int64  `json:"outside"`
	StepBacks  int64  `json:"step_backs"`
	Total      *int64 `json:"total,omitempty"`
}

// ScanEvidence follows a scan page by page, as it is read or as the ledger has it.
type ScanEvidence struct {
	ScanSummary
	Began, EndedAt Instant // first request, last answer
	Ended          bool
	Disordered     bool // an answer broke the order that the source declares

	plan        WitnessPlan
	ids         map[uint64]readRow // of rows inside
	expected    int64              // place behind the page before, where places are counted
	first       int64              // rows of the first page
	previous    int64              // rows of the page before
	widest      int64              // rows of the largest page
	previousAll bool               // the page before began at the first row
	uneven      bool               // pages do not tell how long the list is
	broken      bool               // the last page did not join
	idle        int64              // pages since one brought something new
	back        int64              // by how much the next step goes back
	gaveUp      bool               // too many steps back
	seamed      bool               // the walk ended at a seam
	firstTotal  *int64
	moved       bool // the total changed on the way
}

// readRow is what is known of an id that was read: its last sort key, and whether the page which it came with joined the walk.
type readRow struct {
	sort   uint32
	joined bool
}

// NewScanEvidence is that of a scan before its first page.
func NewScanEvidence(no int64, p WitnessPlan) *ScanEvidence {
	return &ScanEvidence{ScanSummary: ScanSummary{No: no}, plan: p, ids: map[uint64]readRow{}, back: 1}
}

// ScanPage is one page of a scan.
type ScanPage struct {
	Position int64 // of its first row, counted from 0; -1 where positions are not counted
	Asked    int64 // rows that were asked for
	Rows     PageRows
	HasNext  bool
	Total    *int64

	SentAt, FinishedAt Instant
}

// ScanStep is where a walk by places goes on.
type ScanStep struct {
	Next   int64 // place of the next row to ask for
	End    bool
	Broken bool // it steps back, because the page did not join what was read before
}

// Add takes the next page of the scan. The step means something only where the witness is SEAM or SIZES.
func (e *ScanEvidence) Add(p ScanPage) ScanStep {
	e.Pages++
	n := int64(len(p.Rows))
	e.note(p, n)
	inside := p.inside()
	e.widest = max(e.widest, inside)
	step := e.join(p, inside)
	e.broken = step.Broken
	known := e.Distinct
	for _, r := range p.Rows {
		e.read(r, !step.Broken)
	}
	if e.idle++; e.Distinct > known || n == 0 {
		e.idle = 0
	}
	e.expected, e.previous, e.previousAll = p.Position+n, n, p.Position == 0
	e.Ended = step.End || !e.Seams() && !p.HasNext || e.Complete()
	if e.EndedAt = p.FinishedAt; e.Pages == 1 {
		e.Began = p.SentAt
	}
	return step
}

// inside is how many places of the list a page is sure to hold. Rows from outside of what was asked for are none of the list, and
// neither is what goes beyond the size that was asked for.
func (p ScanPage) inside() (n int64) {
	for _, r := range p.Rows {
		if !r.Outside {
			n++
		}
	}
	if p.Asked > 0 {
		n = min(n, p.Asked)
	}
	return n
}

// note keeps what the numbers of a page say.
func (e *ScanEvidence) note(p ScanPage, n int64) {
	switch {
	case e.Pages == 1:
		e.first, e.firstTotal = n, p.Total
	case p.Position >= 0:
		e.uneven = e.uneven || p.Position != e.expected
	default:
		e.uneven = e.uneven || n > 0 && e.previous != e.first
	}
	e.uneven = e.uneven || n > e.first
	if p.Total == nil {
		return
	}
	e.moved = e.moved || e.Total != nil && *e.Total != *p.Total
	e.Total = p.Total
}

// read counts a row.
func (e *ScanEvidence) read(r RowKey, joined bool) {
	e.Rows++
	e.Disordered = e.Disordered || r.Disordered
	if r.Outside {
		e.Outside++
		return
	}
	if _, known := e.ids[r.ID]; known {
		e.Duplicates++
	} else {
		e.Distinct++
	}
	e.ids[r.ID] = readRow{r.Sort, joined}
}

// knows reports whether a row was read before in this scan, on a page that joined, and has not changed its place in the order
// since.
func (e *ScanEvidence) knows(r RowKey) bool {
	row, known := e.ids[r.ID]
	return known && row.joined && row.sort == r.Sort && !r.Outside
}

// Has reports whether a scan has read an id.
func (e *ScanEvidence) Has(id uint64) bool {
	_, known := e.ids[id]
	return known
}

// join judges how a page joins what was read before it. All that lies up to the last row of a page that joins is read: the row
// which it begins with was read before and has not changed its place, so nothing lies between.
func (e *ScanEvidence) join(p ScanPage, n int64) ScanStep {
	if !e.Seams() {
		return ScanStep{}
	}
	after := p.Position + n
	joined := p.Position == 0 || e.meets(p.Rows)
	switch {
	case joined && e.ends(p, n):
		e.seamed = e.Pages > 1 || n > 0
		return ScanStep{End: true}
	case joined && e.widest <= 2 && n <= 2 && e.plan.Witness == WitnessSizes: // too few rows for pages that overlap
		return ScanStep{Next: after}
	case joined && (e.idle >= maxIdle || e.stuck(after)):
		e.gaveUp = true
		return ScanStep{End: true}
	case joined:
		e.back = 1
		return ScanStep{Next: max(after-1, p.Position+1)}
	case n == 0 && e.previousAll && e.widest <= 2: // the list ends here, and nothing has shown that no row slipped past
		return ScanStep{End: true}
	}
	e.StepBacks++
	if e.StepBacks > e.Pages/2+3 {
		e.gaveUp = true
		return ScanStep{End: true, Broken: true}
	}
	next := max(0, p.Position-e.back)
	e.back *= 2
	return ScanStep{Next: next, Broken: true}
}

// stuck reports whether no page of a size that the provider serves begins before a place and reaches beyond it. That is so where all
// sizes divide the place, which only happens to small ones.
func (e *ScanEvidence) stuck(after int64) bool {
	if e.plan.Witness != WitnessSizes {
		return false
	}
	number, size := e.PageAt(after-1, e.widest)
	return number*size <= after
}

// meets reports whether the first row of a page that is inside the window is known. Rows outside are none of the list.
func (e *ScanEvidence) meets(rows PageRows) bool {
	for _, r := range rows {
		if !r.Outside {
			return e.knows(r)
		}
	}
	return false
}

// Seams reports whether the walk chooses its own positions, so that its pages overlap.
func (e *ScanEvidence) Seams() bool {
	return e.plan.Witness == WitnessSeam || e.plan.Witness == WitnessSizes
}

// ends reports whether a page that joins is the last one: because the provider says so, with an exact total or in words; because it
// is one row that is known, in a walk whose pages hold more; or because it is shorter than others of its size were, and holds
// only what is known.
func (e *ScanEvidence) ends(p ScanPage, n int64) bool {
	switch {
	case len(p.Rows) == 0:
		return p.Position == 0
	case e.plan.Trust == TrustExact && p.Total != nil && p.Position+n >= *p.Total, e.plan.Says && !p.HasNext:
		return true
	case e.Pages == 1:
		return false
	case len(p.Rows) == 1 && p.Asked > 1 && e.widest > 1:
		return e.knows(p.Rows[0])
	case e.plan.Witness != WitnessSizes: // a page may be short anywhere, and the next begins with its last row
		return false
	}
	return n < p.Asked && p.Asked <= e.widest && !slices.ContainsFunc(p.Rows, func(r RowKey) bool { return !e.knows(r) })
}

// PageAt is the page to ask for next in a walk by page numbers: it begins at a place that was read, and reaches as far beyond it as a
// page of at most size rows can. Sizes that the provider has not shown to serve are not asked for after the first page.
func (e *ScanEvidence) PageAt(at, size int64) (number, rows int64) {
	if at == 0 {
		return 1, size
	}
	if e.widest <= 2 && e.widest > 0 {
		return at/e.widest + 1, e.widest
	}
	return PageAcross(at, min(size, e.widest))
}

// whole reports whether the only answer of a scan held all there is, by its own exact total or because the provider said so.
func (e *ScanEvidence) whole(p WitnessPlan) bool {
	if e.Pages != 1 || e.Duplicates > 0 {
		return false
	}
	if p.Trust == TrustExact && e.Total != nil {
		return *e.Total == e.Distinct
	}
	return e.Ended && (e.Rows == 0 || p.Says)
}

// Complete reports whether the one page that was read is the whole list by its own exact total, so that nothing needs to be
// asked for.
func (e *ScanEvidence) Complete() bool {
	return e.Pages == 1 && e.plan.Trust == TrustExact && e.Total != nil && *e.Total == e.Distinct && e.Duplicates == 0
}

// contradicted reports whether an exact total that did not change on the way differs from what was read.
func (e *ScanEvidence) contradicted(p WitnessPlan) bool {
	return (p.Trust == TrustExact || p.Refutes) && e.Total != nil && !e.moved && *e.Total != e.Distinct
}

// alone reports whether one scan is a proof by itself. Where copies lag and a record may change its place, the window must have been
// closed for as long before it was read.
func (e *ScanEvidence) alone(p WitnessPlan, to Instant) bool {
	if e.contradicted(p) || e.Disordered || p.Lag > 0 && !p.Fixed && p.Witness != WitnessSnapshot && e.Began < to+Instant(p.Lag) {
		return false
	}
	switch p.Witness {
	case WitnessSeam, WitnessSizes:
		return e.seamed
	case WitnessKeyset:
		return e.Ended && !(p.Fixed && e.Duplicates > 0)
	case WitnessSnapshot:
		frozen := p.Trust != TrustExact || e.firstTotal == nil || *e.firstTotal == e.Distinct
		return e.Ended && frozen && e.Duplicates == 0
	case WitnessTime:
		return e.Ended
	}
	return false
}

// list is how many rows the list had when the scan ended, if its pages tell: all places were read, and each once.
func (e *ScanEvidence) list() (n int64, known bool) {
	return e.Rows, e.Ended && !e.uneven && e.Duplicates == 0 && e.Outside == 0
}

// met is how many ids of a scan a later one has met.
func (e *ScanEvidence) met(later *ScanEvidence) (n int64) {
	for id := range e.ids {
		if later.Has(id) {
			n++
		}
	}
	return n
}

// again reports whether a later scan proves an earlier one to be whole: everything that was read is still there, so the list had
// nothing else in between. between gives how long the list was then: the earlier scan itself or, where copies lag, one that began
// and ended that long away from both.
func (e *ScanEvidence) again(between, later *ScanEvidence, p WitnessPlan) (met int64, proved bool) {
	met = e.met(later)
	counted := later.firstTotal
	if between != e {
		counted = between.firstTotal
	}
	if p.Trust == TrustExact && counted != nil {
		return met, met >= *counted
	}
	n, known := between.list()
	return met, p.Index && known && met >= n
}

// between is the scan that tells how long the list was between two others; nil if there is none.
func between(p WitnessPlan, scans []*ScanEvidence, earlier, later *ScanEvidence) *ScanEvidence {
	if p.Lag == 0 {
		return earlier
	}
	for _, e := range scans {
		if e.Began >= earlier.EndedAt+Instant(p.Lag) && later.Began >= e.EndedAt+Instant(p.Lag) {
			return e
		}
	}
	return nil
}

// Confirms reports whether a scan that is left before its end proves what it has read by then: all that lies before its last row.
func (e *ScanEvidence) Confirms(to Instant) bool {
	p := e.plan
	if e.Disordered || e.broken || p.Lag > 0 && !p.Fixed && p.Witness != WitnessSnapshot && e.Began < to+Instant(p.Lag) {
		return false
	}
	switch p.Witness {
	case WitnessSeam, WitnessSizes, WitnessSnapshot, WitnessTime:
		return true
	case WitnessKeyset:
		return !(p.Fixed && e.Duplicates > 0)
	}
	return false
}

// WindowVerdict is what the scans of a window are worth.
type WindowVerdict struct {
	State Completeness
	Proof WindowProof
	Again bool // one more scan may prove what these do not
}

// JudgeScans decides by all complete scans of a window that ends at to whether it is proved to be whole. They are in their order;
// the last one is the newest.
func JudgeScans(p WitnessPlan, to Instant, scans []*ScanEvidence) WindowVerdict {
	last := scans[len(scans)-1]
	sealed := func(w Witness, met int64, used ...*ScanEvidence) WindowVerdict {
		v := WindowVerdict{State: StateSealed, Proof: WindowProof{V: ProofVersion, Witness: w, Basis: p.Basis, Met: met}}
		for _, e := range used {
			v.Proof.Scans = append(v.Proof.Scans, e.ScanSummary)
		}
		return v
	}
	switch {
	case last.whole(p):
		return sealed(WitnessAtomic, 0, last)
	case last.alone(p, to):
		return sealed(p.Witness, 0, last)
	}
	if last.contradicted(p) {
		return unproved(p, scans)
	}
	for _, e := range scans[:len(scans)-1] {
		middle := between(p, scans, e, last)
		if middle == nil {
			continue
		}
		if met, proved := e.again(middle, last, p); proved {
			used := []*ScanEvidence{e, last}
			if middle != e {
				used = []*ScanEvidence{e, middle, last}
			}
			return sealed(WitnessMetAgain, met, used...)
		}
	}
	return unproved(p, scans)
}

// unproved is the verdict on scans that prove nothing: a contradiction that stays is a dispute.
func unproved(p WitnessPlan, scans []*ScanEvidence) WindowVerdict {
	last := scans[len(scans)-1]
	v := WindowVerdict{State: StateRead, Proof: WindowProof{V: ProofVersion, Witness: WitnessNone, Basis: p.Basis,
		Scans: []ScanSummary{last.ScanSummary}, Why: whyUnproved(p, scans)}}
	if last.contradicted(p) {
		v.State, v.Again = StateDisputed, len(scans) < 2
		return v
	}
	v.Again = p.Witness != WitnessNone && p.Witness != WitnessCensus && len(scans) < MaxScans && !hopeless(p, scans)
	return v
}

// hopeless reports whether another scan would prove no more than the last two: both hold rows from outside of the window, which do not
// tell how long its list is.
func hopeless(p WitnessPlan, scans []*ScanEvidence) bool {
	n := len(scans)
	return p.Witness == WitnessMetAgain && p.Trust != TrustExact && n > 1 && scans[n-1].Outside > 0 && scans[n-2].Outside > 0
}

// JudgeCensus decides by a list of the ids of the whole window that came in one answer. What was in the window all the time is on it, so
// a scan that has read all of it has missed nothing.
func JudgeCensus(p WitnessPlan, census PageRows, scan *ScanEvidence, earlier int) WindowVerdict {
	ids := map[uint64]bool{}
	missing := int64(0)
	for _, r := range census {
		if !ids[r.ID] && !scan.Has(r.ID) {
			missing++
		}
		ids[r.ID] = true
	}
	v := WindowVerdict{State: StateSealed, Proof: WindowProof{V: ProofVersion, Witness: WitnessCensus, Basis: p.Basis, Scans: []ScanSummary{scan.ScanSummary},
		Census: new(int64(len(ids)))}}
	if len(ids) == 0 && scan.Distinct > 0 { // a provider that does not know the question lists nothing either
		v.State, v.Proof.Witness, v.Proof.Why = StateRead, WitnessNone, "the provider lists no ids, although records were read"
	}
	if missing > 0 {
		v.State, v.Proof.Witness = StateRead, WitnessNone
		v.Proof.Why = fmt.Sprintf("%d ids that the provider lists were not read", missing)
		v.Again = earlier == 0 // one that is on every list and on no page is not found by reading once more
	}
	return v
}

// JudgeParts decides about a window that was cut by ids when the last of its parts is closed. rest is how many of its records have
// ids that no part has asked for; nil: the provider cannot be asked. last is the proof of the last part.
func JudgeParts(state Completeness, rest *int64, last *WindowProof) (Completeness, *WindowProof) {
	proof := WindowProof{V: ProofVersion, Witness: WitnessParts, Basis: last.Basis, TaskID: last.TaskID, Rest: rest}
	switch {
	case state != StateSealed:
		proof.Witness, proof.Why = WitnessNone, "a part of it is "+string(state)
	case rest == nil:
		state, proof.Witness, proof.Why = StateRead, WitnessNone, "the provider cannot be asked for ids that lie in no part"
	case *rest > 0:
		state, proof.Witness, proof.Why = StateDisputed, WitnessNone, fmt.Sprintf("%d of its records have ids that lie in no part", *rest)
	}
	return state, &proof
}

func whyUnproved(p WitnessPlan, scans []*ScanEvidence) string {
	last := scans[len(scans)-1]
	switch {
	case last.contradicted(p):
		return fmt.Sprintf("the provider says that there are %d, and %d were read", *last.Total, last.Distinct)
	case p.Witness == WitnessNone:
		return p.Reason
	case p.Witness == WitnessCensus:
		return "the list of its ids did not come in one answer"
	case last.gaveUp:
		return "the list could not be followed: records move too fast, or its pages cannot be made to overlap"
	case last.Disordered:
		return "the answers are not in the order that the source declares"
	case last.Outside > 0 && p.Witness == WitnessMetAgain && p.Trust != TrustExact:
		return fmt.Sprintf("%d rows lie outside of the window that was asked for, so that nothing tells how long its list is", last.Outside)
	case last.Duplicates > 0 && p.Witness != WitnessSeam && p.Witness != WitnessSizes:
		return fmt.Sprintf("%d rows came twice in one scan", last.Duplicates)
	case len(scans) == 1:
		return "one scan proves nothing where positions move"
	}
	before := scans[len(scans)-2]
	met := before.met(last)
	return fmt.Sprintf("%d records left and %d came while it was read", before.Distinct-met, last.Distinct-met)
}

// PageAcross is a page, by its number and size, that begins before the place at and reaches as far beyond it as one of at most size
// rows can.
func PageAcross(at, size int64) (number, rows int64) {
	number, rows = 1, size
	best := int64(-1)
	for n := size; n > 1; n-- {
		page := at/n + 1
		if reach := page * n; reach > best {
			number, rows, best = page, n, reach
		}
	}
	return number, rows
}
