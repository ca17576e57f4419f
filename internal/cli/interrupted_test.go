package cli

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

// TestStoppedHarvestSaysStopped: Ctrl-C ends a harvest with "Stopped", whatever was read before.
func TestStoppedHarvestSaysStopped(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	t.Cleanup(interrupt)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("from") == "2026-05-03" {
			interrupt()
		}
		items := ""
		if r.URL.Query().Get("offset") == "0" {
			items = fmt.Sprintf(`{"id":"%s","title":"T","changed":"%[1]s"}`, r.URL.Query().Get("from"))
		}
		fmt.Fprintf(w, `{"items":[%s]}`, items)
	}))
	t.Cleanup(server.Close)
	t.Chdir(t.TempDir())
	if err := os.WriteFile("mine.yaml", []byte(doubted), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, said bytes.Buffer
	args := []string{"harvest", "mine", "--base-url", server.URL, "--from", "2026-05-01", "--to", "2026-05-20", "--workers", "1", "--no-probe"}
	if code := run(ctx, args, []string{"PATRA_SOURCES_DIR=."}, &out, &said); code != exitIncomplete {
		t.Errorf("exit code %d\n%s%s", code, &out, &said)
	}
	if text := out.String(); !strings.HasPrefix(text, "Stopped harvesting mine 2026-05-01~2026-05-20") || strings.Contains(text, "Harvested") {
		t.Errorf("%q", text)
	}
}
