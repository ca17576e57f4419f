package bundle

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"html/template"

	"patra"
)

// ReportData is what a report tells.
type ReportData struct {
	Manifest Manifest
	Run      patra.Run
	Claim    *patra.Claim
	Query    string
	Pages    []ReportPage
	Events   int
}

// ReportPage is one page of a report.
type ReportPage struct {
	patra.LedgerPage
	Request  string // readable
	Response string
	Sample   string // the beginning of the body, without people's addresses
	NoBody   string // why there is none
}

//go:embed report.html
var reportText string

// Everything in a report is somebody else's text: the template escapes it by where it stands.
var reportTemplate = template.Must(template.New("report").Funcs(template.FuncMap{"fault": fault}).Parse(reportText))

// Report writes a story for people. It needs nothing else: no script, no style and no picture from anywhere.
func Report(s ReportData) ([]byte, error) {
	var b bytes.Buffer
	err := reportTemplate.Execute(&b, s)
	return b.Bytes(), err
}

// fault is a stored fault in a few words.
func fault(raw json.RawMessage) string {
	var f patra.Fault
	if len(raw) == 0 || json.Unmarshal(raw, &f) != nil {
		return ""
	}
	return f.Error()
}

// sampleSize is how much of a body a report shows.
const sampleSize = 1024

// Sample is the beginning of a body as a report shows it.
func Sample(body []byte) string {
	return patra.Mask(string(bytes.ToValidUTF8(body[:min(len(body), sampleSize)], []byte("\ufffd"))))
}

// IndentJSON is JSON with its lines indented.
func IndentJSON(raw json.RawMessage) string {
	var b bytes.Buffer
	if len(raw) == 0 || json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}
