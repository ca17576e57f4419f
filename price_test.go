package patra_test

import (
	"testing"
	"time"

	"patra"
)

func TestWhatRecordsCostInRequests(t *testing.T) {
	for _, c := range []struct {
		name   string
		tariff patra.RequestCost
		n      int64
		want   int64
	}{
		{"nothing is one question", patra.RequestCost{PageSize: 100}, 0, 1},
		{"a full page", patra.RequestCost{PageSize: 100}, 100, 1},
		{"one more", patra.RequestCost{PageSize: 100}, 101, 2},
		{"the end is found by asking once more", patra.RequestCost{PageSize: 100, EndPage: true}, 100, 2},
		{"nothing is its own end", patra.RequestCost{PageSize: 100, EndPage: true}, 0, 1},
		{"ids first, then records", patra.RequestCost{PageSize: 5000, EndPage: true, DetailBatch: 200}, 9000, 2 + 1 + 45},
		{"a provider that does not say", patra.RequestCost{}, 250, 3},
	} {
		if got := c.tariff.Requests(c.n); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

func TestThePriceOfAPlan(t *testing.T) {
	tariff := patra.RequestCost{PageSize: 100, EndPage: true, PerSecond: 2, PageBytes: 50_000, Quota: patra.QuotaLimit{Daily: 1000, Reserve: 10}}
	var p patra.CostEstimate
	for range 10 {
		p.Add(tariff, 1000)
	}
	now := patra.Date(2026, time.November, 15)
	p.Finalize(tariff, now)
	if p.Slices != 10 || p.Records != 10_000 || p.Requests != 110 || p.Bytes != 5_500_000 || p.Seconds != 55 || p.Share != 0.11 || p.Finish != now+55*patra.Second {
		t.Errorf("%+v", p)
	}
	for range 1000 {
		p.Add(tariff, 1000)
	}
	p.Finalize(tariff, now)
	for _, c := range []struct {
		name  string
		quota patra.QuotaLimit
		cost  int64
		share float64
		days  float64
	}{
		{"at 900 a day", patra.QuotaLimit{Daily: 1000, Reserve: 10}, 0, 0, 12},
		{"all of it is usable", patra.QuotaLimit{Daily: 1000}, 0, 0, 11},
		{"each costs two", patra.QuotaLimit{Daily: 1000}, 2, 0, 22},
		{"half of it for history", patra.QuotaLimit{Daily: 1000}, 0, 0.5, 22},
		{"the hours are narrower", patra.QuotaLimit{Daily: 11_110, Hourly: 101}, 0, 0, 109.0 / 24},
		{"the month is", patra.QuotaLimit{Daily: 10_000, Monthly: 11_000}, 0, 0, 30},
		{"it fits", patra.QuotaLimit{Daily: 11_110, Monthly: 11_110}, 0, 0, 5555.0 / 86400},
	} {
		tariff.Quota, tariff.Cost, tariff.Share = c.quota, c.cost, c.share
		if p.Finalize(tariff, now); p.Seconds != c.days*86400 { // 11,110 requests
			t.Errorf("%s: it takes %v days, want %v", c.name, p.Seconds/86400, c.days)
		}
	}
}
