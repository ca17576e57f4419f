package patra_test

import (
	"strings"
	"testing"

	"patra"
)

// What is somebody's address or number is taken out, in whatever sentence it stands.
func TestMaskTakesOutAddressesAndNumbers(t *testing.T) {
	for _, secret := range []string{
		"ada@example.org", "ada.lovelace+news@mail.example.co.uk", "O'Brien@example.org", "ADA@EXAMPLE.ORG", "a_b-c%d@sub.example.museum", "ada%40example.org",
		"+49 30 1234567", "+1 (555) 123-4567", "+8613812345678", "+44 20 7946 0958", "+33.1.23.45.67.89", "(555) 123-4567", "(555)123-4567", "555-223-4567",
	} {
		for _, around := range []string{"%", "write to % now", "<%>", `"%"`, "(%)", "mail:%", "%, or %", "%\nnext line", "contact=% end", "error: %: refused"} {
			if strings.HasPrefix(around, "contact=") && strings.ContainsAny(secret[:1], "+(5") {
				continue // in an address a plus is a space
			}
			text := strings.ReplaceAll(around, "%", secret)
			if got := patra.Mask(text); strings.Contains(got, secret) || !strings.Contains(got, "[") {
				t.Errorf("%q becomes %q", text, got)
			}
		}
	}
	for _, labelled := range []string{"Tel. 030 1234567", "tel: 0301234567", "phone=13812345678", "Fax 030/123-4567", "电话:13812345678", "手机 13812345678", "mobile: 0171 2345678"} {
		got := patra.Mask(labelled)
		if strings.Contains(got, "345") || !strings.Contains(got, "[phone") {
			t.Errorf("%q becomes %q", labelled, got)
		}
	}
}

// What only looks a little like it stays as it is: ids, dates and versions are what a log is read for.
func TestMaskLeavesWhatIsNoAddress(t *testing.T) {
	for _, text := range []string{
		"10.1002/(SICI)1097-0258(19980815/30)17:15/16<1661::AID-SIM968>3.0.CO;2-2", "10.1038/s41586-020-2649-2", "10.1234/555-223-4567", "https://doi.org/10.1016/0092-8674(93)90422-m",
		"doi:10.1000/182", "10.1093/nar/gkaa1100", "10.1016/S0140-6736(20)30183-5",
		"PMID 31978945", "pmid:31978945", "PMC7092803", "31978945,32015507,32015508", "id 12345678901",
		"0000-0002-1825-0097", "https://orcid.org/0000-0002-1825-0097", "0000-0001-5109-3700", "ISSN 2049-3630", "1234-567X", "ISBN 978-3-16-148410-0", "9783161484100",
		"2026-05-01", "2026-05-01T00:00:00.000000Z", "2026-05-01T10:00:00+02:00", "Fri, 01 May 2026 10:00:00 +0000", "2026/05/01", "20260501", "from=2026-05-01&to=2026-05-31", "q=+2026-05-01",
		"15:04:05 +1000 2026-05-01", "1767225600000000", "2026-05-01~2026-06-01",
		"v1.2.3", "1.2.3+20130313144700", "go1.26.1", "patra/0.9.0", "127.0.0.1:8080", "10.0.0.1", "[::1]:53", "1,234,567", "3.14159265358979", "1e+12345678",
		"W2741809807", "arXiv:2101.00001v2", "oai:arXiv.org:cs/0112017", "2301.12345678", "page 12 of 345", "task 17: 5 of 12 pages, 1200 records",
		"a@b", "@handle", "user@host", "sha256:9f86d081884c7d659a2feaa0c55ad015", "cursor=AoJ+1234567890", "token+12345678901", "C++ 20231010", "price 100-200-3000 EUR",
		"fluorophores at 488-561-640", "telomere 1234567", "cells 12345678", "phones 12345", "", "é", "%zz@", "100%40",
	} {
		if got := patra.Mask(text); got != text {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}

// Two that are the same are seen to be, also when they are written in other letters; and masking twice is masking once.
func TestMaskTellsAddressesApart(t *testing.T) {
	a, b, c := patra.Mask("ada@example.org"), patra.Mask("Ada@Example.org"), patra.Mask("bob@example.org")
	if a != b || a == c {
		t.Errorf("%s %s %s", a, b, c)
	}
	if again := patra.Mask(a); again != a {
		t.Errorf("%s becomes %s", a, again)
	}
}

func FuzzMask(f *testing.F) {
	f.Add("write to ada@example.org or call +49 30 1234567")
	f.Fuzz(func(t *testing.T, text string) {
		once := patra.Mask(text)
		if strings.Contains(once, "ada@example.org") {
			t.Errorf("%q becomes %q", text, once)
		}
	})
}

// The number of an identity card is known by its birthday and its check digit; other numbers of eighteen digits are ids.
func TestMaskTakesOutNumbersOfIdentityCards(t *testing.T) {
	for _, card := range []string{"11010519491231002X", "11010519491231002x", "440308199901101512"} {
		for _, around := range []string{"%", "card % of the author", "id=%&x", `{"card":"%"}`} {
			text := strings.ReplaceAll(around, "%", card)
			if got := patra.Mask(text); strings.Contains(got, card) || !strings.Contains(got, "[id ") {
				t.Errorf("%q becomes %q", text, got)
			}
		}
	}
	for _, number := range []string{"110105194912310021", "110105194913310020", "123456789012345678", "a11010519491231002X", "11010519491231002X1"} {
		if got := patra.Mask(number); got != number {
			t.Errorf("%q becomes %q", number, got)
		}
	}
}
