package store_test

import (
	"testing"

	"patra/internal/store/storetest"
)

func TestConformance(t *testing.T) { storetest.Each(t, storetest.Run) }
