package patra_test

import (
	"strings"
	"testing"

	"patra"
)

func finding(q patra.Question, v patra.FindingVerdict) patra.Finding {
	return patra.Finding{Question: q, Claim: "pagination.order: ASC", Found: "none", Verdict: v, Evidence: "3 of 4", Path: "endpoints.works.pagination.order", Change: "write order: NONE", File: "own.yaml", Line: 12}
}

func judged(form string, rests []patra.Question, findings ...patra.Finding) patra.Certificate {
	c := patra.Certificate{CertificateScope: patra.CertificateScope{Source: "own", Endpoint: "works"}, Form: form, Findings: findings, Rests: rests}
	c.Judge()
	return c
}

func TestACardIsJudged(t *testing.T) {
	rests := []patra.Question{patra.AskOrder, patra.AskUpper}
	agrees, open, against := finding(patra.AskOrder, patra.FindingAgrees), finding(patra.AskOrder, patra.FindingUndecided), finding(patra.AskOrder, patra.FindingContradicts)
	upper, days := finding(patra.AskUpper, patra.FindingFound), finding(patra.AskDays, patra.FindingAgrees)
	for name, c := range map[string]struct {
		card patra.Certificate
		want string
	}{
		"all that the witness rests on agrees":  {judged(patra.CertificateFull, rests, agrees, upper), patra.BasisCertified},
		"parts that add up tell the end":        {judged(patra.CertificateFull, rests, agrees, days), patra.BasisCertified},
		"one is open":                           {judged(patra.CertificateFull, rests, open, upper), patra.CertificateUndecided},
		"one was not asked":                     {judged(patra.CertificateFull, rests, agrees), patra.CertificateUndecided},
		"a short form certifies nothing":        {judged(patra.CertificateShort, rests, agrees, upper), patra.CertificateUndecided},
		"a short form contradicts":              {judged(patra.CertificateShort, rests, against), patra.BasisContradicted},
		"a contradiction counts whatever rests": {judged(patra.CertificateFull, nil, against), patra.BasisContradicted},
	} {
		if c.card.Verdict != c.want {
			t.Errorf("%s: %s", name, c.card.Verdict)
		}
	}
}

func TestBasisOfCertificates(t *testing.T) {
	rests := []patra.Question{patra.AskOrder}
	full := func(v patra.FindingVerdict) patra.Certificate {
		return judged(patra.CertificateFull, rests, finding(patra.AskOrder, v))
	}
	short := func(q patra.Question, v patra.FindingVerdict) patra.Certificate {
		return judged(patra.CertificateShort, rests, finding(q, v))
	}
	index := short(patra.AskPosition, patra.FindingFound)
	index.Found = patra.FoundClaims{Stability: "SHIFTING"}
	for name, c := range map[string]struct {
		cards []patra.Certificate // newest first
		want  string
		found string
	}{
		"none":                               {nil, "", ""},
		"certified":                          {[]patra.Certificate{full(patra.FindingAgrees)}, patra.BasisCertified, ""},
		"undecided":                          {[]patra.Certificate{full(patra.FindingUndecided)}, "", ""},
		"contradicted":                       {[]patra.Certificate{full(patra.FindingContradicts)}, patra.BasisContradicted, ""},
		"contradicted in short":              {[]patra.Certificate{short(patra.AskOrder, patra.FindingContradicts)}, patra.BasisContradicted, ""},
		"contradicted after":                 {[]patra.Certificate{full(patra.FindingContradicts), full(patra.FindingAgrees)}, patra.BasisContradicted, ""},
		"answered otherwise since":           {[]patra.Certificate{full(patra.FindingAgrees), full(patra.FindingContradicts)}, patra.BasisCertified, ""},
		"not answered since":                 {[]patra.Certificate{full(patra.FindingUndecided), short(patra.AskOrder, patra.FindingContradicts)}, patra.BasisContradicted, ""},
		"a short form that holds":            {[]patra.Certificate{short(patra.AskOrder, patra.FindingAgrees)}, "", ""},
		"a short form after a full one":      {[]patra.Certificate{short(patra.AskOrder, patra.FindingAgrees), full(patra.FindingAgrees)}, patra.BasisCertified, ""},
		"an undecided one after a certified": {[]patra.Certificate{full(patra.FindingUndecided), full(patra.FindingAgrees)}, "", ""},
		"an index that was found":            {[]patra.Certificate{index}, "", "SHIFTING"},
		"found, and contradicted":            {[]patra.Certificate{short(patra.AskOrder, patra.FindingContradicts), index}, patra.BasisContradicted, ""},
	} {
		basis, found := patra.BasisOf(c.cards)
		if basis != c.want || found.Stability != c.found {
			t.Errorf("%s: %q, found %q", name, basis, found.Stability)
		}
		if warned := len(patra.CertificateWarnings(c.cards)) > 0; warned != (basis == patra.BasisContradicted) {
			t.Errorf("%s: warned %v", name, warned)
		}
	}
}

func TestWhenAShortFormIsNeeded(t *testing.T) {
	short := func(v patra.FindingVerdict) patra.Certificate {
		return judged(patra.CertificateShort, nil, finding(patra.AskRepeat, v))
	}
	open := short(patra.FindingUndecided)
	for name, c := range map[string]struct {
		cards []patra.Certificate
		want  bool
	}{
		"never asked": {nil, true}, "answered": {[]patra.Certificate{short(patra.FindingAgrees)}, false}, "full": {[]patra.Certificate{judged(patra.CertificateFull, nil, finding(patra.AskEnd, patra.FindingUndecided))}, false},
		"too little there": {[]patra.Certificate{open, open}, true}, "too little there, three times": {[]patra.Certificate{open, open, open}, false},
	} {
		if got := patra.NeedsShortForm(c.cards); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestACardForPeople(t *testing.T) {
	c := judged(patra.CertificateFull, []patra.Question{patra.AskOrder}, finding(patra.AskOrder, patra.FindingContradicts))
	c.Witness = patra.WitnessPlan{Witness: patra.WitnessMetAgain}
	text := c.Markdown()
	for _, want := range []string{"# own/works: CONTRADICTED", "| ORDER | CONTRADICTS | pagination.order: ASC | none | 3 of 4 |", "**own.yaml:12 endpoints.works.pagination.order**: write order: NONE.", "MET_AGAIN: a second scan meets what the first has read; about 200 %"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	p := patra.CertificateWarnings([]patra.Certificate{c})[0]
	if !strings.HasPrefix(p.Text, "own.yaml:12 endpoints.works.pagination.order: ") || p.Line != 12 || p.Code != patra.CodeContradicted {
		t.Errorf("%+v", p)
	}
}
