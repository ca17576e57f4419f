package config

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"patra"
	"patra/internal/strictyaml"
)

// Sink is where events go.
type Sink struct {
	Name    string   `yaml:"name" json:"name"`       // its own; how far it has come is kept under it, so another name is another sink
	Type    string   `yaml:"type" json:"type"`       // one of SinkTypes
	URL     string   `yaml:"url" json:"url"`         // where it is; holds no secret
	Topic   string   `yaml:"topic" json:"topic"`     // of NATS the beginning of the subjects, of Kafka the topic
	Events  []string `yaml:"events" json:"events"`   // such as record.*; none: all
	Sources []string `yaml:"sources" json:"sources"` // none: all
	From    string   `yaml:"from" json:"from"`       // START or NOW, for a sink that is seen for the first time
	Secret  string   `yaml:"secret" json:"secret"`   // the name of a secret: a password, a token or what signs
	KeyID   string   `yaml:"keyId" json:"keyId"`     // of a webhook: which secret that is
	Local   bool     `yaml:"local" json:"local"`     // of a webhook: the address may be a local one, and without encryption
	Rotate  Bytes    `yaml:"rotate" json:"rotate"`   // of a file: how large one may become
}

// What sinks[].type and sinks[].from may be.
const (
	SinkFile    = "FILE"
	SinkNATS    = "NATS"
	SinkKafka   = "KAFKA"
	SinkWebhook = "WEBHOOK"

	FromStart = "START"
	FromNow   = "NOW"
)

// SinkTypes are the kinds of sinks.
var SinkTypes = []string{SinkFile, SinkNATS, SinkKafka, SinkWebhook}

// schemes are how the address of each kind begins, with an example.
var schemes = map[string]struct {
	begin   []string
	example string
}{
	SinkFile:    {[]string{"file"}, "file:events.jsonl"},
	SinkNATS:    {[]string{"nats", "tls"}, "nats://localhost:4222"},
	SinkKafka:   {[]string{"kafka", "kafkas"}, "kafka://localhost:9092"},
	SinkWebhook: {[]string{"https", "http"}, "https://example.org/events"},
}

// defaultSink is what holds for a sink where it says nothing.
func defaultSink() Sink { return Sink{From: FromStart, Rotate: 256 << 20} }

// UnmarshalYAML lays what was written over the defaults.
func (s *Sink) UnmarshalYAML(read func(any) error) error {
	type bare Sink // without this method, which would call itself
	b := bare(defaultSink())
	err := read(&b)
	*s = Sink(b)
	if s.Topic == "" {
		s.Topic = map[string]string{SinkNATS: "patra", SinkKafka: "patra.events"}[s.Type]
	}
	return err
}

// Filter is which events the sink wants.
func (s Sink) Filter() patra.EventFilter {
	return patra.EventFilter{Types: s.Events, Sources: s.Sources}
}

// Path is the file of a sink that is one.
func (s Sink) Path() string { return strings.TrimPrefix(strings.TrimPrefix(s.URL, "file:"), "//") }

// sinkFindings looks at all sinks, as a name must not be used twice.
func (c Config) sinkFindings() []finding {
	var all []finding
	first := map[string]string{} // path by name
	for i, s := range c.Sinks {
		path := strictyaml.Index("sinks", i)
		all = append(all, s.findings(path, c.Secrets)...)
		if at, twice := first[s.Name]; twice && s.Name != "" {
			all = append(all, finding{paths: []string{path + ".name", at + ".name"}, code: strictyaml.CodeBadValue,
				text: fmt.Sprintf("the name %q is that of %s already", s.Name, at), hint: "give each sink a name of its own"})
			continue
		}
		first[s.Name] = path
	}
	return all
}

func (s Sink) findings(path string, secrets Secrets) []finding {
	var all findings
	bad := func(key, text, hint string) finding {
		return finding{paths: []string{path + "." + key}, code: strictyaml.CodeBadValue, text: text, hint: hint}
	}
	all.add(bad("name", fmt.Sprintf("the name %q is not made of small letters, digits and hyphens, from 1 to 47", s.Name), "write one such as feed"),
		scheduleName.MatchString(s.Name) && len(s.Name) < 48)
	all.add(oneOf(path+".type", s.Type, SinkTypes))
	all.add(oneOf(path+".from", s.From, []string{FromStart, FromNow}))
	if kind, known := schemes[s.Type]; known {
		all.add(bad("url", fmt.Sprintf("the url of a sink of type %s begins with %s:", s.Type, strings.Join(kind.begin, ": or ")), "write one such as "+kind.example), s.urlFits(kind.begin))
	}
	u, err := url.Parse(s.URL)
	all.add(bad("url", "the url holds a password", "leave it out, and name a secret: secret: NAME"), !s.holdsPassword(u))
	all.add(bad("url", "the url is not a URL", "write it with the host and the number of the port, and without a password"), err == nil || s.Type == SinkFile)
	all.add(bad("url", "the url of a webhook names a user", "leave it out: a webhook is signed with the secret"), err != nil || u.User == nil || s.Type != SinkWebhook)
	_, known := secrets[s.Secret]
	all.add(bad("secret", fmt.Sprintf("there is no secret %q", s.Secret), "set it under secrets, as in "+s.Secret+": env:NAME, and write its name here"), s.Secret == "" || known)
	all.add(bad("secret", "a file needs no secret", "leave it out"), s.Secret == "" || s.Type != SinkFile)
	all.add(bad("keyId", "only a webhook with a secret has a key id", "leave it out"), s.KeyID == "" || s.Type == SinkWebhook && s.Secret != "")
	all.add(bad("keyId", "a key id is letters, digits, dots, hyphens and underscores", "write one such as 2026-11"), strings.Trim(s.KeyID, keyIDLetters) == "")
	all.add(bad("local", "only a webhook can be local", "leave it out: other sinks are where they are"), !s.Local || s.Type == SinkWebhook)
	all.add(bad("url", "a webhook without encryption must say that it is local", "write https, or local: true"), s.Type != SinkWebhook || s.Local || !strings.HasPrefix(s.URL, "http:"))
	for _, e := range s.Events {
		all.add(bad("events", fmt.Sprintf("there are no events %q", e), "write record.*, plan.*, task.*, cursor.*, or a type such as record.upserted"), patra.EventPattern(e).Known())
	}
	return all
}

const keyIDLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_"

// urlFits reports whether an address begins as it should, and says something behind it.
func (s Sink) urlFits(begin []string) bool {
	scheme, rest, _ := strings.Cut(s.URL, ":")
	return slices.Contains(begin, scheme) && strings.Trim(rest, "/") != "" && (s.Type == SinkFile || strings.HasPrefix(rest, "//"))
}

// holdsPassword reports whether there is a password in an address, u if it could be read. Of several addresses any may have
// one, and one that makes an address unreadable would be shown with the settings all the same.
func (s Sink) holdsPassword(u *url.URL) bool {
	if s.Type == SinkFile {
		return false
	}
	if s.Type == SinkWebhook && u != nil {
		_, has := u.User.Password()
		return has
	}
	return slices.ContainsFunc(strings.Split(s.URL, ","), func(address string) bool {
		if _, rest, ok := strings.Cut(address, "://"); ok {
			address = rest
		}
		at := strings.LastIndexByte(address, '@')
		return at >= 0 && strings.Contains(address[:at], ":")
	})
}
