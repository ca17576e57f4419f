package patra_test

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"patra"
)

func TestAProblemIsOneLineThatNamesPlaceCodeAndNextStep(t *testing.T) {
	tests := []struct {
		problem patra.Problem
		want    string
	}{
		{patra.Problem{Code: "C", Text: "it is wrong"}, "it is wrong (C)"},
		{patra.Problem{Code: "C", Text: "it is wrong", Hint: "Write it right"}, "it is wrong (C). Write it right"},
		{patra.Problem{Code: "C", Path: "a.b[0]", Text: "it is wrong"}, "it is wrong (C at a.b[0])"},
		{patra.Problem{Code: "C", File: "f.yaml", Text: "it is wrong"}, "f.yaml: it is wrong (C)"},
		{patra.Problem{Code: "C", File: "f.yaml", Line: 3, Text: "it is wrong"}, "f.yaml:3: it is wrong (C)"},
		{patra.Problem{Code: "C", File: "f.yaml", Line: 3, Col: 7, Text: "it is wrong"}, "f.yaml:3:7: it is wrong (C)"},
		{patra.Problem{Code: "C", File: "f.yaml", Col: 7, Text: "a column without a line"}, "f.yaml: a column without a line (C)"},
		{patra.Problem{Code: "C", Line: 3, Col: 7, Text: "a line without a file"}, "a line without a file (C)"},
		{patra.Problem{Code: "C", File: "f.yaml", Line: 3, Col: 7, Path: "a", Text: "all of it", Hint: "Do so"}, "f.yaml:3:7: all of it (C at a). Do so"},
	}
	for _, tt := range tests {
		if got := tt.problem.String(); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

func TestNoProblemsAreNoError(t *testing.T) {
	if err := (patra.Problems)(nil).Err(); err != nil {
		t.Errorf("nil gives %v", err)
	}
	if err := (patra.Problems{}).Err(); err != nil {
		t.Errorf("none give %v", err)
	}
}

func TestProblemsAreListedOneALineAndCanBeFoundAgain(t *testing.T) {
	ps := patra.Problems{{Code: "A", Text: "first"}, {Code: "B", Text: "second"}}
	err := fmt.Errorf("read source: %w", ps.Err())
	if want := "read source: first (A)\nsecond (B)"; err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
	if found, ok := errors.AsType[patra.Problems](err); !ok || len(found) != 2 {
		t.Errorf("found %v", found)
	}
}

func TestAFaultIsFoundUnderWhatWasWrappedAroundIt(t *testing.T) {
	fault := &patra.Fault{Level: patra.LevelFatal, Code: patra.CodeHTTP, Status: 401, Text: "refused"}
	for name, err := range map[string]error{
		"as it is": fault, "wrapped": fmt.Errorf("page 3: %w", fault), "twice": fmt.Errorf("run: %w", fmt.Errorf("page 3: %w", fault)),
		"joined": errors.Join(io.EOF, fault),
	} {
		if got := patra.AsFault(err); got != fault {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}

func TestAnUnclassifiedErrorIsOursAndMayBeRetried(t *testing.T) {
	err := fmt.Errorf("commit: %w", io.ErrUnexpectedEOF)
	got := patra.AsFault(err)
	if got.Level != patra.LevelRetry || got.Code != patra.CodeInternal || got.Text != err.Error() || !errors.Is(got, io.ErrUnexpectedEOF) {
		t.Errorf("got %+v", got)
	}
}

func TestAFaultSaysWhatHappenedWhere(t *testing.T) {
	for want, f := range map[string]patra.Fault{
		"NETWORK: it broke":                    {Code: patra.CodeNetwork, Text: "it broke"},
		"HTTP 503: busy":                       {Code: patra.CodeHTTP, Status: 503, Text: "busy"},
		"SCHEMA at $.items: gone":              {Code: patra.CodeSchema, Path: "$.items", Text: "gone"},
		"BAD_BODY 200 at $.items[3]: not text": {Code: patra.CodeBadBody, Status: 200, Path: "$.items[3]", Text: "not text"},
	} {
		if f.Error() != want {
			t.Errorf("got %q, want %q", f.Error(), want)
		}
	}
	cause := &patra.Fault{Code: patra.CodeNetwork, Err: io.EOF}
	if !errors.Is(cause, io.EOF) {
		t.Error("a fault hides its cause")
	}
}
