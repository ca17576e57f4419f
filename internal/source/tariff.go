package source

import (
	"slices"

	"patra"
)

// Tariff is what decides how many requests the records of this source cost, and how fast they may be sent with the secrets
// that there are. How large its answers are is not known here.
func (s *Spec) Tariff(have func(name string) (bool, error)) patra.Tariff {
	end := s.Pagination.End
	t := patra.Tariff{
		PageSize:   int64(s.Pagination.PageSize),
		EndPage:    slices.Contains(end, patra.EndEmptyPage) && !slices.Contains(end, patra.EndShortPage),
		PerSecond:  s.Limit(s.Auth.complete(have), "").PerSecond,
		DailyQuota: s.Rate.Quota.Daily,
		Usable:     s.Rate.Quota.Daily - s.Rate.Quota.Kept().Of(s.Rate.Quota.Daily),
	}
	if s.Detail != nil {
		t.DetailBatch = int64(s.Detail.Batch)
	}
	return t
}

// Reach is how many records of one question the provider gives; 0 is all of them. Its cap is a position: a number of
// records, or of pages.
func (s *Spec) Reach() int64 {
	if s.Pagination.Type == pagePage {
		return s.Pagination.Cap * int64(max(s.Pagination.PageSize, 1))
	}
	return s.Pagination.Cap
}
