package config

import (
	"fmt"
	"net/url"

	"patra/internal/strictyaml"
)

// Trace sets where it is told what each request belongs to.
type Trace struct {
	URL       string  `yaml:"url" json:"url"`             // of a collector that takes OTLP over HTTP; empty: nothing is traced
	Sample    Percent `yaml:"sample" json:"sample"`       // of the runs; plans are always traced
	Propagate Switch  `yaml:"propagate" json:"propagate"` // on: providers are told which run and trace a request belongs to
}

// On reports whether anything is traced.
func (t Trace) On() bool { return t.URL != "" }

func (t Trace) findings() []finding {
	var all findings
	all.add(t.place())
	all.add(outOfRange("trace.sample", fmt.Sprintf("sample must be from 1%% to 100%%, not %s", t.Sample)), t.Sample.legal())
	all.add(finding{paths: []string{"trace.propagate"}, code: strictyaml.CodeBadValue,
		text: fmt.Sprintf("trace.propagate is on or off, and not %q", t.Propagate), hint: "write on or off"}, t.Propagate == "on" || t.Propagate == "off")
	return all
}

// place never repeats the URL, which may hold what somebody took for the right place of a password.
func (t Trace) place() (finding, bool) {
	f := finding{paths: []string{"trace.url"}, code: strictyaml.CodeBadValue, text: `url must begin with "http://" or "https://" and name a host`,
		hint: "write that of a collector, such as http://127.0.0.1:4318, or leave it out"}
	if t.URL == "" {
		return f, true
	}
	u, err := url.Parse(t.URL)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return f, false
	}
	f.text = "url must have no user and nothing after a question mark: what a collector asks for goes into OTEL_EXPORTER_OTLP_HEADERS"
	return f, u.User == nil && u.RawQuery == "" && u.Fragment == ""
}
