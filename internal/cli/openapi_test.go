package cli

import (
	"bytes"
	"os"
	"testing"
)

// The committed document is what the program says: clients are made of it.
func TestTheDocumentIsCurrent(t *testing.T) {
	a := &app{stdout: os.Stdout, stderr: os.Stderr}
	is, err := a.document()
	if err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadFile("../../docs/openapi.json")
	if err != nil || !bytes.Equal(is, kept) {
		t.Errorf("docs/openapi.json is not what patra openapi prints (%v): run make openapi", err)
	}
}
