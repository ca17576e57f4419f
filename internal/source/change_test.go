package source_test

import (
	"slices"
	"strings"
	"testing"

	"patra"
)

// What the rules of shipped sources say about two versions of a record.
func TestWhatNewVersionsOfShippedSourcesMean(t *testing.T) {
	article := func(inside, types, comments string) string {
		return `<PubmedArticle><MedlineCitation><PMID>1</PMID><Article><ArticleTitle>T</ArticleTitle>` + inside + `<PublicationTypeList><PublicationType>Journal Article</PublicationType>` + types +
			`</PublicationTypeList></Article>` + comments + `</MedlineCitation></PubmedArticle>`
	}
	for _, tt := range []struct {
		source, endpoint, name string
		old, new               string // no old one: the first version
		want                   []string
	}{
		{"crossref", "works", "an abstract comes", `{"DOI":"10.1/a"}`, `{"DOI":"10.1/a","abstract":"x"}`, []string{"ABSTRACT_ADDED"}},
		{"crossref", "works", "an abstract changes", `{"DOI":"10.1/a","abstract":"y"}`, `{"DOI":"10.1/a","abstract":"x"}`, nil},
		{"crossref", "works", "it is retracted", `{"DOI":"10.1/a"}`, `{"DOI":"10.1/a","updated-by":[{"type":"retraction","DOI":"10.1/r"}]}`, []string{"RETRACTED"}},
		{"crossref", "works", "it comes retracted", "", `{"DOI":"10.1/a","abstract":"x","updated-by":[{"type":"retraction","DOI":"10.1/r"}]}`, []string{"RETRACTED"}},
		{"crossref", "works", "concern after a correction", `{"DOI":"10.1/a","updated-by":[{"type":"erratum","DOI":"10.1/e"}]}`,
			`{"DOI":"10.1/a","updated-by":[{"type":"erratum","DOI":"10.1/e"},{"type":"expression_of_concern","DOI":"10.1/c"}]}`, []string{"CONCERN"}},
		{"pubmed", "fetch", "an abstract and a heading come", article("", "", ""),
			article("<Abstract><AbstractText>A</AbstractText></Abstract>", "", "<MeshHeadingList><MeshHeading><DescriptorName>Humans</DescriptorName></MeshHeading></MeshHeadingList>"), []string{"ABSTRACT_ADDED", "MESH_ADDED"}},
		{"pubmed", "fetch", "it is retracted", article("", "", ""), article("", "<PublicationType>Retracted Publication</PublicationType>", ""), []string{"RETRACTED"}},
		{"pubmed", "fetch", "it is corrected", article("", "", ""),
			article("", "", `<CommentsCorrectionsList><CommentsCorrections RefType="ErratumIn"><RefSource>BMJ. 2018</RefSource></CommentsCorrections></CommentsCorrectionsList>`), []string{"CORRECTED"}},
		{"pubmed", "fetch", "it is withdrawn", article("", "", ""), `<PMID>1</PMID>`, []string{"WITHDRAWN"}},
		{"pubmed", "fetch", "nothing of that", article("", "", ""), strings.Replace(article("", "", ""), ">T<", ">U<", 1), nil},
		{"europepmc", "search", "headings come and it is retracted", `{"id":"1","source":"MED","pubTypeList":{"pubType":["research-article"]}}`,
			`{"id":"1","source":"MED","pubTypeList":{"pubType":["research-article","Retracted Publication"]},"meshHeadingList":{"meshHeading":[{"descriptorName":"Humans"}]}}`, []string{"MESH_ADDED", "RETRACTED"}},
		{"europepmc", "search", "a notice retracts it", `{"id":"1","source":"MED","pubTypeList":{"pubType":["Journal Article"]}}`,
			`{"id":"1","source":"MED","pubTypeList":{"pubType":["Journal Article"]},"commentCorrectionList":{"commentCorrection":[{"id":"2","source":"MED","type":"Retraction in"}]}}`, []string{"RETRACTED"}},
		{"europepmc", "search", "it is a notice that retracts another", `{"id":"1","source":"MED"}`,
			`{"id":"1","source":"MED","pubTypeList":{"pubType":["Retraction of Publication"]},"commentCorrectionList":{"commentCorrection":[{"id":"2","source":"MED","type":"Retraction of"}]}}`, nil},
		{"europepmc", "search", "corrected, and somebody is concerned", `{"id":"1","source":"MED"}`,
			`{"id":"1","source":"MED","commentCorrectionList":{"commentCorrection":[{"id":"2","type":"Erratum in"},{"id":"3","type":"Expression of concern in"},{"id":"4","type":"Comment in"}]}}`, []string{"CONCERN", "CORRECTED"}},
		{"europepmc", "search", "a preprint is withdrawn", `{"id":"P1","source":"PPR","pubTypeList":{"pubType":["Preprint"]}}`,
			`{"id":"P1","source":"PPR","pubTypeList":{"pubType":["Preprint","Preprint-withdrawal"]}}`, []string{"WITHDRAWN"}},
		{"crossref", "works", "it is removed", `{"DOI":"10.1/a"}`, `{"DOI":"10.1/a","updated-by":[{"type":"removal","DOI":"10.1/r"}]}`, []string{"WITHDRAWN"}},
		{"europepmc", "search", "the whole text is there", `{"id":"1","source":"MED","inEPMC":"N"}`, `{"id":"1","source":"MED","inEPMC":"Y"}`, []string{"FULL_TEXT_ADDED"}},
	} {
		t.Run(tt.source+": "+tt.name, func(t *testing.T) {
			p := shippedProgram(t, tt.source, tt.endpoint)
			read := func(text string) *patra.FactHashes {
				if text == "" {
					return nil
				}
				o, err := p.Item([]byte(text), 0)
				if err != nil {
					t.Fatal(err)
				}
				return o.Facts
			}
			if got := p.Changes().Derive(tt.old != "", read(tt.old), read(tt.new)); !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
