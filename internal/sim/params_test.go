package sim

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

func TestBadParametersAreRefused(t *testing.T) {
	s := New(small(2))
	for query, want := range map[string]string{
		"rows=1001":                              "integer-not-valid",
		"rows=-1":                                "integer-not-valid",
		"rows=ten":                               "integer-not-valid",
		"rows=":                                  "integer-not-valid",
		"offset=10001":                           "integer-not-valid",
		"cursor=*&offset=0":                      "cursor-with-offset-or-sample",
		"sort=colour":                            "sort-field-not-valid",
		"sort=indexed&order=up":                  "sort-order-not-valid",
		"filter=from-index-date:2024-1-1":        "date-not-valid",
		"filter=from-index-date:2024-01-01T00":   "date-not-valid",
		"filter=from-index-date:":                "date-not-valid",
		"filter=until-index-date:2024-02-30":     "date-not-legitimate",
		"filter=until-index-date:2024-13":        "date-not-legitimate",
		"filter=type:poem":                       "type-not-valid",
		"filter=colour:red":                      "filter-not-available",
		"filter=from-index-date":                 "pair-list-form-invalid",
		"filter=":                                "pair-list-form-invalid",
		"filter=type:dataset&filter=type:report": "parameter-not-allowed",
		"query.colour=red":                       "field-query-not-available",
		"facet=type-name:*":                      "parameter-not-allowed",
		"page=2":                                 "unknown-parameter",
	} {
		w := do(s.Handler(), "/works?"+query)
		var body struct {
			Status  string    `json:"status"`
			Kind    string    `json:"message-type"`
			Message []failure `json:"message"`
		}
		if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil {
			t.Errorf("%s: %v", query, err)
			continue
		}
		if w.Code != http.StatusBadRequest || body.Status != "failed" || body.Kind != "validation-failure" ||
			len(body.Message) != 1 || body.Message[0].Type != want || body.Message[0].Message == "" {
			t.Errorf("%s: %d %s, want one %s", query, w.Code, w.Body, want)
		}
	}
	if n := s.Stats().OpenScrolls; n != 0 {
		t.Errorf("bad requests opened %d scrolls", n)
	}
}

func TestEveryMistakeIsReportedAtOnce(t *testing.T) {
	w := do(New(small(2)).Handler(), "/works?rows=x&offset=y&filter=type:poem")
	for _, kind := range []string{`"x"`, `"y"`, "type-not-valid"} {
		if !strings.Contains(w.Body.String(), kind) {
			t.Errorf("no %s in %s", kind, w.Body)
		}
	}
}

func TestParametersThatMustBeAccepted(t *testing.T) {
	s := New(small(2))
	for _, query := range []string{
		"", "rows=0", "rows=1000", "offset=10000", "order=asc", "sort=score", "sort=relevance&order=desc",
		"select=DOI,title&mailto=a@example.org", "filter=type:grant", "cursor=*",
	} {
		if w := do(s.Handler(), "/works?"+query); w.Code != http.StatusOK {
			t.Errorf("%s: %d %s", query, w.Code, w.Body)
		}
	}
}

func TestOnlyGetIsServed(t *testing.T) {
	for _, method := range []string{http.MethodPost, http.MethodHead, http.MethodDelete} {
		if w := send(New(small(2)).Handler(), method, "/works?cursor=*", nil); w.Code != http.StatusMethodNotAllowed {
			t.Errorf("%s: %d", method, w.Code)
		}
	}
}
