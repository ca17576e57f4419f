package source_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"patra"
	"patra/internal/source"
)

// limited is a source file with a quota for the whole source, and one of the endpoint's own.
func limited(whole, own string) string {
	text := strings.Replace(write(get, offset, jsonList, noFields), "burst: 5}", "burst: 5, quota: "+whole+"}", 1)
	return strings.Replace(text, "    window:", "    rate: {quota: "+own+"}\n    window:", 1)
}

func TestQuotasAreLaidOverEachOther(t *testing.T) {
	for _, tt := range []struct {
		whole, own, want string
		kept             source.Percent
	}{
		{"{}", "{}", `{}`, 10},
		{"{daily: 100000, hourly: 0}", "{}", `{"daily":100000}`, 10},
		{"{daily: 100000, reserve: 10%}", "{daily: 5000}", `{"daily":5000,"reserve":"10%"}`, 10},
		{"{daily: 100000, reserve: 90%}", "{hourly: 7, reserve: 0%}", `{"daily":100000,"hourly":7,"reserve":"0%"}`, 0},
		{"{}", "{hourly: 7, reserve: '25%'}", `{"hourly":7,"reserve":"25%"}`, 25},
	} {
		spec := compile(t, limited(tt.whole, tt.own)).Spec
		got, err := json.Marshal(spec.Rate.Quota)
		if err != nil || string(got) != tt.want || spec.Rate.Quota.Kept() != tt.kept || spec.Rate.PerSecond != 5 {
			t.Errorf("%s and %s became %s with %d%% in reserve, %v", tt.whole, tt.own, got, spec.Rate.Quota.Kept(), err)
		}
	}
}

func TestBrokenQuotas(t *testing.T) {
	for _, tt := range []struct{ quota, code, path string }{
		{"{daily: -1}", "BAD_VALUE", "quota.daily"},
		{"{hourly: -1}", "BAD_VALUE", "quota.hourly"},
		{"{daily: many}", "WRONG_TYPE", "quota.daily"},
		{"{weekly: 7}", "UNKNOWN_KEY", "quota.weekly"},
		{"{reserve: 10%}", "CONFLICT", "quota.reserve"},
		{"{daily: 9, reserve: 10}", "BAD_VALUE", "quota.reserve"},
		{"{daily: 9, reserve: 91%}", "BAD_VALUE", "quota.reserve"},
		{"{daily: 9, reserve: 100%}", "BAD_VALUE", "quota.reserve"},
		{"{daily: 9, reserve: 1.5%}", "BAD_VALUE", "quota.reserve"},
		{"{daily: 9, reserve: -1%}", "BAD_VALUE", "quota.reserve"},
		{"{daily: 9, reserve: 007%}", "BAD_VALUE", "quota.reserve"},
		{"{daily: 9, reserve: '10 %'}", "BAD_VALUE", "quota.reserve"},
	} {
		_, err := source.Load("broken.yaml", []byte(limited(tt.quota, "{}")))
		if want := "broken.yaml:5:"; err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "("+tt.code+" at defaults.rate."+tt.path+")") {
			t.Errorf("%s: no %s at %s in %v", tt.quota, tt.code, tt.path, err)
		}
	}
}

func TestAReserveIsNeverLessThanPromised(t *testing.T) {
	for _, tt := range []struct {
		share   source.Percent
		n, want int64
	}{{10, 100000, 10000}, {10, 5, 1}, {0, 5, 0}, {33, 10, 4}, {90, 1 << 62, 4150517416584649114}} {
		if got := tt.share.Of(tt.n); got != tt.want {
			t.Errorf("%d%% of %d is %d, want %d", tt.share, tt.n, got, tt.want)
		}
	}
}

func TestTheTariffOfASource(t *testing.T) {
	for _, tt := range []struct {
		name string
		text string
		want patra.RequestCost
	}{
		{"an empty page ends it", limited("{daily: 1000}", "{}"), patra.RequestCost{PageSize: 2, EndPage: true, PerSecond: 5, Quota: patra.QuotaLimit{Daily: 1000, Reserve: 10, Skew: 5 * time.Minute}}},
		{"a short page does, too", strings.Replace(limited("{}", "{}"), "[EMPTY_PAGE]", "[SHORT_PAGE, EMPTY_PAGE]", 1), patra.RequestCost{PageSize: 2, PerSecond: 5}},
		{"a token does", write(get, oaiPaging, oaiResponse, noFields), patra.RequestCost{PerSecond: 5}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := compile(t, tt.text).Spec.Tariff(nil)
			got.Witness = patra.WitnessPlan{}
			if got != tt.want {
				t.Errorf("%+v, want %+v", got, tt.want)
			}
		})
	}
	got := shippedProgram(t, "pubmed", "search").Spec.Tariff(nil)
	got.Witness = patra.WitnessPlan{}
	if want := (patra.RequestCost{PageSize: 9998, EndPage: true, DetailBatch: 200, PerSecond: 3}); got != want {
		t.Errorf("pubmed: %+v", got)
	}
}

func TestACapIsAPositionInRecordsOrInPages(t *testing.T) {
	s := shippedProgram(t, "pubmed", "search").Spec
	if s.MaxResults() != 9998 {
		t.Errorf("%d", s.MaxResults())
	}
	s.Pagination.Type, s.Pagination.Cap, s.Pagination.PageSize = "PAGE", 10, 100
	if s.MaxResults() != 1000 {
		t.Errorf("ten pages of a hundred are %d", s.MaxResults())
	}
}
