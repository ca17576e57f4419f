package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	_ "embed"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
)

//go:embed peers/dlt_works.py
var dltWorks string

//go:embed peers/airbyte_works.py
var airbyteWorks string

//go:embed peers/benthos_works.yaml
var benthosWorks string

// benthosVersion is what the module of peers/benthos pins.
const benthosVersion = "v4.27.0"

// missing is a peer that is not here, the goal that it belongs to, and why.
type missing struct{ name, goal, why string }

// peers are the other harvesters that are here, and those that are not.
func (b *bench) peers(ctx context.Context, folder string) (here []contender, away []missing) {
	if !b.has("peers") {
		const why = "nobody asked for peers"
		return nil, []missing{{"Benthos", "json.benthos", why}, {"dlt", "json.dlt", why}, {"Airbyte's CDK", "json.airbyte", why}, {"metha", "oai.metha", why}}
	}
	if program, err := buildBenthos(ctx, folder); err != nil {
		away = append(away, missing{"Benthos", "json.benthos", "it could not be built: " + lastLine(err.Error())})
	} else {
		here = append(here, benthos(program))
	}
	for _, library := range []struct {
		name, goal, module, distribution string
		make                             func(python, version string) contender
	}{{"dlt", "json.dlt", "dlt", "dlt", dlt}, {"Airbyte's CDK", "json.airbyte", "airbyte_cdk", "airbyte-cdk", airbyte}} {
		if b.python == "" {
			away = append(away, missing{library.name, library.goal, "BENCH_PYTHON names no Python that has it"})
			continue
		}
		out, err := exec.CommandContext(ctx, b.python, "-c", "import "+library.module+", importlib.metadata; print(importlib.metadata.version('"+library.distribution+"'))").CombinedOutput()
		if err != nil {
			away = append(away, missing{library.name, library.goal, "the Python of BENCH_PYTHON does not have it: " + lastLine(string(out))})
			continue
		}
		here = append(here, library.make(b.python, lastLine(string(out))))
	}
	if b.metha == "" {
		return here, append(away, missing{"metha", "oai.metha", "BENCH_METHA names no program"})
	}
	out, err := exec.CommandContext(ctx, b.metha, "-v").Output()
	if err != nil {
		return here, append(away, missing{"metha", "oai.metha", "the program of BENCH_METHA does not start: " + err.Error()})
	}
	return append(here, metha(b.metha, strings.TrimSpace(string(out)))), away
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}

// buildBenthos makes the program of peers/benthos, which is a module of its own: its hundred dependencies are none of ours.
func buildBenthos(ctx context.Context, folder string) (string, error) {
	path := filepath.Join(folder, "benthos")
	root, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return "", err
	}
	for try := 0; ; try++ {
		cmd := exec.CommandContext(ctx, "go", "build", "-o", path, ".")
		cmd.Dir, cmd.Env = filepath.Join(strings.TrimSpace(string(root)), "bench", "peers", "benthos"), append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false")
		out, err := cmd.CombinedOutput()
		if err == nil {
			return path, nil
		}
		if try == 2 || ctx.Err() != nil {
			return "", fmt.Errorf("%w\n%s", err, out)
		}
		<-time.After(time.Second) // a proxy of modules that is asked too much refuses for a while
	}
}

// benthos is the engine of Redpanda Connect.
func benthos(program string) contender {
	return contender{name: "Benthos, SQLite", version: benthosVersion, tasks: []string{"json"}, kind: peer, share: 2,
		lacks: "no ledger, no proof of completeness, no resuming inside a run, no history, no evidence; how many pages a day has must be known before",
		command: func(ctx context.Context, r round) (*exec.Cmd, error) {
			file, err := r.into("works.yaml", benthosWorks)
			if err != nil {
				return nil, err
			}
			ofADay := (r.world.PerDay+999)/1000 + 1 // the last is empty
			cmd := exec.CommandContext(ctx, program, "-c", file)
			cmd.Env = append(os.Environ(), "BASE="+r.base, "FIRST="+r.first(), "FILE="+filepath.Join(r.folder, "benthos.db"),
				fmt.Sprint("PAGES=", r.world.Days*ofADay), fmt.Sprint("PAGES_OF_A_DAY=", ofADay), fmt.Sprint("WORKERS=", r.workers))
			return cmd, nil
		},
		count: func(ctx context.Context, r round) (int64, error) {
			return counted(ctx, "sqlite", filepath.Join(r.folder, "benthos.db"), "record")
		}}
}

// dlt is the Python library, with its REST source and its SQL destination.
func dlt(python, version string) contender {
	return contender{name: "dlt, SQLite", version: version, tasks: []string{"json"}, kind: peer, share: 4,
		lacks: "no ledger, no proof of completeness, no resuming inside a run, no rate limit, no history, no evidence",
		command: func(ctx context.Context, r round) (*exec.Cmd, error) {
			script, err := r.into("works.py", dltWorks)
			if err != nil {
				return nil, err
			}
			cmd := exec.CommandContext(ctx, python, script, r.base, r.first(), fmt.Sprint(r.world.Days), filepath.Join(r.folder, "dlt.db"))
			cmd.Env = append(os.Environ(), "RUNTIME__DLTHUB_TELEMETRY=false", "HOME="+r.folder)
			return cmd, nil
		},
		count: func(ctx context.Context, r round) (int64, error) {
			return counted(ctx, "sqlite", filepath.Join(r.folder, "dlt.db"), "works")
		}}
}

// airbyte is Airbyte's library for sources. A source stores nothing: it writes its records to its output.
func airbyte(python, version string) contender {
	return contender{name: "Airbyte CDK", version: version, tasks: []string{"json"}, kind: peer, share: 4,
		lacks: "it stores nothing, its records are lines of its output; no ledger, no proof of completeness, no resuming inside a day, no history, no evidence",
		command: func(ctx context.Context, r round) (*exec.Cmd, error) {
			script, err := r.into("works.py", airbyteWorks)
			if err != nil {
				return nil, err
			}
			cmd := exec.CommandContext(ctx, python, script, r.base, r.first(), fmt.Sprint(r.world.Days), fmt.Sprint(r.workers))
			cmd.Env = append(os.Environ(), "HOME="+r.folder)
			return cmd, nil
		},
		count: func(_ context.Context, r round) (int64, error) {
			f, err := os.Open(r.said())
			if err != nil {
				return 0, err
			}
			defer f.Close()
			return linesWith(f, `"type":"RECORD"`)
		}}
}

// metha harvests OAI-PMH into compressed files.
func metha(program, version string) contender {
	return contender{name: "metha", version: version, tasks: []string{"oai"}, kind: peer,
		lacks: "it stores no records, its answers are compressed files with every version; no ledger, no proof of completeness, no rate limit",
		command: func(ctx context.Context, r round) (*exec.Cmd, error) {
			return exec.CommandContext(ctx, program, "-base-dir", r.folder, "-daily", "-format", "oai_dc", "-from", r.first(), "-until", r.world.until().AddDate(0, 0, -1).Format(time.DateOnly), r.base+r.task.path), nil
		},
		count: func(_ context.Context, r round) (n int64, err error) {
			err = filepath.WalkDir(r.folder, func(path string, d os.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				text, err := unpacked(path)
				n += int64(bytes.Count(text, []byte("<identifier>")))
				return err
			})
			return n, err
		}}
}

// unpacked is what is in a compressed file: metha wrote them with gzip, and now with zstd.
func unpacked(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var plain io.Reader
	switch filepath.Ext(path) {
	case ".gz":
		plain, err = gzip.NewReader(f)
	case ".zst":
		plain, err = zstd.NewReader(f, zstd.WithDecoderConcurrency(1))
	default:
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return io.ReadAll(plain)
}

// linesWith counts the lines that have a text in them.
func linesWith(in io.Reader, text string) (n int64, err error) {
	r := bufio.NewReaderSize(in, 1<<20)
	for {
		line, err := r.ReadBytes('\n')
		if bytes.Contains(bytes.ReplaceAll(line[:min(len(line), 200)], []byte(" "), nil), []byte(text)) {
			n++
		}
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}
