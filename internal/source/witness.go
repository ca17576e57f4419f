package source

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"patra"
	"patra/internal/query"
	"patra/sources"
)

// What a position of a walk is, while records come and go.
const (
	stabilityShifting = "SHIFTING" // the index of a row, hidden or not: everything behind a record that leaves moves up
	stabilityKeyset   = "KEYSET"   // the key of the row before
	stabilitySnapshot = "SNAPSHOT" // a place in a list that the first request froze
)

// The orders of a list.
const (
	orderAscending  = "ASC"           // by the time that windows are cut by
	orderDescending = "DESC"          // by that time, newest first
	orderFixed      = "FIXED"         // by something that never changes as long as a record is in the window
	orderRelevance  = "RELEVANCE"     // by how well a record answers the question: fixed where nothing but a window is asked for
	orderUnstable   = "UNSTABLE_TIES" // ties are ordered differently from answer to answer
	orderNone       = "NONE"
)

const keyUnique = "unique"

// minOverlap is the smallest page of a list whose pages can be made to overlap by asking for other sizes, for any list that a provider
// shows: with it, the sizes have no common multiple below 27,720.
const minOverlap = 12

// Claims are what a source says about its provider that a proof of completeness rests on.
type Claims struct {
	Paging    string       `json:"paging"`
	Stability string       `json:"stability,omitempty"`
	Order     string       `json:"order,omitempty"`
	Key       string       `json:"key,omitempty"`
	Total     patra.Trust  `json:"total,omitempty"`
	End       []string     `json:"end,omitempty"`
	Lag       patra.Period `json:"lag,omitzero"`
	Census    bool         `json:"census,omitempty"` // ids of a window are listed apart
	Window    string       `json:"window,omitempty"` // order of the times within a window
	Precision string       `json:"precision,omitempty"`
	Upper     string       `json:"upper,omitempty"`
	State     string       `json:"state,omitempty"`  // of a token
	Params    []string     `json:"params,omitempty"` // by which position and size of a page are asked for
	Filter    string       `json:"filter,omitempty"` // how a window is asked for, as a hash
}

// Claims are those of a spec.
func (s *Spec) Claims() Claims {
	p := s.Pagination
	return Claims{Paging: p.Type, Stability: p.Stability, Order: p.Order, Key: p.Key, Total: s.Response.Total.Trust, End: p.End,
		Lag: s.Consistency.Lag, Census: s.Census != nil, Window: s.Window.Order, Precision: string(s.Window.Precision), Upper: s.Window.Upper,
		State: p.Token.State, Params: []string{p.PositionParam, p.SizeParam}, Filter: s.filter()}
}

// filter identifies how a window is asked for, by the parameters of one.
func (s *Spec) filter() string {
	if !s.Window.filters() {
		return ""
	}
	from := patra.Date(2026, 1, 1)
	asked, err := s.Query.Render(s.Bind(query.All(), patra.Window{From: from, To: patra.UnitMonth.Next(from)}))
	if err != nil {
		return ""
	}
	return patra.Hash(asked.Params)
}

// within reports whether claims are the same as others, or claim less.
func (c Claims) within(other Claims) bool {
	less := func(own, more string, none ...string) bool { return own == more || slices.Contains(none, own) }
	return c.Paging == other.Paging && slices.Equal(c.End, other.End) && c.Precision == other.Precision && c.Upper == other.Upper &&
		less(c.Stability, other.Stability, "") && less(c.Order, other.Order, "", orderNone) && less(c.Key, other.Key, "") && less(c.Window, other.Window, "", orderNone) &&
		(c.Total == other.Total || c.Total == patra.TrustNone || c.Total == patra.TrustEstimate && other.Total == patra.TrustExact) &&
		(!c.Census || other.Census) && (c.Lag == other.Lag || other.Lag.IsZero())
}

// Hash identifies claims: a certificate holds for exactly those that it was made for.
func (c Claims) Hash() string { return patra.Hash(c) }

// shippedClaims are those of the endpoints of a shipped source file, by their names; nil: there is no such file.
func shippedClaims(code string) map[string]Claims {
	if made, ok := shipped.Load(code); ok {
		return made.(map[string]Claims)
	}
	var claims map[string]Claims
	if text, err := sources.Files.ReadFile(code + ".yaml"); err == nil {
		if f, err := Load(code+".yaml", text); err == nil {
			claims = f.claims()
		}
	}
	shipped.Store(code, claims)
	return claims
}

var shipped sync.Map

// claims are those of the endpoints that can be searched.
func (f *File) claims() map[string]Claims {
	all := map[string]Claims{}
	for name, e := range f.Endpoints {
		if e.Role == roleSearch {
			s := Spec{Pagination: e.Pagination, Census: e.Census, Response: e.Response, Consistency: e.Consistency, Window: e.Window.wide(), Query: f.grammar(e.Window)}
			all[name] = s.Claims()
		}
	}
	return all
}

// basis is what the claims of a spec rest on: a certificate, or the file that is shipped with the program. The claims of any other
// file are not believed before the provider was examined.
func (s *Spec) basis(certified string) string {
	if certified != "" {
		return certified
	}
	if shipped, ok := shippedClaims(s.Source)[s.Endpoint]; ok && s.Claims().within(shipped) {
		return patra.BasisFile
	}
	return ""
}

// Witness is how windows of this source are proved to be complete for a question: the cheapest evidence that would have noticed a
// loss.
func (s *Spec) Witness(question query.Node) patra.WitnessPlan {
	p := s.Pagination
	if p.Order == orderRelevance {
		if p.Order = orderNone; question.IsAll() {
			p.Order = orderFixed
		}
	}
	w := patra.WitnessPlan{Basis: s.Basis, Lag: s.lag()}
	counted := p.Type == pageOffset || p.Type == pagePage
	if s.Basis == "" || s.Basis == patra.BasisContradicted {
		w.Trust, w.Refutes = patra.TrustNone, s.Response.Total.Trust == patra.TrustExact
		if w.Index = counted; counted {
			w.Witness = patra.WitnessMetAgain
			return w
		}
		w.Witness, w.Reason = patra.WitnessNone, "what the source file says about its paging is not certified"
		if s.Basis == patra.BasisContradicted {
			w.Reason = "the provider contradicts what the source file says about its paging"
		}
		return w
	}
	w.Trust = cmp.Or(s.Response.Total.Trust, patra.TrustNone)
	// Where a short page ends a walk, that nothing follows is our conclusion, and not what the provider said.
	w.Says = (slices.Contains(p.End, patra.EndNoToken) || slices.Contains(p.End, patra.EndNullNext)) && !slices.Contains(p.End, patra.EndShortPage)
	w.Index = counted || p.Stability == stabilityShifting
	w.Fixed = p.Order == orderFixed
	ordered := p.Order == orderFixed || p.Order == orderAscending
	// Pages that overlap prove something if a row that moved is told from one that did not, by what it is sorted by.
	seen := p.Order == orderFixed || s.SortsByTime()
	switch {
	case p.Type == pageTime:
		w.Witness = patra.WitnessTime
	case p.Stability == stabilitySnapshot:
		w.Witness = patra.WitnessSnapshot
	case p.Stability == stabilityKeyset && p.Key == keyUnique && ordered:
		w.Witness = patra.WitnessKeyset
	case p.Type == pageOffset && seen:
		w.Witness = patra.WitnessSeam
	case p.Type == pagePage && seen && p.SizeParam != "" && p.PageSize >= minOverlap:
		w.Witness = patra.WitnessSizes
	case w.Index || w.Trust == patra.TrustExact:
		w.Witness = patra.WitnessMetAgain
	case s.Census != nil && w.Says:
		w.Witness = patra.WitnessCensus
	default:
		w.Witness = patra.WitnessNone
		w.Reason = "the token of the provider hides what a position is, and no total is exact"
	}
	return w
}

func (s *Spec) lag() int64 {
	lag := s.Consistency.Lag
	return lag.Clock.Microseconds() + int64(lag.Days)*24*int64(patra.Second)*3600
}

// SortsByTime reports whether rows are in the order of the times that their records have, so that a row which kept its time kept its
// place.
func (s *Spec) SortsByTime() bool {
	ordered := s.Pagination.Order == orderAscending || s.Pagination.Type == pageTime
	return ordered && len(s.Response.UpdatedAt) > 0 && !s.Window.OtherDate && s.Second == nil
}

// stability checks what a file claims about the positions of a walk.
func (c *checker) stability(at string, e Endpoint) {
	p := e.Pagination
	c.oneOf(at+".stability", cmp.Or(p.Stability, stabilityShifting), stabilityShifting, stabilityKeyset, stabilitySnapshot)
	c.oneOf(at+".order", cmp.Or(p.Order, orderNone), orderAscending, orderDescending, orderFixed, orderRelevance, orderUnstable, orderNone)
	c.oneOf(at+".key", cmp.Or(p.Key, keyUnique), keyUnique)
	if p.Stability == stabilityKeyset && p.Key != keyUnique {
		c.add(at+".key", "REQUIRED", "a position that is a key proves something only if no two records share it", "write key: unique, or stability: SHIFTING")
	}
	if p.Stability == stabilityKeyset && !slices.Contains([]string{orderAscending, orderFixed, orderRelevance}, p.Order) {
		c.add(at+".order", "REQUIRED", "a walk by keys proves something only if the key of a record does not move against it", "write order: ASC, FIXED or RELEVANCE")
	}
	if counts := p.Type == pageOffset || p.Type == pagePage; counts && p.Stability != "" && p.Stability != stabilityShifting {
		c.add(at+".stability", "CONFLICT", fmt.Sprintf("the positions of a walk by %s are indexes", p.Type), "leave it out")
	}
}
