package main

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

//go:embed peers/dlt_works.py
var dltWorks string

// dlt is the Python library, with its REST source and its SQL destination.
func dlt(python string) contender {
	return contender{name: "dlt, SQLite", tasks: []string{"json"},
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
		count: func(ctx context.Context, r round, _ string) (int64, error) {
			return counted(ctx, "sqlite", filepath.Join(r.folder, "dlt.db"), "works")
		}}
}
