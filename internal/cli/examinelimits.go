package cli

import "patra/internal/config"

// What a serving process has open beside its workers: connections to the database, callers of the API, files.
const (
	filesAnyway    = 32 + 512 + 64
	filesPerWorker = 4
)

// examineLimits looks whether this process may have enough files open.
func examineLimits(cfg config.Config) []finding {
	limit, known := openFiles()
	if !known {
		return nil
	}
	return []finding{judgeLimit(limit, cfg.Executor.Workers)}
}

func judgeLimit(limit uint64, workers int) finding {
	need := uint64(filesAnyway + filesPerWorker*workers) //nolint:gosec // the number of workers is positive
	if limit < need {
		return warn("limits", "ulimit -n 65536, or LimitNOFILE=65536 in the unit of systemd", "This process may have %d files open, and with %d workers it may need %d", limit, workers, need)
	}
	return passed("limits", "%d files may be open, and %d are enough", limit, need)
}
