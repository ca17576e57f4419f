package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
)

// write makes the page of results.
func (b *bench) write(path string, all []table) error {
	var w strings.Builder
	w.WriteString("# Benchmarks\n\n")
	fmt.Fprintf(&w, "Measured on %s with `make bench`: %d processors, %s records of each provider, %s, the middle one by time. All contenders and the provider share the machine.\n",
		time.Now().UTC().Format(time.DateOnly), runtime.NumCPU(), grouped(int64(b.world.records())), rounds(b.rounds))
	for _, t := range all {
		fmt.Fprintf(&w, "\n### %s\n\n", t.task.title)
		w.WriteString("| program | records/s | of the floor | CPU for 1,000 records | peak memory | requests |\n|---|---:|---:|---:|---:|---:|\n")
		for _, s := range t.scores {
			m := median(s.turns)
			fmt.Fprintf(&w, "| %s | %s | %s | %.1f ms | %d MB | %d |\n", s.contender.name, grouped(int64(m.perSecond())), t.share(s), float64(m.cpuPerThousand().Microseconds())/1000, m.Peak>>20, m.Requests)
		}
		fmt.Fprintf(&w, "\n```text\n%s```\n", t.bars())
		for _, s := range t.scores {
			if s.contender.lacks != "" {
				fmt.Fprintf(&w, "\n%s does less: %s.\n", s.contender.name, s.contender.lacks)
			}
		}
	}
	return os.WriteFile(path, []byte(w.String()), 0o644)
}

func rounds(n int) string {
	if n == 1 {
		return "1 round"
	}
	return fmt.Sprintf("%d rounds", n)
}

// floor is what a contender is measured against: whoever does the bare work into the same engine.
func (t table) floor(s score) *score {
	engine := "SQLite"
	if strings.Contains(s.contender.name, "MariaDB") {
		engine = "MariaDB"
	}
	for i := range t.scores {
		if t.scores[i].contender.name == "floor, "+engine {
			return &t.scores[i]
		}
	}
	return nil
}

func (t table) share(s score) string {
	f := t.floor(s)
	if f == nil {
		return ""
	}
	return fmt.Sprintf("%.0f %%", 100*median(s.turns).perSecond()/median(f.turns).perSecond())
}

// bars draws records a second.
func (t table) bars() string {
	const width = 50
	var most float64
	for _, s := range t.scores {
		most = max(most, median(s.turns).perSecond())
	}
	var w strings.Builder
	for _, s := range t.scores {
		rate := median(s.turns).perSecond()
		fmt.Fprintf(&w, "%-16s %s %s\n", s.contender.name, strings.Repeat("█", max(1, int(width*rate/most))), grouped(int64(rate)))
	}
	return w.String()
}

// grouped is a number with commas.
func grouped(n int64) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
