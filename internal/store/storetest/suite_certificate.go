package storetest

import (
	"reflect"
	"testing"

	"patra"
	"patra/internal/store"
)

// certificates are kept for exactly the claims, the address and the parameters that they were made for, those that a person asked for with a line of the audit log.
func certificates(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	card := patra.Certificate{CertificateScope: patra.CertificateScope{Source: "demo", Endpoint: "works", Address: "https://example.org/a", Params: map[string]string{"set": "x"}, ClaimsHash: patra.Hash("a")},
		Form: patra.CertificateFull, At: w.Clock.Instant(), By: "ada", Requests: 17, Verdict: patra.BasisCertified,
		Findings: []patra.Finding{{Question: patra.AskOrder, Claim: "order: ASC", Found: "the same each time", Verdict: patra.FindingAgrees, Evidence: "9 of 9 | more\n"}},
		Rests:    []patra.Question{patra.AskOrder}, Found: patra.FoundClaims{Stability: "SHIFTING"}}
	var err error
	card.ID, err = w.KeepCertificate(t.Context(), w.Clock.Instant(), card)
	w.must(err)
	newer := card
	newer.Form, newer.Verdict = patra.CertificateShort, patra.CertificateUndecided
	newer.ID, err = w.KeepCertificate(t.Context(), w.Clock.Instant(), newer)
	w.must(err)
	other := card
	other.Endpoint = "other"
	other.ID, err = w.KeepCertificate(t.Context(), w.Clock.Instant(), other)
	w.must(err)

	got, err := w.CertificatesFor(t.Context(), card.CertificateScope)
	w.must(err)
	if want := []patra.Certificate{newer, card}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	for name, change := range map[string]func(*patra.CertificateScope){
		"claims": func(s *patra.CertificateScope) { s.ClaimsHash = patra.Hash("b") }, "address": func(s *patra.CertificateScope) { s.Address = "https://example.org/b" },
		"parameters": func(s *patra.CertificateScope) { s.Params = map[string]string{"set": "y"} }, "source": func(s *patra.CertificateScope) { s.Source = "x" },
	} {
		scope := card.CertificateScope
		change(&scope)
		if got, err := w.CertificatesFor(t.Context(), scope); err != nil || len(got) > 0 {
			t.Errorf("other %s have %d certificates, %v", name, len(got), err)
		}
	}
	all, err := w.Certificates(t.Context(), "demo", "", 2)
	w.must(err)
	one, err := w.Certificates(t.Context(), "demo", "works", 9)
	w.must(err)
	if len(all) != 2 || all[0].Endpoint != "other" || len(one) != 2 || one[0].ID != newer.ID {
		t.Errorf("listed: %+v and %+v", all, one)
	}
	log, err := w.AuditLog(t.Context(), store.AuditFilter{Action: patra.AuditCertify, Limit: 10})
	w.must(err)
	if len(log) != 2 || log[0].Target != "source:demo" || log[0].Actor != "ada" {
		t.Errorf("the audit log says %+v", log)
	}
	CheckInvariants(t, Inspect(t, w.URL))
}
