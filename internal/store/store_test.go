package store_test

import (
	"testing"

	"patra/internal/store"
	"patra/internal/store/storetest"
)

func TestConformance(t *testing.T) {
	storetest.Adopt = func(s *store.Store) error { return s.AdoptRepositories(t.Context()) }
	storetest.Each(t, storetest.Run)
}
