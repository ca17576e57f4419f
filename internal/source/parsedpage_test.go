package source_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"patra"
	"patra/internal/source"
)

// alone is every item of a page, read as if there were no page around it.
func alone(p *source.Program, page source.Page) (all []patra.Observation, errs []error) {
	for _, raw := range page.Items {
		o, err := p.Item(raw, 7)
		all, errs = append(all, o), append(errs, err)
	}
	return all, errs
}

// together is every item of a page, read where it stands.
func together(p *source.Program, page *source.Page) (all []patra.Observation, errs []error) {
	for o, err := range p.Records(page, 7) {
		all, errs = append(all, o), append(errs, err)
	}
	return all, errs
}

// TestAnItemIsReadInItsPageAsAlone: whether an item is read where it stands or by itself, it is the same record, or the
// same fault.
func TestAnItemIsReadInItsPageAsAlone(t *testing.T) {
	read := 0
	for _, code := range shippedCodes(t) {
		for name := range shippedFile(t, code).Endpoints {
			p := shippedProgram(t, code, name)
			first, last := pageFiles(name, p.Spec.Response.Format)
			for _, file := range []string{first, last} {
				body, err := os.ReadFile(filepath.Join(ownPages, code, file))
				if err != nil {
					continue
				}
				page, err := p.Read(200, body, p.Spec.First())
				if err != nil {
					continue
				}
				read += sameAsAlone(t, code+"/"+file, p, page)
			}
		}
	}
	if read < 40 {
		t.Errorf("only %d items were compared", read)
	}
}

func sameAsAlone(t *testing.T, name string, p *source.Program, page source.Page) (items int) {
	t.Helper()
	want, faults := alone(p, page)
	again := page
	for _, which := range []*source.Page{&page, &page, &again} { // the second time, and in a copy, the page is done with
		if got, errs := together(p, which); !reflect.DeepEqual(got, want) || !reflect.DeepEqual(errs, faults) {
			t.Errorf("%s: in their page the items are\n%v, %v\nand alone\n%v, %v", name, got, errs, want, faults)
		}
	}
	return len(want)
}

// TestOddItemsAreReadInTheirPageAsAlone: what can be wrong with an item, and what a path can find in one.
func TestOddItemsAreReadInTheirPageAsAlone(t *testing.T) {
	p := compile(t, strings.Replace(shipped(t), `type: "$.type"`, `type: "$.of[?@.id == $.DOI].is"`, 1)) // which looks back to the item
	body := []byte(`{"message": {"next-cursor": "x", "total-results": 5, "items": [
		{"DOI": "10.1/a", "of": [{"id": "10.1/a", "is": "A"}], "score": 1, "indexed": {"date-time": "2026-05-01T00:00:00Z"}, "title": ["T\u00e9", "U"], "author": [{"family": "B", "given": null}, "C", {"ORCID": [{"b": 1, "a": 2}]}]},
		{"DOI": "10.1/X", "of": [{"id": "10.1/a", "is": "A"}, {"id": "10.1/X", "is": "X"}], "indexed": {"date-time": "2026-05-01"}, "title": [], "published": {"date-parts": [[2024, 3]]}, "abstract": null, "author": {"x": {"given": "G"}}},
		{"DOI": ["10.1/a"]},
		{"DOI": "10.1/b", "indexed": {"date-time": 5}},
		{"DOI": "10.1/d", "published": {"date-parts": [["x"]]}, "publisher": {"b": 1, "a": "\/"}, "reference": [{"key": "1"}, {}, {"key": null}]},
		{"DOI": "10.1/e", "published": [1]}, "text", 5, null, [],
		{"DOI": "10.1/c", "DOI": "10.1/d", "publisher": {"b": 1, "a": "\/"}}, {"DOI": "10.1/\ud800"}
	]}}`)
	page, err := p.Read(200, body, p.Spec.First())
	if err != nil {
		t.Fatal(err)
	}
	if got := sameAsAlone(t, "odd", p, page); got != 12 {
		t.Errorf("%d items", got)
	}
	if o, err := p.Item(page.Items[0], 7); err != nil || string(o.Fields) != `{"authors":[{"family":"B"},{},{"orcid":[{"a":2,"b":1}]}],"doi":"10.1/a","title":"Té","type":["A"]}` {
		t.Errorf("%s, %v", o.Fields, err)
	}
	if o, err := p.Item(page.Items[1], 7); err != nil || string(o.Fields) != `{"authors":[{"given":"G"}],"doi":"10.1/x","published":"2024-03","type":["X"]}` {
		t.Errorf("%s, %v", o.Fields, err)
	}
	if o, err := p.Item(page.Items[4], 7); err != nil || o.ID != "10.1/d" || string(o.Fields) != `{"doi":"10.1/d","publisher":{"a":"/","b":1}}` {
		t.Errorf("%s %s, %v", o.ID, o.Fields, err)
	}
}

// TestOddElementsAreReadInTheirPageAsAlone: an item that needs what is declared around it, or declares something itself, does
// not mean in its page what it means alone, and is read alone.
func TestOddElementsAreReadInTheirPageAsAlone(t *testing.T) {
	f := shippedProgram(t, "pubmed", "search")
	p, err := f.Spec.Second.Compile()
	if err != nil {
		t.Fatal(err)
	}
	article := func(id, inside string) string {
		return "<PubmedArticle><MedlineCitation><PMID>" + id + "</PMID><Article><ArticleTitle> T " + inside + " </ArticleTitle><AuthorList><Author a=\" x \"><LastName>L</LastName></Author></AuthorList></Article></MedlineCitation></PubmedArticle>\n"
	}
	body := []byte(`<?xml version="1.0"?><PubmedArticleSet xmlns="u" xmlns:m="v" xmlns:n="w">` + article("1", "plain") + article("2", "<m:sub>2</m:sub>") + article("3", `<i xmlns="x">y</i>`) +
		article("4", "it says m: here") + article("5", `<i m:a="1"/>`) + article("6", "<o:i/>") + article("7", "<![CDATA[<x>]]>&amp;\r\n<!-- c --><?p q?>") + article("8", `<i xmlns:m="other">y</i>`) + article("", "none") + `</PubmedArticleSet>`)
	page, err := p.Read(200, body, "")
	if err != nil {
		t.Fatal(err)
	}
	if got := sameAsAlone(t, "odd", p, page); got != 9 {
		t.Errorf("%d items", got)
	}
}
