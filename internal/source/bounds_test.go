package source_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"patra"
	"patra/internal/query"
	"patra/internal/source"
	"patra/sources"
)

func discovering(t *testing.T) *source.Spec {
	t.Helper()
	return shippedProgram(t, "oai", "records").Spec
}

// What is not found out is asked for as widely as it takes; what is found out, exactly.
func TestRequestsGoByWhatWasFoundOut(t *testing.T) {
	day := patra.Window{From: patra.Date(2026, 5, 1), To: patra.Date(2026, 5, 2)}
	for _, c := range []struct {
		bounds      patra.WindowBounds
		from, until string
	}{
		{patra.WindowBounds{}, "2026-05-01", "2026-05-02"},
		{patra.WindowBounds{Precision: patra.UnitDay}, "2026-05-01", "2026-05-02"},
		{patra.WindowBounds{Precision: patra.UnitDay, Upper: patra.UpperExclusive}, "2026-05-01", "2026-05-02"},
		{patra.WindowBounds{Precision: patra.UnitDay, Upper: patra.UpperInclusive}, "2026-05-01", "2026-05-01"},
		{patra.WindowBounds{Precision: patra.UnitSecond}, "2026-05-01T00:00:00Z", "2026-05-02T00:00:00Z"},
		{patra.WindowBounds{Precision: patra.UnitSecond, Upper: patra.UpperExclusive}, "2026-05-01T00:00:00Z", "2026-05-02T00:00:00Z"},
		{patra.WindowBounds{Precision: patra.UnitSecond, Upper: patra.UpperInclusive}, "2026-05-01T00:00:00Z", "2026-05-01T23:59:59Z"},
	} {
		spec := discovering(t)
		before, _ := spec.Snapshot()
		call, err := spec.WithBounds(c.bounds).Build(query.All(), day, "", "", source.Vars{})
		if err != nil {
			t.Fatal(err)
		}
		sent, _ := url.Parse(call.URL)
		if from, until := sent.Query().Get("from"), sent.Query().Get("until"); from != c.from || until != c.until {
			t.Errorf("%v: from %s until %s", c.bounds, from, until)
		}
		if after, _ := spec.Snapshot(); after.Fingerprint != before.Fingerprint {
			t.Errorf("%v changed the spec that is stored", c.bounds)
		}
	}
}

// A source that says how its provider reads the ends of a window is not told otherwise.
func TestWhatASourceSaysIsNotFoundOut(t *testing.T) {
	spec := shippedProgram(t, "arxiv-oai", "records").Spec
	if spec.Discovers() || spec.WithBounds(patra.WindowBounds{Precision: patra.UnitSecond, Upper: patra.UpperExclusive}) != spec {
		t.Error("it is not as the file says")
	}
}

func TestPrecisionIsRead(t *testing.T) {
	p, err := discovering(t).Compile()
	if err != nil {
		t.Fatal(err)
	}
	identify := `<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/"><Identify><granularity>%s</granularity></Identify></OAI-PMH>`
	for word, want := range map[string]patra.Unit{"YYYY-MM-DD": patra.UnitDay, " YYYY-MM-DDThh:mm:ssZ ": patra.UnitSecond, "YYYY": "", "": ""} {
		got, err := p.Precision(200, fmt.Appendf(nil, identify, word))
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", word, got, err)
		}
	}
	for status, body := range map[int]string{503: "busy", 404: "no", 200: "<html>"} {
		if got, err := p.Precision(status, []byte(body)); err == nil {
			t.Errorf("%d %s: %q", status, body, got)
		}
	}
	call, err := p.Spec.BuildPrecision("https://r.example/oai", source.Vars{})
	if err != nil || call.URL != "https://r.example/oai?verb=Identify" {
		t.Errorf("%s, %v", call.URL, err)
	}
}

func TestDiscoveryIsChecked(t *testing.T) {
	text, err := sources.Files.ReadFile("oai.yaml")
	if err != nil {
		t.Fatal(err)
	}
	data := string(text)
	for _, c := range []struct{ old, new, want string }{
		{"upper: DISCOVER", "upper: DISCOVER\n      otherDate: true", "window.upper"},
		{"trust: ESTIMATE", "trust: EXACT", "window.upper"},
		{"upper: DISCOVER", "upper: INCLUSIVE_DAY", "window.upper"},
		{"precision: DISCOVER", "precision: DISCOVERED", "window.precision"},
		{`words: {"YYYY-MM-DD": DAY, "YYYY-MM-DDThh:mm:ssZ": SECOND}`, `words: {"YYYY-MM-DD": YEAR}`, "window.discover.words"},
		{`        words: {"YYYY-MM-DD": DAY, "YYYY-MM-DDThh:mm:ssZ": SECOND}`, "", "window.discover.words"},
		{`precision: "normalize-space(//*[local-name()='granularity'])"`, `precision: "///"`, "window.discover.precision"},
	} {
		if !strings.Contains(data, c.old) {
			t.Fatalf("the file does not say %q", c.old)
		}
		_, err := source.Load("oai.yaml", []byte(strings.Replace(data, c.old, c.new, 1)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.new, err)
		}
	}
}
