//go:build unix

package cli

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"patra/internal/store/storetest"
)

// cutOff starts an export into a folder and ends it with a signal when its second part is there.
func cutOff(t *testing.T, sig syscall.Signal, folder string, args ...string) (code int, stderr string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "patra", args...)
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	for sent := false; ; {
		select {
		case err := <-ended:
			if e, ok := errors.AsType[*exec.ExitError](err); ok {
				return e.ExitCode(), said.String()
			}
			t.Fatalf("it ended before it was stopped: %v, %s", err, said.String())
		case <-look.C:
			if _, err := os.Stat(filepath.Join(folder, "part-00002.csv")); err == nil && !sent {
				sent = true
				if err := cmd.Process.Signal(sig); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

// A process that is interrupted or killed in the middle of an export leaves whole parts, and the next one goes on behind
// them: every record is there once, and the cursor moves when all of it is there.
func TestAKilledExportGoesOn(t *testing.T) {
	t.Parallel()
	const n = 8_000
	storetest.Each(t, func(t *testing.T, e storetest.Engine) {
		url, _ := filled(t, e, n)
		for _, sig := range []syscall.Signal{syscall.SIGKILL, syscall.SIGINT} {
			folder := filepath.Join(t.TempDir(), "parts")
			args := []string{"records", "export", "--store", url, "--format", "csv", "--columns", "id,title", "--out", folder, "--part-size", "300rows", "--cursor", sig.String()}
			code, said := cutOff(t, sig, folder, args...)
			if sig == syscall.SIGINT && (code != exitIncomplete || !strings.Contains(said, "the same command with --resume goes on")) {
				t.Errorf("exit code %d, %s", code, said)
			}
			var stderr bytes.Buffer
			if code := run(t.Context(), args, os.Environ(), io.Discard, &stderr); code != exitIncomplete || !strings.Contains(stderr.String(), "--resume goes on with it") {
				t.Errorf("without --resume: %d, %s", code, stderr.String())
			}
			stderr.Reset()
			if code := run(t.Context(), append(args, "--resume"), os.Environ(), io.Discard, &stderr); code != 0 || !strings.Contains(stderr.String(), "of these were there from before") {
				t.Fatalf("with --resume: %d, %s", code, stderr.String())
			}
			if got := idsIn(t, folder); len(got) != n {
				t.Errorf("%d records, want %d", len(got), n)
			}
			var out bytes.Buffer
			if code := run(t.Context(), []string{"export", "show", sig.String(), "--store", url, "-o", "json"}, os.Environ(), &out, io.Discard); code != 0 || !strings.Contains(out.String(), `"state": "DONE"`) || !strings.Contains(out.String(), `"records": 8000`) {
				t.Errorf("%d, %s", code, out.String())
			}
		}
	})
}

// idsIn are the ids in a folder of tables; none may be there twice.
func idsIn(t *testing.T, folder string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "part-*.csv"))
	if err != nil || len(files) < 3 {
		t.Fatalf("%q, %v", files, err)
	}
	ids := map[string]bool{}
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(f).ReadAll()
		f.Close()
		if err != nil || rows[0][0] != "id" {
			t.Fatalf("%s: %v", name, err)
		}
		for _, row := range rows[1:] {
			if ids[row[0]] {
				t.Errorf("%s is there twice", row[0])
			}
			ids[row[0]] = true
		}
	}
	return ids
}

// Who has read enough closes the pipe; there is nothing to say about that.
func TestABrokenPipeEndsQuietly(t *testing.T) {
	url, _ := filled(t, storetest.Engines()[0], 10_000)
	cmd := exec.CommandContext(t.Context(), "patra", "records", "export", "--store", url)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, `{"source":`) {
		t.Errorf("%q, %v", line, err)
	}
	out.Close()
	if err := cmd.Wait(); err == nil || stderr.Len() > 0 {
		t.Errorf("%v, %s", err, stderr.String())
	}
}

// A disk that is full is told in a sentence, and leaves nothing under its final name.
func TestAFullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("there is no full disk here")
	}
	url, _ := filled(t, storetest.Engines()[0], 2_000)
	var stderr bytes.Buffer
	if code := run(t.Context(), []string{"records", "export", "--store", url, "--out", "/dev/full", "--format", "csv"}, os.Environ(), io.Discard, &stderr); code != exitEnvironment || !strings.Contains(stderr.String(), "the disk of /dev/full is full") {
		t.Errorf("%d, %s", code, stderr.String())
	}
}
