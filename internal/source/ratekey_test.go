package source_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"patra"
	"patra/internal/source"
	"patra/sources"
)

// Who shares a key depends on what the source says, on the credentials that are there, and on nothing else.
func TestSharers(t *testing.T) {
	shipped, err := sources.Files.ReadFile("pubmed.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		share string
		keyed bool
		key   string
	}{
		{"SOURCE", false, "pubmed"}, {"SOURCE", true, "pubmed#ncbi"},
		{"ENDPOINT", false, "pubmed/search"}, {"ENDPOINT", true, "pubmed/search#ncbi"},
		{"HOST", false, "host:eutils.ncbi.nlm.nih.gov"}, {"HOST", true, "host:eutils.ncbi.nlm.nih.gov#ncbi"},
	} {
		text := strings.Replace(string(shipped), "rate: {perSecond: 3, burst: 3, ", fmt.Sprintf("rate: {perSecond: 3, burst: 3, share: %s, ", c.share), 1)
		f, err := source.Load("pubmed.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		have := func(string) (bool, error) { return c.keyed, nil }
		vars := source.Vars{Contact: "me@example.org", Version: "1"}
		all := f.Sharers(have, vars)
		i := slices.IndexFunc(all, func(s source.RateKeyMember) bool { return s.Endpoint == "search" })
		if len(all) != 4 || i < 0 {
			t.Fatalf("%+v", all)
		}
		s := all[i]
		if want := map[bool]float64{true: 10, false: 3}[c.keyed]; s.Limit.Key != c.key || s.Limit.PerSecond != want || (s.Secret == "ncbi") != c.keyed || s.Cost != 1 {
			t.Errorf("%s: %+v", c.share, s)
		}
		if own := all[(i+1)%4].Limit.Key == c.key; own == (c.share == "ENDPOINT") {
			t.Errorf("%s: its neighbour asks under %s", c.share, all[(i+1)%4].Limit.Key)
		}
		// What is compiled asks under the same key.
		spec, err := source.Compile(f, source.Options{Endpoint: "search", Operation: patra.Harvest, Contact: "me@example.org"})
		if err != nil {
			t.Fatal(err)
		}
		if own := spec.Sharers(have, "", vars); len(own) != 2 || own[0].Limit != s.Limit || own[1].Endpoint != "fetch" {
			t.Errorf("%s: compiled it is %+v", c.share, own)
		}
		if own := spec.Sharers(have, "http://127.0.0.1:8090/x", vars); c.share == "HOST" && !strings.HasPrefix(own[0].Limit.Key, "host:127.0.0.1:8090") {
			t.Errorf("elsewhere it is %+v", own)
		}
		shown := []source.ClientIdentity{{Where: "HEADER", Name: "User-Agent", Value: "patra/1 (mailto:me@example.org)"}, {Where: "PARAMETER", Name: "email", Value: "me@example.org"}, {Where: "PARAMETER", Name: "tool", Value: "patra"}}
		if !slices.Equal(s.Shown, shown) {
			t.Errorf("we show %+v", s.Shown)
		}
	}
}
