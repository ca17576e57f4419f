package source_test

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"patra"
	"patra/internal/source"
)

// earlier is how a recorded item looked before something happened to it, or nil if that did not happen to it.
type earlier func(item []byte) []byte

// without takes the first part that looks like this out of an item.
func without(pattern string) earlier {
	match := regexp.MustCompile(pattern)
	return func(item []byte) []byte {
		if at := match.FindIndex(item); at != nil {
			return slices.Concat(item[:at[0]], item[at[1]:])
		}
		return nil
	}
}

// withoutMember takes a member out of an item.
func withoutMember(name string) earlier {
	return changed(func(doc map[string]any) bool {
		_, has := doc[name]
		delete(doc, name)
		return has
	})
}

func changed(how func(map[string]any) bool) earlier {
	return func(item []byte) []byte {
		var doc map[string]any
		if json.Unmarshal(item, &doc) != nil || !how(doc) {
			return nil
		}
		raw, _ := json.Marshal(doc)
		return raw
	}
}

// later is how a recorded item would look after something happened to it, in the provider's own words.
type later func(item []byte) []byte

func put(pattern, by string) later {
	match := regexp.MustCompile(pattern)
	return func(item []byte) []byte {
		if at := match.FindIndex(item); at != nil {
			return slices.Concat(item[:at[0]], []byte(by), item[at[1]:])
		}
		return nil
	}
}

// updatedBy writes an update of a recorded item as Crossref writes it: as its updates of other works were recorded.
func updatedBy(kind string) later {
	return changedTo(func(doc map[string]any) {
		doc["updated-by"] = []any{map[string]any{"DOI": "10.5555/notice", "type": kind, "label": kind, "source": "publisher", "updated": map[string]any{"date-parts": []any{[]any{2019, 4, 8}}}}}
	})
}

func changedTo(how func(map[string]any)) later {
	return later(changed(func(doc map[string]any) bool { how(doc); return true }))
}

// comment adds a comment or a correction in the words of Europe PMC.
func comment(kind string) later {
	return changedTo(func(doc map[string]any) {
		doc["commentCorrectionList"] = map[string]any{"commentCorrection": []any{map[string]any{"id": "1", "source": "MED", "reference": "J. 2019", "type": kind, "orderIn": 1}}}
	})
}

func pubType(kind string) later {
	return changedTo(func(doc map[string]any) {
		doc["pubTypeList"] = map[string]any{"pubType": []any{"Journal Article", kind}}
	})
}

// What recorded items of real providers say when something is added to them. Where nobody recorded such an item, it is made
// of a recorded one with the word that the provider has for it.
func TestWhatNewVersionsOfRecordedItemsMean(t *testing.T) {
	var items = map[string][][]byte{}
	programs := map[string]*source.Program{}
	kinds := map[string]string{"pubmed/PubmedArticleSet": "pubmed", "crossref/work-list": "crossref", "europepmc/epmc search json": "europepmc"}
	for _, r := range recordedAnswers(t) {
		code := kinds[r.kind()]
		if code == "" || r.refused() {
			continue
		}
		p := programs[code]
		if p == nil {
			p = shippedProgram(t, code, readers[r.kind()].endpoint)
			programs[code] = p
		}
		page, _ := p.Read(r.Status, recordedBody(t, r.File), "*") // the way on is not our business here
		items[code] = append(items[code], page.Items...)
	}
	items["europepmc"] = append(items["europepmc"], coreItems(t)...)
	for _, tt := range []struct {
		source, code string
		before       earlier
		after        later
		least        int
	}{
		{"pubmed", "ABSTRACT_ADDED", without(`(?s)<Abstract>.*</Abstract>`), nil, 50},
		{"pubmed", "MESH_ADDED", without(`(?s)<MeshHeadingList>.*</MeshHeadingList>`), nil, 30},
		{"pubmed", "CORRECTED", without(`(?s)<CommentsCorrections RefType="ErratumIn">.*?</CommentsCorrections>`), nil, 1},
		{"pubmed", "CONCERN", nil, put(`RefType="CommentIn"`, `RefType="ExpressionOfConcernIn"`), 3},
		{"pubmed", "RETRACTED", nil, put(`</PublicationType>\s*</PublicationTypeList>`, `</PublicationType><PublicationType UI="D016441">Retracted Publication</PublicationType></PublicationTypeList>`), 50},
		{"pubmed", "WITHDRAWN", nil, func([]byte) []byte { return []byte(`<PMID Version="1">1</PMID>`) }, 50},
		{"crossref", "ABSTRACT_ADDED", withoutMember("abstract"), nil, 400},
		{"crossref", "REFERENCES_ADDED", withoutMember("reference"), nil, 600},
		{"crossref", "RETRACTED", nil, updatedBy("retraction"), 50},
		{"crossref", "WITHDRAWN", nil, updatedBy("withdrawal"), 50},
		{"crossref", "WITHDRAWN", nil, updatedBy("removal"), 50},
		{"crossref", "CORRECTED", nil, updatedBy("correction"), 50},
		{"crossref", "CORRECTED", nil, updatedBy("erratum"), 50},
		{"crossref", "CORRECTED", nil, updatedBy("corrigendum"), 50},
		{"crossref", "CONCERN", nil, updatedBy("expression_of_concern"), 50},
		{"crossref", "", nil, updatedBy("new_edition"), 50},
		{"europepmc", "FULL_TEXT_ADDED", changed(func(doc map[string]any) bool {
			was := doc["inEPMC"]
			doc["inEPMC"] = "N"
			return was == "Y"
		}), nil, 50},
		{"europepmc", "ABSTRACT_ADDED", withoutMember("abstractText"), nil, 1},
		{"europepmc", "MESH_ADDED", withoutMember("meshHeadingList"), nil, 1},
		{"europepmc", "RETRACTED", nil, pubType("Retracted Publication"), 50},
		{"europepmc", "RETRACTED", nil, comment("Retraction in"), 50},
		{"europepmc", "CORRECTED", nil, comment("Erratum in"), 50},
		{"europepmc", "CONCERN", nil, comment("Expression of concern in"), 50},
		{"europepmc", "WITHDRAWN", nil, pubType("Preprint-withdrawal"), 50},
		{"europepmc", "", nil, comment("Retraction of"), 50},
	} {
		p, n := programs[tt.source], 0
		facts := func(item []byte) *patra.FactHashes {
			o, err := p.Item(item, 0)
			if err != nil {
				t.Fatalf("%v in %.300s", err, item)
			}
			return o.Facts
		}
		for _, item := range items[tt.source] {
			was, is := item, item
			if tt.before != nil {
				was = tt.before(item)
			} else {
				is = tt.after(item)
			}
			if was == nil || is == nil || tt.source == "pubmed" && !strings.HasPrefix(string(was), "<PubmedArticle") {
				continue
			}
			if n++; n > 50 && tt.after != nil { // made of one or of many: the words are the same
				break
			}
			if got := p.Changes().Derive(true, facts(was), facts(is)); strings.Join(got, " ") != tt.code {
				t.Errorf("%s: %q instead of %s for %.300s", tt.source, got, tt.code, item)
				break
			}
		}
		if n < tt.least {
			t.Errorf("%s %s: %d recorded items; at least %d are known", tt.source, tt.code, n, tt.least)
		}
	}
}

// coreItems are recorded items of Europe PMC with everything that it knows, which were asked for as XML; in JSON they have the same names.
func coreItems(t *testing.T) (all [][]byte) {
	t.Helper()
	type core struct {
		ID       string   `xml:"id" json:"id"`
		Source   string   `xml:"source" json:"source"`
		Title    string   `xml:"title" json:"title"`
		Abstract string   `xml:"abstractText" json:"abstractText,omitempty"`
		Types    []string `xml:"pubTypeList>pubType" json:"-"`
		Mesh     []string `xml:"meshHeadingList>meshHeading>descriptorName" json:"-"`
	}
	for _, r := range recordedAnswers(t) {
		if r.kind() != "europepmc/epmc search xml" {
			continue
		}
		var doc struct {
			Results []core `xml:"resultList>result"`
		}
		if err := xml.Unmarshal(recordedBody(t, r.File), &doc); err != nil {
			t.Fatal(err)
		}
		for _, c := range doc.Results {
			raw, _ := json.Marshal(c)
			var item map[string]any
			if err := json.Unmarshal(raw, &item); err != nil || c.ID == "" {
				t.Fatal(fmt.Errorf("%s: %w", r.File, err))
			}
			item["pubTypeList"] = map[string]any{"pubType": c.Types}
			if len(c.Mesh) > 0 {
				var headings []any
				for _, name := range c.Mesh {
					headings = append(headings, map[string]any{"majorTopic_YN": "N", "descriptorName": name})
				}
				item["meshHeadingList"] = map[string]any{"meshHeading": headings}
			}
			raw, _ = json.Marshal(item)
			all = append(all, raw)
		}
	}
	return all
}
