package patra

import (
	"fmt"
	"strings"
)

// GapView is a gap with what a person must know about it.
type GapView struct {
	Source    string    `json:"source"`
	Endpoint  string    `json:"endpoint"`
	Operation Operation `json:"operation"`
	Campaign  string    `json:"campaign,omitempty"`
	Gap
	Why  string `json:"why"`
	Next string `json:"next"`

	Repository string `json:"repository,omitempty" doc:"which of the providers behind the source it is of; nothing where the source is one provider"`
}

// GapViews are the gaps of a cursor for people: those that touch and have the same reason are one, as forty failed days are
// one thing to do. planned is where the last plan of the cursor ended, and named says that a command must name the cursor.
func GapViews(c Cursor, gaps []Gap, planned Instant, named bool, controls []Control) []GapView {
	views := []GapView{}
	if c.Operation == Harvest { // others have nothing ahead: what they are to read is planned at once
		gaps = aheadOf(gaps, planned)
	}
	for _, g := range CoalesceGaps(gaps) {
		next := g.next(c, named)
		if g.Kind == GapFailed && g.Fault != nil && g.Fault.Code == CodeDeepPaging { // reading it again meets the same end
			next = "let the source cut it finer (window.size, window.split), then " + next
		}
		if halt := HaltAt(controls, c.WorkScope()); halt != nil && g.Kind == GapFailed {
			next = "mend that, then patra resume " + ShellWord(halt.Target.String())
		}
		views = append(views, GapView{c.Source, c.Endpoint, c.Operation, c.Campaign, g, g.Reason(), next, c.Repository})
	}
	return views
}

// aheadOf tells apart what was left out, which is a gap, and what nobody has come to yet: what is missing from a moment on at which
// all that was ever planned ends.
func aheadOf(gaps []Gap, planned Instant) (all []Gap) {
	for _, g := range gaps {
		if g.Kind != GapUnplanned || g.Window.To <= planned {
			all = append(all, g)
			continue
		}
		if g.Window.From < planned {
			before := g
			before.Window.To, g.Window.From = planned, planned
			all = append(all, before)
		}
		g.Kind = GapAhead
		all = append(all, g)
	}
	return all
}

// CoalesceGaps joins stretches that touch and have the same reason.
func CoalesceGaps(gaps []Gap) (joined []Gap) {
	for _, g := range gaps {
		if n := len(joined) - 1; n >= 0 && joined[n].Window.To == g.Window.From && joined[n].Kind == g.Kind && g.Kind != GapDisputed && joined[n].Reason() == g.Reason() {
			joined[n].Window.To = g.Window.To
			continue
		}
		joined = append(joined, g)
	}
	return joined
}

// HaltAt is the halt of an endpoint, of its source or of its repository.
func HaltAt(controls []Control, place WorkScope) *Control {
	place.Repository = RepositoryKey(place.Repository)
	for _, c := range controls {
		at := c.WorkScope()
		if c.Kind == KindHalt && at.Source == place.Source && (at.Endpoint == "" || at.Endpoint == place.Endpoint) && (at.Repository == "" || at.Repository == place.Repository) {
			return &c
		}
	}
	return nil
}

// Reason is the reason of a gap as a person would say it.
func (g Gap) Reason() string {
	switch g.Kind {
	case GapWaived:
		return fmt.Sprintf("%s (%s, %s)", g.Waiver.Reason, g.Waiver.By, g.Waiver.At.Time().Format("2006-01-02"))
	case GapDisputed:
		if len(g.Missing) > 0 {
			return "the provider has shown " + NameSome(g.Missing) + " within it, which the scan did not find"
		}
		if g.Counted == nil && g.Note != "" {
			return g.Note
		}
		counted := "an unknown number"
		if g.Counted != nil {
			counted = thousands(*g.Counted)
		}
		return fmt.Sprintf("the provider counts %s, %s were read", counted, thousands(*g.Seen))
	case GapRead:
		if a := g.Accepted; a != nil {
			return fmt.Sprintf("read without a proof, which is accepted for %s: %s (%s, %s)", a.Source, a.Reason, a.By, a.At.Time().Format("2006-01-02"))
		}
		if g.Note != "" {
			return "read to its end, and not proved: " + g.Note
		}
		return "it was read to its end, and nothing would have noticed a record that was missed"
	case GapUnplanned:
		return "nobody has planned it"
	case GapAhead:
		return "the next harvest begins here"
	}
	if g.Fault == nil {
		return "no reason was kept"
	}
	return g.Fault.Error()
}

// next is the command that does something about a gap.
func (g Gap) next(c Cursor, named bool) string {
	from, to, _ := strings.Cut(g.Window.String(), "~")
	stretch := fmt.Sprintf(" %s --from %s --to %s", c.Source, from, to)
	if named {
		stretch += fmt.Sprintf(" --cursor %d", c.ID)
	}
	switch {
	case g.Kind == GapWaived:
		return "patra coverage waive" + stretch + " --revoke --reason TEXT"
	case g.Kind == GapDisputed:
		return "patra coverage fill" + stretch + " --disputed"
	case g.Kind == GapRead && g.Accepted != nil:
		return "patra coverage accept " + c.Source + " --read --revoke --reason TEXT"
	case g.Kind == GapRead:
		return "patra coverage fill" + stretch + " --read"
	case g.Kind == GapAhead && !named && c.AsksForAll(): // a fill knows the query and the parameters, which harvest would have to be told
		return "patra harvest " + c.Source
	}
	return "patra coverage fill" + stretch
}
