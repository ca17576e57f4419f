package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"patra"
)

func (a *app) gateWatchCmd() *cobra.Command {
	var out format
	every, lasts := 2*time.Second, time.Duration(0)
	c := &cobra.Command{
		Use: "watch [SOURCE|KEY]", Short: "Show the gate again and again, until Ctrl-C", Args: atMostOne,
		Long:    "Watch shows what patra gate status shows, again and again. A terminal is redrawn in place; elsewhere each look is a block\nof lines that begins with its time, with -o json one line,\nand with -o yaml one document.",
		Example: "  patra gate watch crossref --every 1s\n  patra gate watch --for 1m -o json > gate.jsonl",
		RunE: func(c *cobra.Command, args []string) error {
			if every < 100*time.Millisecond {
				return patra.Invalid("every", "{every} %s is too often; write at least 100ms", every)
			}
			if lasts < 0 {
				return patra.Invalid("for", "{for} %s lies in the past", lasts)
			}
			s, err := a.open(c.Context())
			if err != nil {
				return err
			}
			only := strings.Join(args, "")
			board, err := a.gateBoard(c.Context(), s, only)
			if err != nil {
				return err
			}
			return watch(c.Context(), every, lasts, a.screen(), func(ctx context.Context, w io.Writer) error {
				views, err := board.look(ctx)
				if err != nil {
					return err
				}
				switch out {
				case "table":
				case "yaml":
					fmt.Fprintln(w, "---")
					return printValue(w, out, gateSnapshot{now(), views})
				default:
					return printJSON(w, gateSnapshot{now(), views}, "")
				}
				fmt.Fprintf(w, "%s  every %s, Ctrl-C ends\n", seconds(now()), every)
				printGates(w, views, only != "")
				return nil
			})
		},
	}
	c.Flags().DurationVar(&every, "every", every, "time between two looks")
	c.Flags().DurationVar(&lasts, "for", 0, "end by itself after this time; 0 is never")
	formatFlag(c, &out)
	return c
}

// gateSnapshot is one look at the gate, for programs.
type gateSnapshot struct {
	At   patra.Instant `json:"at"`
	Keys []gateView    `json:"keys"`
}

// watch looks again and again. Being told to stop is a good end.
func watch(ctx context.Context, every, lasts time.Duration, to io.Writer, look func(context.Context, io.Writer) error) error {
	var over <-chan time.Time
	if lasts > 0 {
		over = time.After(lasts)
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		var b bytes.Buffer
		err := look(ctx, &b)
		if ctx.Err() != nil {
			return nil
		}
		if err == nil {
			_, err = to.Write(b.Bytes())
		}
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-over:
			return nil
		case <-tick.C:
		}
	}
}

// screen is where each look takes the place of the one before, if there is a terminal. Elsewhere they follow each other.
func (a *app) screen() io.Writer {
	width, ok := terminalWidth(a.stdout)
	if !ok {
		return a.stdout
	}
	return &liveScreen{to: a.stdout, width: width}
}

// liveScreen redraws in place: it goes back up over what it wrote and writes anew.
type liveScreen struct {
	to    io.Writer
	width int
	lines int // of the last look
}

// Write implements io.Writer; each call is one look.
func (s *liveScreen) Write(p []byte) (int, error) {
	var b bytes.Buffer
	if s.lines > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", s.lines)
	}
	b.WriteString("\x1b[J") // away with everything below
	b.Write(p)
	s.lines = 0
	for line := range strings.Lines(string(p)) { // one that is wider than the terminal takes more of its lines
		s.lines += 1 + max(len([]rune(strings.TrimRight(line, "\n")))-1, 0)/max(s.width, 1)
	}
	if _, err := s.to.Write(b.Bytes()); err != nil {
		return 0, err
	}
	return len(p), nil
}
