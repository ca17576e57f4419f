package store

import (
	"context"

	"patra"
)

// Quotas lists what is used of quotas in windows that have not ended, by key and window.
func (s *Store) Quotas(ctx context.Context) ([]patra.QuotaUse, error) {
	return nil, nil
}
