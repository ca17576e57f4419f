package config

import (
	"fmt"
	"regexp"

	"patra"
	"patra/internal/schedule"
	"patra/internal/strictyaml"
)

// Schedule is work that is asked for again and again, at times in UTC.
type Schedule struct {
	Name      string            `yaml:"name" json:"name"` // its own; fires are kept under it, so another name is another schedule
	Cron      schedule.Cron     `yaml:"cron" json:"cron"`
	Source    string            `yaml:"source" json:"source"`
	Endpoint  string            `yaml:"endpoint" json:"endpoint,omitempty"` // empty for the source's own choice
	Operation patra.Operation   `yaml:"operation" json:"operation"`
	Query     string            `yaml:"query" json:"query,omitempty"`       // empty for everything
	Origin    *patra.Instant    `yaml:"origin" json:"origin,omitempty"`     // where the first harvest begins
	Campaign  string            `yaml:"campaign" json:"campaign,omitempty"` // of a BACKFILL or an UPDATE
	By        string            `yaml:"by" json:"by,omitempty"`             // of an UPDATE: TIME, or which known records are fetched by their ids
	Every     string            `yaml:"every" json:"every,omitempty"`       // of an UPDATE by STALE: how old is too old, such as 30d
	Params    map[string]string `yaml:"params" json:"params,omitempty"`     // of the source
	Paused    bool              `yaml:"paused" json:"paused,omitempty"`     // kept, and not fired
}

// maxCampaign is how many bytes of a campaign's name the store keeps.
const maxCampaign = 64

var scheduleName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}$`)

// UnmarshalYAML lays what was written over the defaults: those of an item of a list can stand nowhere else.
func (s *Schedule) UnmarshalYAML(read func(any) error) error {
	type bare Schedule // without this method, which would call itself
	b := bare(defaultSchedule())
	err := read(&b)
	*s = Schedule(b)
	return err
}

// scheduleFindings looks at all schedules, as a name must not be used twice.
func (c Config) scheduleFindings() []finding {
	var all []finding
	first := map[string]string{} // path by name
	for i, s := range c.Schedules {
		path := strictyaml.Index("schedules", i)
		all = append(all, s.findings(path)...)
		if at, twice := first[s.Name]; twice && s.Name != "" {
			all = append(all, finding{paths: []string{path + ".name", at + ".name"}, code: strictyaml.CodeBadValue,
				text: fmt.Sprintf("the name %q is that of %s already", s.Name, at), hint: "give each schedule a name of its own"})
			continue
		}
		first[s.Name] = path
	}
	return all
}

// findings looks at one schedule, which stands at path. Whether there is such a source is not known here.
func (s Schedule) findings(path string) []finding {
	var all findings
	bad := func(key, text, hint string) finding {
		return finding{paths: []string{path + "." + key}, code: strictyaml.CodeBadValue, text: text, hint: hint}
	}
	all.add(bad("name", "a schedule needs a name", "write one such as pubmed-daily"), s.Name != "")
	all.add(bad("name", fmt.Sprintf("the name %q is not made of small letters, digits and hyphens, at most 63", s.Name),
		"write one such as pubmed-daily"), s.Name == "" || scheduleName.MatchString(s.Name))
	all.add(bad("cron", "a schedule needs times", fmt.Sprintf("write cron: %q for a quarter past two each day, in UTC", schedule.Example)),
		!s.Cron.IsZero())
	all.add(bad("source", "a schedule needs a source", "`patra source list` shows them"), s.Source != "")
	all.add(oneOf(path+".operation", string(s.Operation), operations()))
	all.add(bad("campaign", "a HARVEST has no campaign", "leave it out, or write operation: BACKFILL"),
		s.Campaign == "" || s.Operation != patra.Harvest)
	all.add(bad("campaign", fmt.Sprintf("the campaign's name has more than %d bytes", maxCampaign), ""), len(s.Campaign) <= maxCampaign)
	return append(all, s.pickFindings(path, bad)...)
}

// Which records an UPDATE is for. Other ways to pick are for people only.
const byTime = "TIME"

var picks = []string{byTime, string(patra.PickAll), string(patra.PickStale), string(patra.PickSignals), string(patra.PickMapping)}

func (s Schedule) pickFindings(path string, bad func(key, text, hint string) finding) []finding {
	var all findings
	all.add(bad("by", "only an UPDATE says which records it is for", "leave it out, or write operation: UPDATE"), s.By == "" || s.Operation == patra.Update)
	if s.By != "" {
		all.add(oneOf(path+".by", s.By, picks))
	}
	all.add(bad("every", "an update of stale records needs to know how old is too old", "write every: 30d"), s.Every != "" || s.By != string(patra.PickStale))
	all.add(bad("every", "only an update of stale records has an age", "leave it out, or write by: STALE"), s.Every == "" || s.By == string(patra.PickStale))
	if s.Every != "" {
		_, err := patra.ParseSpan(s.Every)
		all.add(bad("every", fmt.Sprintf("%q is not a duration", s.Every), "write one such as 30d, 2w or 12h"), err == nil)
	}
	return all
}

func operations() []string {
	var words []string
	for _, o := range patra.Operations {
		words = append(words, string(o))
	}
	return words
}
