package cli

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"patra/internal/config"
	"patra/internal/executor"
)

// On a terminal what is logged stands above the bar, in lines of its own.
func TestLogLinesAndBarsDoNotMix(t *testing.T) {
	tty, screen := terminal(t, 120)
	shown := make(chan []byte)
	go func() {
		all, _ := io.ReadAll(screen)
		shown <- all
	}()
	a := &app{stderr: tty, stdout: io.Discard}
	bar := a.progress(&summary{started: time.Now(), runTally: runTally{Faults: map[string]int64{}}}, "crossref/works", 1000)
	log := a.logger(config.Config{})
	for n := range 40 {
		bar.observe(executor.Event{Kind: executor.EventDone})
		log.WarnContext(context.Background(), "healing", "n", n)
		<-time.After(10 * time.Millisecond) // the bar is drawn in between
	}
	bar.finish()
	log.WarnContext(context.Background(), "healing", "n", "last")
	if err := tty.Close(); err != nil {
		t.Fatal(err)
	}
	lines := drawn(<-shown)
	text := strings.Join(lines, "\n")
	for n := range 40 {
		if !strings.Contains(text, fmt.Sprintf("msg=healing n=%d\n", n)) {
			t.Fatalf("line %d is not on the screen:\n%s", n, text)
		}
	}
	if bars := strings.Count(text, "crossref/works"); bars != 1 || !strings.Contains(text, "n=last") {
		t.Errorf("%d bars are on the screen:\n%s", bars, text)
	}
}

var control = regexp.MustCompile("^\x1b\\[([0-9;?]*)([A-Za-z])")

// drawn is what stands on an endless terminal after some text: lines, and what a bar does to draw itself again.
func drawn(text []byte) (lines []string) {
	row := 0
	lines = []string{""}
	for len(text) > 0 {
		if m := control.FindSubmatch(text); m != nil {
			n, _ := strconv.Atoi(string(m[1]))
			switch string(m[2]) {
			case "A":
				row = max(row-max(n, 1), 0)
			case "J":
				lines = append(lines[:row], "")
			case "K":
				lines[row] = ""
			}
			text = text[len(m[0]):]
			continue
		}
		switch c := text[0]; c {
		case '\n':
			if row++; row == len(lines) {
				lines = append(lines, "")
			}
		case '\r':
		default:
			lines[row] += string(rune(c))
		}
		text = text[1:]
	}
	return lines
}
