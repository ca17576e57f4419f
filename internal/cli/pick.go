package cli

import (
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"patra"
)

// pickFlags say which known records an update by id is for.
type pickFlags struct {
	stale, share, idsFile string
	mapping, signals      bool
	ids                   []string
}

func (f *pickFlags) add(fl *pflag.FlagSet) {
	fl.StringVar(&f.stale, "stale", "", "UPDATE by id: records that nobody has looked at for so long, such as 30d; the stalest first")
	fl.StringVar(&f.share, "share", "", "with --stale: at most this share of the known records, such as 1/30 (default one run a day for all of them)")
	fl.BoolVar(&f.mapping, "changed-mapping", false, "UPDATE by id: records that were read by another mapping than the present one")
	fl.BoolVar(&f.signals, "signals", false, "UPDATE by id: records that open signals ask for")
	fl.StringSliceVar(&f.ids, "ids", nil, "UPDATE by id: these ids")
	fl.StringVar(&f.idsFile, "ids-file", "", "UPDATE by id: the ids of a file, one a line")
}

// pick is what the flags choose; nil if they choose nothing.
func (f pickFlags) pick() (*patra.RecordSelector, error) {
	chosen := []string{}
	for flag, set := range map[string]bool{"--stale": f.stale != "", "--changed-mapping": f.mapping, "--signals": f.signals, "--ids": len(f.ids) > 0 || f.idsFile != ""} {
		if set {
			chosen = append(chosen, flag)
		}
	}
	slices.Sort(chosen)
	if len(chosen) > 1 {
		return nil, patra.Invalid("", "%s choose records in different ways; take one of them", strings.Join(chosen, " and "))
	}
	if f.share != "" && f.stale == "" {
		return nil, patra.Invalid("share", "{share} says how many of the stale records are taken; add {stale} 30d")
	}
	switch {
	case f.stale != "":
		return f.stalePick()
	case f.mapping:
		return &patra.RecordSelector{By: patra.PickMapping}, nil
	case f.signals:
		return &patra.RecordSelector{By: patra.PickSignals}, nil
	case len(chosen) > 0:
		ids, err := readIDs(f.ids, f.idsFile)
		if err == nil && len(ids) == 0 {
			err = patra.Invalid("", "%s has no ids", f.idsFile)
		}
		return &patra.RecordSelector{By: patra.PickNamed, IDs: ids}, err
	}
	return nil, nil
}

func (f pickFlags) stalePick() (*patra.RecordSelector, error) {
	every, err := patra.ParseSpan(f.stale)
	if err != nil {
		return nil, patra.Invalid("stale", "{stale}: %s", err)
	}
	p := &patra.RecordSelector{By: patra.PickStale, Every: every}
	if f.share == "" {
		return p, nil
	}
	runs, found := strings.CutPrefix(f.share, "1/")
	n, err := strconv.ParseInt(runs, 10, 64)
	if !found || err != nil || n < 1 {
		return nil, patra.Invalid("share", "{share} %q is not a share; write 1/30, or 1/1 for all", f.share)
	}
	p.Runs = n
	return p, nil
}
