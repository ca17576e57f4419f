package cli

import (
	"context"
	"os"

	"patra/internal/config"
	"patra/internal/evidence"
)

// sampledBodies is how many of the newest and of the oldest kept answers a doctor looks for.
const sampledBodies = 3

// examineAnswers looks for a few of the answers that the ledger says are kept: whether they are there, and what they should be.
func (a *app) examineAnswers(ctx context.Context, cfg config.Config) ([]finding, error) {
	if cfg.Evidence.URL == config.EvidenceNone {
		return nil, nil
	}
	sample, err := a.store.SampleBodies(ctx, now(), sampledBodies)
	if err != nil || len(sample) == 0 {
		return nil, err
	}
	if dir, ok := folderOf(cfg, cfg.Evidence.URL, besideStore); ok {
		if _, err := os.Stat(dir); err != nil { // looking makes no folder
			return []finding{judgeAnswers(len(sample), len(sample), 0, dir)}, nil
		}
	}
	kept, err := a.evidence(cfg)
	if err != nil {
		return nil, nil //nolint:nilerr // whoever tries the place says so
	}
	ctx, cancel := context.WithTimeout(ctx, placeTime)
	defer cancel()
	missing, broken := 0, 0
	for _, b := range sample {
		switch d, err := kept.Inspect(ctx, b, true); {
		case err != nil:
			return []finding{fail("answers", "See that evidence.url is right and answers", "A kept answer cannot be looked for: %s", err)}, nil
		case d == nil:
		case d.Kind == evidence.DamageNoBlob:
			missing++
		default:
			broken++
		}
	}
	return []finding{judgeAnswers(len(sample), missing, broken, kept.Place().String())}, nil
}

// judgeAnswers says what a sample of the kept answers means. That none is there is more likely a wrong place than a loss.
func judgeAnswers(looked, missing, broken int, where string) finding {
	const all = "Run patra check, which looks for all of them; put back a backup of that place"
	switch {
	case missing == looked:
		return fail("answers", "See that evidence.url is right, or put back a backup of that place; patra check looks for all of them",
			"None of the %d kept answers that were looked for is in %s", looked, where)
	case missing+broken > 0:
		return damaged("answers", all, "Of %d kept answers that were looked for in %s, %d are not there and %d are damaged",
			looked, where, missing, broken)
	}
	return passed("answers", "%d of the kept answers, the newest and the oldest, are there and whole", looked)
}
