package patra_test

import (
	"testing"

	"patra"
)

func TestNewRecordsComeBeforeKnownOnesAndThoseBeforeHistory(t *testing.T) {
	if h, u, b := patra.Harvest.Priority(), patra.Update.Priority(), patra.Backfill.Priority(); h >= u || u >= b {
		t.Errorf("smaller is sooner: HARVEST %d, UPDATE %d, BACKFILL %d", h, u, b)
	}
}

func TestAPartitionIsOneOperationAtOneEndpointOfOneSource(t *testing.T) {
	requireDistinct(t, map[string]string{
		"as it is":          patra.Partition("crossref", "works", patra.Harvest),
		"another source":    patra.Partition("pubmed", "works", patra.Harvest),
		"another endpoint":  patra.Partition("crossref", "journals", patra.Harvest),
		"another operation": patra.Partition("crossref", "works", patra.Update),
	})
}
