package config

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"patra"
	"patra/internal/strictyaml"
)

// Alerts sets what needs a person, and who is told.
type Alerts struct {
	Every   Duration                `yaml:"every" json:"every"` // between two looks; 0 is never
	Keep    Duration                `yaml:"keep" json:"keep"`   // alerts that are over; 0 is for ever
	Group   int                     `yaml:"group" json:"group"` // more messages at once are one
	Rules   AlertRules              `yaml:"rules" json:"rules"`
	Sources map[string]SourceAlerts `yaml:"sources" json:"sources"` // from the file only
	Notify  []Notify                `yaml:"notify" json:"notify"`   // from the file only
}

// AlertRules sets when something is an alert. The root package says what each is about.
type AlertRules struct {
	BreakerFor      Duration `yaml:"breakerFor" json:"breakerFor"`
	StalledFor      Duration `yaml:"stalledFor" json:"stalledFor"`
	Lag             Duration `yaml:"lag" json:"lag"`
	ErrorShare      Percent  `yaml:"errorShare" json:"errorShare"`
	ErrorFor        Duration `yaml:"errorFor" json:"errorFor"`
	ThrottleShare   Percent  `yaml:"throttleShare" json:"throttleShare"`
	ThrottleFor     Duration `yaml:"throttleFor" json:"throttleFor"`
	QuarantineShare Percent  `yaml:"quarantineShare" json:"quarantineShare"`
	IdleFor         Duration `yaml:"idleFor" json:"idleFor"`
	PlanFor         Duration `yaml:"planFor" json:"planFor"`
	QuotaLeft       Percent  `yaml:"quotaLeft" json:"quotaLeft"`
	SurgeSigmas     int      `yaml:"surgeSigmas" json:"surgeSigmas"`
	SinkFailures    int      `yaml:"sinkFailures" json:"sinkFailures"`
	Off             []string `yaml:"off" json:"off"` // from the file only
}

// SourceAlerts sets what is otherwise for one source; what is zero is as for all.
type SourceAlerts struct {
	Lag             Duration `yaml:"lag" json:"lag,omitempty"`
	ErrorShare      Percent  `yaml:"errorShare" json:"errorShare,omitempty"`
	ThrottleShare   Percent  `yaml:"throttleShare" json:"throttleShare,omitempty"`
	QuarantineShare Percent  `yaml:"quarantineShare" json:"quarantineShare,omitempty"`
	Off             []string `yaml:"off" json:"off,omitempty"`
}

// Notify is a receiver of alerts.
type Notify struct {
	Name     string   `yaml:"name" json:"name"`
	Type     string   `yaml:"type" json:"type"`         // webhook
	URL      string   `yaml:"url" json:"url"`           // may be a secret; secret:NAME is one
	Template string   `yaml:"template" json:"template"` // one of NotifyTemplates
	Secret   string   `yaml:"secret" json:"secret"`     // the name of the secret that signs
	KeyID    string   `yaml:"keyId" json:"keyId"`       // of generic: which secret that is
	Local    bool     `yaml:"local" json:"local"`       // the address may be a local one, and without encryption
	Severity string   `yaml:"severity" json:"severity"` // as grave as this, or graver
	Kinds    []string `yaml:"kinds" json:"kinds"`       // none: all
	Sources  []string `yaml:"sources" json:"sources"`   // none: all
	Repeat   Duration `yaml:"repeat" json:"repeat"`     // 0: once
}

// NotifyWebhook is what alerts.notify[].type may be.
const NotifyWebhook = "webhook"

// NotifyTemplates are the forms of messages.
var NotifyTemplates = []string{"generic", "slack", "dingtalk"}

// secretURL begins an address that is named, and not said.
const secretURL = "secret:"

// URLSecret is the name of the secret that the address is; empty if it is said in plain.
func (n Notify) URLSecret() string {
	name, is := strings.CutPrefix(n.URL, secretURL)
	if !is {
		return ""
	}
	return name
}

// UnmarshalYAML lays what was written over the defaults.
func (n *Notify) UnmarshalYAML(read func(any) error) error {
	type bare Notify // without this method, which would call itself
	b := bare{Type: NotifyWebhook, Template: NotifyTemplates[0], Severity: string(patra.SeverityWarning), Repeat: Duration(4 * time.Hour)}
	err := read(&b)
	*n = Notify(b)
	return err
}

// Receiver is who is told what.
func (n Notify) Receiver() patra.Receiver {
	r := patra.Receiver{Name: n.Name, Severity: patra.Severity(n.Severity), Sources: n.Sources, Repeat: time.Duration(n.Repeat)}
	r.Kinds = kinds(n.Kinds)
	return r
}

func kinds(names []string) (all []patra.AlertKind) {
	for _, name := range names {
		all = append(all, patra.AlertKind(name))
	}
	return all
}

func share(p Percent) float64 { return float64(p) / 100 }

// Told reports whether a receiver is in the settings.
func (a Alerts) Told(receiver string) bool {
	return slices.ContainsFunc(a.Notify, func(n Notify) bool { return n.Name == receiver })
}

// Patra are the rules as the root package has them.
func (a Alerts) Patra() patra.AlertRules {
	r, d := patra.DefaultAlertRules, a.Rules
	r.BreakerFor, r.StalledFor, r.Lag, r.NobodyFor, r.PlanFor = time.Duration(d.BreakerFor), time.Duration(d.StalledFor), time.Duration(d.Lag), time.Duration(d.IdleFor), time.Duration(d.PlanFor)
	r.ErrorShare, r.ErrorFor, r.ThrottleShare, r.ThrottleFor = share(d.ErrorShare), time.Duration(d.ErrorFor), share(d.ThrottleShare), time.Duration(d.ThrottleFor)
	r.QuarantineShare, r.QuotaLeft, r.SurgeSigmas, r.SinkFailures, r.Off = share(d.QuarantineShare), share(d.QuotaLeft), float64(d.SurgeSigmas), int64(d.SinkFailures), kinds(d.Off)
	r.Sources = map[string]patra.SourceRules{}
	for code, s := range a.Sources {
		r.Sources[code] = patra.SourceRules{Lag: time.Duration(s.Lag), ErrorShare: share(s.ErrorShare), ThrottleShare: share(s.ThrottleShare), QuarantineShare: share(s.QuarantineShare), Off: kinds(s.Off)}
	}
	return r
}

// defaultAlerts are those of the root package.
func defaultAlerts() Alerts {
	r := patra.DefaultAlertRules
	part := func(f float64) Percent { return Percent(f*100 + 0.5) }
	return Alerts{Every: Duration(30 * time.Second), Keep: Duration(90 * day), Group: 5, Sources: map[string]SourceAlerts{}, Notify: []Notify{}, Rules: AlertRules{
		BreakerFor: Duration(r.BreakerFor), StalledFor: Duration(r.StalledFor), Lag: Duration(r.Lag), ErrorShare: part(r.ErrorShare), ErrorFor: Duration(r.ErrorFor), ThrottleShare: part(r.ThrottleShare), ThrottleFor: Duration(r.ThrottleFor),
		QuarantineShare: part(r.QuarantineShare), IdleFor: Duration(r.NobodyFor), PlanFor: Duration(r.PlanFor), QuotaLeft: part(r.QuotaLeft), SurgeSigmas: int(r.SurgeSigmas), SinkFailures: int(r.SinkFailures), Off: []string{}}}
}

const (
	minLook   = Duration(5 * time.Second) // below this the looking is the load
	minRepeat = Duration(time.Minute)     // below this people stop reading
	mostGroup = 50
)

// alertFindings looks at all receivers, as a name must not be used twice.
func (c Config) alertFindings() []finding {
	var all findings
	a := c.Alerts
	all.add(outOfRange("alerts.every", fmt.Sprintf("every must be 0s or at least %s, not %s", minLook, a.Every)), a.Every == 0 || a.Every >= minLook)
	all.add(outOfRange("alerts.group", fmt.Sprintf("group must be from 1 to %d, not %d", mostGroup, a.Group)), a.Group >= 1 && a.Group <= mostGroup)
	all.add(outOfRange("alerts.rules.surgeSigmas", fmt.Sprintf("surgeSigmas must be from 1 to 100, not %d", a.Rules.SurgeSigmas)), a.Rules.SurgeSigmas >= 1 && a.Rules.SurgeSigmas <= 100)
	all.add(outOfRange("alerts.rules.sinkFailures", fmt.Sprintf("sinkFailures must be from 1 to 1000, not %d", a.Rules.SinkFailures)), a.Rules.SinkFailures >= 1 && a.Rules.SinkFailures <= 1000)
	for _, d := range []struct {
		key  string
		long Duration
	}{{"breakerFor", a.Rules.BreakerFor}, {"stalledFor", a.Rules.StalledFor}, {"lag", a.Rules.Lag}, {"errorFor", a.Rules.ErrorFor}, {"throttleFor", a.Rules.ThrottleFor}, {"idleFor", a.Rules.IdleFor}, {"planFor", a.Rules.PlanFor}} {
		all.add(outOfRange("alerts.rules."+d.key, d.key+" must be more than 0s; to have no such alert, write its kind under alerts.rules.off"), d.long > 0)
	}
	all = append(all, knownKinds("alerts.rules.off", a.Rules.Off)...)
	for _, code := range slices.Sorted(maps.Keys(a.Sources)) {
		all = append(all, knownKinds(strictyaml.Join("alerts.sources", code)+".off", a.Sources[code].Off)...)
	}
	first := map[string]string{} // path by name
	for i, n := range a.Notify {
		path := strictyaml.Index("alerts.notify", i)
		all = append(all, n.findings(path, c.Secrets)...)
		if at, twice := first[n.Name]; twice && n.Name != "" {
			all = append(all, finding{paths: []string{path + ".name", at + ".name"}, code: strictyaml.CodeBadValue, text: fmt.Sprintf("the name %q is that of %s already", n.Name, at), hint: "give each receiver a name of its own"})
			continue
		}
		first[n.Name] = path
	}
	return all
}

// knownKinds looks whether there are such alerts.
func knownKinds(path string, names []string) (all findings) {
	legal := make([]string, len(patra.AlertKinds))
	for i, k := range patra.AlertKinds {
		legal[i] = string(k)
	}
	for _, name := range names {
		f, ok := oneOf(path, name, legal)
		all.add(f, ok)
	}
	return all
}

// findings never repeats the address, which may be a secret.
func (n Notify) findings(path string, secrets Secrets) []finding {
	var all findings
	bad := func(key, text, hint string) finding {
		return finding{paths: []string{path + "." + key}, code: strictyaml.CodeBadValue, text: text, hint: hint}
	}
	all.add(bad("name", fmt.Sprintf("the name %q is not made of small letters, digits and hyphens, from 1 to 47", n.Name), "write one such as ops"), scheduleName.MatchString(n.Name) && len(n.Name) < 48)
	all.add(oneOf(path+".type", n.Type, []string{NotifyWebhook}))
	all.add(oneOf(path+".template", n.Template, NotifyTemplates))
	severities := make([]string, len(patra.Severities))
	for i, s := range patra.Severities {
		severities[i] = string(s)
	}
	all.add(oneOf(path+".severity", n.Severity, severities))
	all = append(all, knownKinds(path+".kinds", n.Kinds)...)
	all.add(outOfRange(path+".repeat", fmt.Sprintf("repeat must be 0s or at least %s, not %s", minRepeat, n.Repeat)), n.Repeat == 0 || n.Repeat >= minRepeat)
	if name, named := strings.CutPrefix(n.URL, secretURL); named {
		_, known := secrets[name]
		all.add(bad("url", fmt.Sprintf("there is no secret %q", name), "set it under secrets, as in chat: env:CHAT_URL, and write url: secret:chat"), known)
	} else {
		u, err := url.Parse(n.URL)
		ok := err == nil && u.Host != "" && u.User == nil && (u.Scheme == "https" || u.Scheme == "http")
		all.add(bad("url", "the url is no web address, or names a user", "write one such as https://example.org/alerts, or secret:NAME for one that is a secret"), ok)
		all.add(bad("url", "a webhook without encryption must say that it is local", "write https, or local: true"), !ok || n.Local || u.Scheme == "https")
	}
	_, known := secrets[n.Secret]
	all.add(bad("secret", fmt.Sprintf("there is no secret %q", n.Secret), "set it under secrets, as in hook: env:NAME, and write its name here"), n.Secret == "" || known)
	all.add(bad("secret", "what is sent to Slack is not signed: its address is the secret", "leave secret out, and write url: secret:NAME"), n.Secret == "" || n.Template != "slack")
	all.add(bad("keyId", "only the template generic with a secret has a key id", "leave it out"), n.KeyID == "" || n.Template == "generic" && n.Secret != "")
	all.add(bad("keyId", "a key id is letters, digits, dots, hyphens and underscores", "write one such as 2026-11"), strings.Trim(n.KeyID, keyIDLetters) == "")
	return all
}
