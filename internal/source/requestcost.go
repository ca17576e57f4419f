package source

import (
	"cmp"
	"slices"

	"patra"
	"patra/internal/query"
)

// Tariff is what decides how many requests the records of this source cost, and how fast they may be sent with the secrets
// that there are. How large its answers are is not known here.
func (s *Spec) Tariff(have func(name string) (bool, error)) patra.RequestCost {
	end := s.Pagination.End
	limit := s.Limit(s.Auth.complete(have), "")
	t := patra.RequestCost{
		PageSize:  int64(s.Pagination.PageSize),
		EndPage:   slices.Contains(end, patra.EndEmptyPage) && !slices.Contains(end, patra.EndShortPage),
		PerSecond: limit.PerSecond,
		Cost:      int64(s.Rate.Cost),
		Quota:     limit.Quota,
		Witness:   s.Witness(query.All()),
	}
	if s.Detail != nil {
		t.DetailBatch = int64(s.Detail.Batch)
	}
	return t
}

// QuotaKey names the ledger in which requests of a plan are counted, with the secrets that there are. base is what stands
// in for the source's own address.
func (s *Spec) QuotaKey(have func(name string) (bool, error), base string) string {
	return s.Limit(s.Auth.complete(have), cmp.Or(base, s.Address(Vars{}))).Key
}

// MaxResults is how many records of one question the provider gives; 0 is all of them. Its cap is a position: a number of
// records, or of pages.
func (s *Spec) MaxResults() int64 {
	if s.Pagination.Type == pagePage {
		return s.Pagination.Cap * int64(max(s.Pagination.PageSize, 1))
	}
	return s.Pagination.Cap
}
