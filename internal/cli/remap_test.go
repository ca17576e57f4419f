package cli

import (
	"testing"

	"patra/internal/replay"
	"patra/internal/source"
	"patra/sources"
)

// A rule about changes may name a field that a new mapping does not have; the mapping can be tried all the same.
func TestAMappingIsTriedWithoutTheRulesAboutChanges(t *testing.T) {
	for _, code := range []string{"crossref", "pubmed", "europepmc"} {
		data, err := sources.Files.ReadFile(code + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		file, err := source.Load(code+".yaml", data)
		if err != nil {
			t.Fatal(err)
		}
		old, err := source.Compile(file, source.Options{Endpoint: map[string]string{"pubmed": "search"}[code], Operation: "HARVEST", Contact: "me@example.org"})
		if err != nil {
			t.Fatal(err)
		}
		spec, err := withMapping(source.Mapping{"only": file.Mapping["title"]})(old)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := replay.NewReader(spec); err != nil {
			t.Errorf("%s: %v", code, err)
		}
	}
}
