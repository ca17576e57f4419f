package patra_test

import (
	"slices"
	"testing"

	"patra"
)

func TestWhatANewVersionMeans(t *testing.T) {
	rules := patra.ChangeRules{Key: "r", When: map[string]patra.ChangeWhen{"ADDED": patra.WhenAppeared, "TITLE": patra.WhenChanged, "RETRACTED": patra.WhenMatches}}
	facts := func(pairs ...string) *patra.FactHashes {
		f := &patra.FactHashes{Rules: "r", Found: map[string]string{}}
		for i := 0; i < len(pairs); i += 2 {
			f.Found[pairs[i]] = pairs[i+1]
		}
		return f
	}
	for _, tt := range []struct {
		name   string
		had    bool
		old    *patra.FactHashes
		latter *patra.FactHashes
		want   []string
	}{
		{"a first version adds nothing", false, nil, facts("ADDED", "1", "TITLE", "1"), nil},
		{"a first version may be retracted", false, nil, facts("RETRACTED", "1"), []string{"RETRACTED"}},
		{"something appears", true, facts(), facts("ADDED", "1"), []string{"ADDED"}},
		{"it changes, which is not appearing", true, facts("ADDED", "1"), facts("ADDED", "2"), nil},
		{"it goes", true, facts("ADDED", "1", "TITLE", "1", "RETRACTED", "1"), facts(), nil},
		{"it changes", true, facts("TITLE", "1"), facts("TITLE", "2"), []string{"TITLE"}},
		{"a title where there was none has not changed", true, facts(), facts("TITLE", "2"), nil},
		{"it is retracted now", true, facts(), facts("RETRACTED", "1"), []string{"RETRACTED"}},
		{"it was retracted before", true, facts("RETRACTED", "1"), facts("RETRACTED", "2"), nil},
		{"several things at once, in order", true, facts("TITLE", "1"), facts("TITLE", "2", "RETRACTED", "1", "ADDED", "1"), []string{"ADDED", "RETRACTED", "TITLE"}},
		{"what was stored without rules is not known", true, nil, facts("ADDED", "1", "RETRACTED", "1"), nil},
		{"nor what was stored under others", true, &patra.FactHashes{Rules: "x"}, facts("ADDED", "1"), nil},
		{"a source without rules says nothing", true, facts(), nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := rules.Derive(tt.had, tt.old, tt.latter); !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
