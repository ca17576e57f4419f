// Package config is patra.yaml: what can be set, what holds when nothing is set, and what is wrong with what was set.
//
// Values come from the defaults, the file, the environment and the flags, and each overrides the one before; flags are
// applied by the caller, who then asks Validate again. All mistakes are reported together, each with its place and the
// next step. The package never opens the store, never reads source definitions, and never puts a value into a message
// that may be a secret.
package config

import (
	"time"

	"patra"
	"patra/internal/secret"
)

// Config is everything that can be set. A key that is not here is a mistake in the file.
type Config struct {
	Store     Store      `yaml:"store" json:"store"`
	Contact   string     `yaml:"contact" json:"contact"` // mail address sent where a provider asks for one
	Sources   Sources    `yaml:"sources" json:"sources"`
	Secrets   Secrets    `yaml:"secrets" json:"secrets"` // from the file only
	Executor  Executor   `yaml:"executor" json:"executor"`
	Gate      Gate       `yaml:"gate" json:"gate"`
	Planner   Planner    `yaml:"planner" json:"planner"`
	Evidence  Evidence   `yaml:"evidence" json:"evidence"`
	Archive   Archive    `yaml:"archive" json:"archive"`
	Blackbox  Blackbox   `yaml:"blackbox" json:"blackbox"`
	API       API        `yaml:"api" json:"api"`
	Events    Events     `yaml:"events" json:"events"`
	Ops       Ops        `yaml:"ops" json:"ops"`
	Trace     Trace      `yaml:"trace" json:"trace"`
	Log       Log        `yaml:"log" json:"log"`
	Schedules []Schedule `yaml:"schedules" json:"schedules"` // from the file only
	Sinks     []Sink     `yaml:"sinks" json:"sinks"`         // from the file only
	Alerts    Alerts     `yaml:"alerts" json:"alerts"`
}

// Store says where everything is kept.
type Store struct {
	URL string `yaml:"url" json:"url"` // sqlite:FILE or mysql://user:password@host:3306/database; holds a secret
}

// Sources says where source definitions are found, beside the shipped ones.
type Sources struct {
	Dir      string   `yaml:"dir" json:"dir"`                     // empty for the shipped ones only
	Insecure []string `yaml:"insecure" json:"insecure,omitempty"` // addresses of repositories that may be asked without encryption; from the file only
}

// Secrets says where secrets are, by the names that sources use. It holds references and never a secret.
type Secrets map[string]secret.Reference

// Executor sets how tasks are worked on.
type Executor struct {
	Workers      int      `yaml:"workers" json:"workers"`           // tasks at the same time
	PerPartition int      `yaml:"perPartition" json:"perPartition"` // of these, at most this many for one partition
	Lease        Duration `yaml:"lease" json:"lease"`               // without a sign of life for this long a task is lost
	Heartbeat    Duration `yaml:"heartbeat" json:"heartbeat"`       // time between signs of life; shorter than the lease
	TaskAttempts int      `yaml:"taskAttempts" json:"taskAttempts"` // how often a task is tried before it counts as failed
	Prefetch     bool     `yaml:"prefetch" json:"prefetch"`         // whether the next page is asked for while one is written, also where a walk can be resumed
	Memory       Bytes    `yaml:"memory" json:"memory"`             // what all pages in hand may take together
}

// Gate sets how it is seen to that providers are not asked too fast.
type Gate struct {
	Backend string `yaml:"backend" json:"backend"` // one of Backends
	Redis   Redis  `yaml:"redis" json:"redis"`
}

// Redis says where the server is that the rate gate may use.
type Redis struct {
	URL string `yaml:"url" json:"url"` // redis://user:password@host:6379/0, or rediss:// for TLS; holds a secret
}

// Planner sets how windows of time are planned and cut, and how much is put into the queue.
type Planner struct {
	Inventory     int      `yaml:"inventory" json:"inventory"`         // tasks of one partition that may wait; 0 is no limit
	SafetyLag     Duration `yaml:"safetyLag" json:"safetyLag"`         // how far behind now a window ends, as providers index late
	MinStep       Duration `yaml:"minStep" json:"minStep"`             // no slice is cut shorter than this
	TargetRecords int      `yaml:"targetRecords" json:"targetRecords"` // records that a slice should not exceed
	MaxPages      int      `yaml:"maxPages" json:"maxPages"`           // pages that a slice should not exceed
	Probes        int      `yaml:"probes" json:"probes"`               // counts that may be asked for one plan; 0 is none
	BackfillShare Percent  `yaml:"backfillShare" json:"backfillShare"` // of a provider's quota, for history
}

// Evidence sets where the whole answers of providers are kept, and for how long.
type Evidence struct {
	URL       string              `yaml:"url" json:"url"`             // file:FOLDER, s3://BUCKET/FOLDER?endpoint=..., none; empty: beside the store
	AccessKey string              `yaml:"accessKey" json:"accessKey"` // of a bucket: the name of a secret
	SecretKey string              `yaml:"secretKey" json:"secretKey"` // the same
	Keep      Duration            `yaml:"keep" json:"keep"`           // after the last page that they belong to; 0 is for ever
	KeepFor   map[string]Duration `yaml:"keepFor" json:"keepFor"`     // by source, where it is another time; from the file only
}

// EvidenceNone is the url of those who keep no answers.
const EvidenceNone = "none"

// For is how long the answers of a source are kept.
func (e Evidence) For(source string) time.Duration {
	if d, ok := e.KeepFor[source]; ok {
		return time.Duration(d)
	}
	return time.Duration(e.Keep)
}

// Archive sets where old pages of the ledger go, and when.
type Archive struct {
	URL       string   `yaml:"url" json:"url"`             // as for evidence; empty: beside the store
	AccessKey string   `yaml:"accessKey" json:"accessKey"` // of a bucket: the name of a secret
	SecretKey string   `yaml:"secretKey" json:"secretKey"` // the same
	After     Duration `yaml:"after" json:"after"`         // the end of their task; 0 is never
}

// Blackbox sets how evidence is given to others.
type Blackbox struct {
	Key string `yaml:"key" json:"key"` // file of the private key that signs it; empty: patra.key beside the store
}

// API sets where people and programs reach a serving process.
type API struct {
	Listen string   `yaml:"listen" json:"listen"` // 127.0.0.1:8080; empty: there, if nobody else is; off: nowhere
	Tokens Switch   `yaml:"tokens" json:"tokens"` // on: everybody needs a token
	Hosts  []string `yaml:"hosts" json:"hosts"`   // names under which it may be asked, beside those of this machine; from the file only
	TLS    TLS      `yaml:"tls" json:"tls"`
	Proxy  bool     `yaml:"proxy" json:"proxy"` // a proxy of ours stands before it and has the certificate
}

// TLS says where a certificate and its key are.
type TLS struct {
	Cert string `yaml:"cert" json:"cert"`
	Key  string `yaml:"key" json:"key"`
}

// The addresses where nothing is said, and the word for none.
const (
	UsualListen = "127.0.0.1:8080"
	UsualOps    = "127.0.0.1:9090" // of the numbers
	ListenOff   = "off"
)

// Events sets how events are sent to sinks.
type Events struct {
	Keep  Duration `yaml:"keep" json:"keep"`   // after they happened, if every sink has them; 0 is for ever
	Lease Duration `yaml:"lease" json:"lease"` // without a sign of life for this long a relay loses its sinks to another
}

// Ops sets where a serving process tells how it is.
type Ops struct {
	Listen string `yaml:"listen" json:"listen"` // 127.0.0.1:9090; empty: there, or at a free port; off: nowhere
}

// Log sets what is logged and how.
type Log struct {
	Level  string  `yaml:"level" json:"level"`   // one of Levels; empty: info for whoever serves, and else warn
	Format string  `yaml:"format" json:"format"` // one of Formats; empty: json for whoever serves without a terminal, and else text
	Sample Percent `yaml:"sample" json:"sample"` // of the lines about pages that went well
}

// Default is what holds when nothing is set. All defaults are here and, for schedules and sinks, with them; nowhere else.
func Default() Config {
	return Config{
		Store:   Store{URL: "sqlite:patra.db"},
		Sources: Sources{Insecure: []string{}},
		Secrets: Secrets{},
		Executor: Executor{
			Workers:      4,
			PerPartition: 2,
			Lease:        Duration(60 * time.Second),
			Heartbeat:    Duration(20 * time.Second), // two may be lost before the lease is
			TaskAttempts: 5,
			Memory:       512 << 20,
		},
		Gate: Gate{Backend: GateSQL},
		Planner: Planner{
			Inventory:     2000,
			SafetyLag:     Duration(10 * time.Minute),
			MinStep:       Duration(time.Minute),
			TargetRecords: 10_000,
			MaxPages:      1000,
			Probes:        200,
			BackfillShare: 50, // so that the present never waits for history
		},
		Evidence:  Evidence{Keep: Duration(90 * day), KeepFor: map[string]Duration{}},
		Archive:   Archive{After: Duration(90 * day)},
		API:       API{Tokens: "off", Hosts: []string{}},
		Events:    Events{Keep: Duration(7 * day), Lease: Duration(30 * time.Second)},
		Trace:     Trace{Sample: 100, Propagate: "off"},
		Log:       Log{Sample: 1},
		Schedules: []Schedule{}, // and not nil, which is printed as null
		Sinks:     []Sink{},
		Alerts:    defaultAlerts(),
	}
}

// defaultSchedule is what holds for a schedule where it says nothing.
func defaultSchedule() Schedule { return Schedule{Operation: patra.Harvest} }
