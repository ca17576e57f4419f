// Package replay reads pages again that were read before: it makes their requests anew from the stored snapshot, takes their
// stored bodies apart, and compares what comes out with what the ledger says.
//
// It is pure: it opens no connection, no table and no file, and writes nothing. Whoever uses it brings the rows and the
// bodies. A remap is the same for many pages with another mapping, and a diff of what both read.
//
// Its words: a difference is one field of which the ledger and the replay say different things.
package replay

import (
	"fmt"

	"patra"
	"patra/internal/query"
	"patra/internal/source"
)

// Reader reads the pages of one snapshot.
type Reader struct {
	spec           *source.Spec
	search, detail *source.Program
}

// NewReader makes the reader of a snapshot.
func NewReader(spec *source.Spec) (r *Reader, err error) {
	r = &Reader{spec: spec}
	if r.search, err = spec.Compile(); err != nil || spec.Second == nil {
		return r, err
	}
	r.detail, err = spec.Second.Compile()
	return r, err
}

// Spec is the snapshot.
func (r *Reader) Spec() *source.Spec { return r.spec }

// TwoPhases reports whether a search gives only ids.
func (r *Reader) TwoPhases() bool { return r.detail != nil }

// Program is what a page was read with.
func (r *Reader) Program(p patra.LedgerPage) (*source.Program, error) {
	if p.Phase == patra.PhaseDetail {
		if r.detail == nil {
			return nil, fmt.Errorf("page %d was asked for by ids, and its snapshot has no way to do that", p.ID)
		}
		return r.detail, nil
	}
	if size := r.spec.Pagination.PageSize; p.PageSize != 0 && p.PageSize != size { // large pages are asked for in halves
		return r.search.Sized(p.PageSize), nil
	}
	return r.search, nil
}

// Request makes the request of a page anew: from the snapshot, the slice and the position. Who sent it is read off the
// stored one, because nothing else keeps it. ids are those of a page of records by id, see IDs.
func (r *Reader) Request(c *patra.Claim, p patra.LedgerPage, ids []string) (source.Call, error) {
	program, err := r.Program(p)
	if err != nil {
		return source.Call{}, err
	}
	vars := program.Spec.RecoverVars(p.Request, source.Vars{})
	if p.Phase == patra.PhaseDetail {
		return r.spec.BuildIDs(ids, c.BaseURL, vars)
	}
	q, err := query.ParseJSON(c.Query)
	if err != nil {
		return source.Call{}, err
	}
	if ids := c.Slice.Spec.Range; ids != nil {
		q = query.BindRange(q, ids.Key, ids.IDRange)
	}
	return program.Spec.Build(q, c.Slice.Fetch, p.Before, c.BaseURL, vars)
}

// ParsedPage is what an answer says.
type ParsedPage struct {
	Status      int
	Records     []patra.Observation
	Quarantined []patra.RejectedItem
	After       string
	HasNext     bool
	End         string
	Total       *int64
	Fault       *patra.Fault // nil: it is a page
}

// Items is the number of its items.
func (g ParsedPage) Items() int { return len(g.Records) + len(g.Quarantined) }

// IDs are the ids of its records, in their order.
func (g ParsedPage) IDs() []string {
	ids := make([]string, len(g.Records))
	for i, o := range g.Records {
		ids[i] = o.ID
	}
	return ids
}

// Read takes a body apart as the executor did.
func (r *Reader) Read(p patra.LedgerPage, status int, body []byte) (ParsedPage, error) {
	program, err := r.Program(p)
	if err != nil {
		return ParsedPage{}, err
	}
	position := p.Before
	if p.Phase == patra.PhaseDetail {
		position = ""
	}
	return read(program, status, body, position, p.StartedAt), nil
}

func read(program *source.Program, status int, body []byte, position string, at patra.Instant) ParsedPage {
	g := ParsedPage{Status: status}
	page, err := program.Read(status, body, position)
	if err != nil {
		g.Fault = patra.AsFault(err)
		return g
	}
	g.After, g.HasNext, g.End, g.Total = page.Next, page.HasNext, page.End, page.Total
	no := 0
	for o, err := range program.Records(&page, at) {
		no++
		if err != nil {
			f := patra.AsFault(err)
			g.Quarantined = append(g.Quarantined, patra.RejectedItem{ItemNo: no, ID: o.ID, Code: f.Code, Path: f.Path, Fragment: patra.FragmentOf(o.Raw)})
			continue
		}
		g.Records = append(g.Records, o)
	}
	if bad := len(g.Quarantined); patra.TooManyBadItems(bad, g.Items()) {
		g.Fault = &patra.Fault{Level: patra.LevelRetry, Code: patra.CodeSchema, Path: g.Quarantined[0].Path, Text: fmt.Sprintf("%d of %d items of the page cannot be read", bad, g.Items())}
	}
	return g
}
