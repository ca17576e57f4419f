package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// start measures how long it takes until the program has said something short, and how large it is.
func (b *bench) start(ctx context.Context, rep *report) error {
	took := map[string][]float64{}
	for range b.starts + 1 {
		for _, word := range []string{"version", "help"} {
			began := time.Now()
			if out, err := exec.CommandContext(ctx, b.bins.patra, word).CombinedOutput(); err != nil {
				return fmt.Errorf("%s: %w\n%s", word, err, out)
			}
			took[word] = append(took[word], float64(time.Since(began).Microseconds())/1000)
		}
	}
	for word, all := range took {
		rep.figures.set("start."+word, spreadOf(all[1:]...)) // the first reads the program from the disk
	}
	if b.small {
		return nil // it is larger than the one that is released
	}
	info, err := os.Stat(b.bins.patra)
	if err != nil {
		return err
	}
	rep.figures.set("start.size", spreadOf(float64(info.Size())/1e6))
	return nil
}
