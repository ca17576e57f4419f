package config

import (
	"cmp"
	"fmt"
	"net/mail"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"patra"
	"patra/internal/strictyaml"
)

// What gate.backend, log.level and log.format may be.
var (
	Backends = [...]string{GateSQL, GateRedis, GateLocal}
	Levels   = [...]string{"debug", "info", "warn", "error"}
	Formats  = [...]string{"text", "json"}
)

// Where the rate gate is kept: in the store, for all processes that use it; there, and lent to Redis; or in each process
// alone.
const (
	GateSQL   = "sql"
	GateRedis = "redis"
	GateLocal = "local"
)

const (
	maxWorkers  = 1024
	maxAttempts = 100
	minLease    = Duration(2 * time.Second) // below this a slow store looks like a dead worker
	minMemory   = Bytes(64 << 20)           // below this not even one large page fits
	minMinStep  = Duration(time.Second)     // below this a slice costs more than it brings
	minArchive  = Duration(7 * day)         // below this people look for what is gone
)

// finding is a value that means nothing, before it is known where it came from.
type finding struct {
	paths []string // the values it is about; the first is the one to change
	code  string
	text  string
	hint  string
}

// findings collects them.
type findings []finding

func (all *findings) add(f finding, ok bool) {
	if !ok {
		*all = append(*all, f)
	}
}

// Validate checks what the values mean, all at once. Load has done so already; it is for a caller who changes values
// afterwards, and its problems have no file and no line.
func (c Config) Validate() error {
	var problems patra.Problems
	for _, f := range c.findings() {
		problems = append(problems, patra.Problem{Code: f.code, Path: f.paths[0], Text: f.text, Hint: f.hint})
	}
	return problems.Err()
}

func (c Config) findings() []finding {
	var all findings
	all.add(c.Store.finding())
	all.add(finding{paths: []string{"contact"}, code: strictyaml.CodeBadValue,
		text: "contact does not look like a mail address", hint: "write one such as library@example.org"},
		c.Contact == "" || isAddress(c.Contact))
	all = append(all, c.Secrets.findings()...)
	all = append(all, c.Sources.findings()...)
	all = append(all, c.Executor.findings()...)
	all = append(all, c.Planner.findings()...)
	all.add(placeFinding("evidence", c.Evidence.URL, c.Evidence.AccessKey, c.Evidence.SecretKey, c.Secrets, true))
	all.add(placeFinding("archive", c.Archive.URL, c.Archive.AccessKey, c.Archive.SecretKey, c.Secrets, false))
	all.add(outOfRange("archive.after", fmt.Sprintf("after must be 0s or at least %s, not %s", minArchive, c.Archive.After)), c.Archive.After == 0 || c.Archive.After >= minArchive)
	all.add(outOfRange("events.lease", fmt.Sprintf("lease must be at least %s, not %s", minLease, c.Events.Lease)), c.Events.Lease >= minLease)
	all.add(oneOf("gate.backend", c.Gate.Backend, Backends[:]))
	all.add(c.Gate.finding())
	all = append(all, c.API.findings()...)
	all.add(finding{paths: []string{"ops.listen"}, code: strictyaml.CodeBadValue,
		text: "ops.listen is not an address", hint: "write one such as " + UsualOps + ", or off"}, c.Ops.Listen == "" || c.Ops.Listen == ListenOff || hasPort(c.Ops.Listen))
	all = append(all, c.Trace.findings()...)
	all = append(all, c.Log.findings()...)
	all = append(all, c.scheduleFindings()...)
	all = append(all, c.alertFindings()...)
	return append(all, c.sinkFindings()...)
}

func (l Log) findings() []finding {
	var all findings
	if l.Level != "" {
		all.add(oneOf("log.level", l.Level, Levels[:]))
	}
	if l.Format != "" {
		all.add(oneOf("log.format", l.Format, Formats[:]))
	}
	all.add(outOfRange("log.sample", fmt.Sprintf("sample must be from 1%% to 100%%, not %s", l.Sample)), l.Sample.legal())
	return all
}

func (e Executor) findings() []finding {
	var all findings
	all.add(outOfRange("executor.workers", fmt.Sprintf("workers must be from 1 to %d, not %d", maxWorkers, e.Workers)),
		e.Workers >= 1 && e.Workers <= maxWorkers)
	all.add(outOfRange("executor.perPartition", fmt.Sprintf("perPartition must be at least 1, not %d", e.PerPartition)),
		e.PerPartition >= 1)
	all.add(outOfRange("executor.lease", fmt.Sprintf("lease must be at least %s, not %s", minLease, e.Lease)),
		e.Lease >= minLease)
	all.add(e.heartbeat())
	all.add(outOfRange("executor.taskAttempts",
		fmt.Sprintf("taskAttempts must be from 1 to %d, not %d", maxAttempts, e.TaskAttempts)),
		e.TaskAttempts >= 1 && e.TaskAttempts <= maxAttempts)
	all.add(outOfRange("executor.memory", fmt.Sprintf("memory must be at least %s, not %s", minMemory, e.Memory)), e.Memory >= minMemory)
	return all
}

func (p Planner) findings() []finding {
	var all findings
	least := func(key string, value, low int, hint string) {
		f := outOfRange("planner."+key, fmt.Sprintf("%s must be at least %d, not %d", key, low, value))
		f.hint = hint
		all.add(f, value >= low)
	}
	least("inventory", p.Inventory, 0, "0 is no limit")
	all.add(outOfRange("planner.safetyLag", fmt.Sprintf("safetyLag must be at least 0s, not %s", p.SafetyLag)), p.SafetyLag >= 0)
	all.add(outOfRange("planner.minStep", fmt.Sprintf("minStep must be at least %s, not %s", minMinStep, p.MinStep)), p.MinStep >= minMinStep)
	least("targetRecords", p.TargetRecords, 1, "")
	least("maxPages", p.MaxPages, 1, "")
	least("probes", p.Probes, 0, "0 is none")
	all.add(outOfRange("planner.backfillShare", fmt.Sprintf("backfillShare must be from 1%% to 100%%, not %s", p.BackfillShare)), p.BackfillShare.legal())
	return all
}

// isLoopback reports whether an address with a port can only be reached from this machine.
func isLoopback(address string) bool {
	ap, err := netip.ParseAddrPort(strings.Replace(address, "localhost:", "127.0.0.1:", 1))
	return err == nil && ap.Addr().IsLoopback()
}

func outOfRange(path, text string) finding {
	return finding{paths: []string{path}, code: CodeOutOfRange, text: text}
}

// finding never repeats the URL, which may hold a password.
func (s Store) finding() (finding, bool) {
	f := finding{
		paths: []string{"store.url"}, code: strictyaml.CodeBadValue,
		text: `url must begin with "sqlite:" or "mysql:"`,
		hint: "write sqlite:patra.db or mysql://user:${env:DB_PASSWORD}@host:3306/patra",
	}
	scheme, rest, ok := strings.Cut(s.URL, ":")
	if !ok || scheme != "sqlite" && scheme != "mysql" {
		return f, false
	}
	f.text = fmt.Sprintf("url says nothing after %q", scheme+":")
	return f, strings.Trim(rest, "/") != ""
}

// placeFinding checks an address of a place for blobs, and the names of the secrets that open it.
func placeFinding(block, url, key, secret string, secrets Secrets, none bool) (finding, bool) {
	f := finding{
		paths: []string{block + ".url"}, code: strictyaml.CodeBadValue, text: `url must begin with "file:" or "s3:"`,
		hint: "write file:" + block + ", s3://BUCKET/FOLDER?endpoint=https://HOST, or leave it out for a folder beside the store",
	}
	if none {
		f.text += ", or be none"
	}
	scheme, rest, _ := strings.Cut(url, ":")
	if scheme == "s3" {
		for _, of := range [][2]string{{block + ".accessKey", key}, {block + ".secretKey", secret}} {
			if _, ok := secrets[of[1]]; !ok {
				return finding{paths: of[:1], code: strictyaml.CodeBadValue, text: of[0] + " must be the name of a secret", hint: "set it under secrets, as in s3key: env:S3_KEY, and write its name here"}, false
			}
		}
		return f, rest != ""
	}
	return f, url == "" || none && url == EvidenceNone || scheme == "file" && rest != ""
}

// finding never repeats the URL, which may hold a password.
func (g Gate) finding() (finding, bool) {
	f := finding{
		paths: []string{"gate.redis.url"}, code: strictyaml.CodeBadValue,
		text: `url must begin with "redis://" or "rediss://" and name a host`,
		hint: "write redis://127.0.0.1:6379/0 or rediss://user:${env:REDIS_PASSWORD}@host:6379/0",
	}
	if g.Redis.URL == "" {
		f.paths = append(f.paths, "gate.backend")
		f.text = "gate.backend is redis, and gate.redis.url does not say where it is"
		return f, g.Backend != GateRedis
	}
	u, err := url.Parse(g.Redis.URL)
	if err != nil || (u.Scheme != "redis" && u.Scheme != "rediss") || u.Host == "" {
		return f, false
	}
	f.text = "url must have a port from 1 to 65535, if any, and end with the number of a database"
	return f, (u.Port() == "" || within(u.Port(), 1, 65535)) && (u.Path == "" || u.Path == "/" || within(u.Path[1:], 0, 1<<16))
}

// within reports whether a text is a whole number in a range.
func within(text string, least, most int) bool {
	n, err := strconv.Atoi(text)
	return err == nil && n >= least && n <= most
}

func (e Executor) heartbeat() (finding, bool) {
	f := outOfRange("executor.heartbeat", fmt.Sprintf("heartbeat must be more than 0s, not %s", e.Heartbeat))
	if e.Heartbeat <= 0 {
		return f, false
	}
	f.paths = append(f.paths, "executor.lease")
	f.text = fmt.Sprintf("heartbeat must be shorter than lease (%s), not %s", e.Lease, e.Heartbeat)
	f.hint = "a third of the lease is usual"
	return f, e.Heartbeat < e.Lease
}

func oneOf(path, value string, legal []string) (finding, bool) {
	f := finding{
		paths: []string{path}, code: strictyaml.CodeBadValue,
		text: fmt.Sprintf("%s is %q, and must be one of %s", path, value, strings.Join(legal, ", ")),
	}
	if near, ok := strictyaml.Nearest(value, legal); ok {
		f.hint = fmt.Sprintf("did you mean %q?", near)
	}
	return f, slices.Contains(legal, value)
}

// isAddress takes a bare address only: with a name around it, providers would refuse it.
func isAddress(text string) bool {
	a, err := mail.ParseAddress(text)
	return err == nil && a.Address == text
}

// check locates what the values mean wrongly: in the environment if they came from there, else in the file. A value
// that has a problem already was replaced by its default, so nothing that follows from it is said.
func check(cfg Config, doc *strictyaml.Document, from map[string]bool, known patra.Problems) patra.Problems {
	var problems patra.Problems
	for _, f := range cfg.findings() {
		if slices.ContainsFunc(known, f.follows) {
			continue
		}
		// The one to change may be a default; then the place is that of the value that clashes with it.
		path := f.paths[0]
		for _, p := range f.paths {
			if from[p] || doc.Has(p) {
				path = p
				break
			}
		}
		p := doc.Problem(path, f.code, f.text, f.hint)
		if from[path] {
			p = inEnvironment(p)
		}
		problems = append(problems, p)
	}
	return problems
}

// follows tells whether the finding is about a value that has the problem, or that stands in an item that has it.
func (f finding) follows(known patra.Problem) bool {
	return slices.ContainsFunc(f.paths, func(path string) bool {
		return path == known.Path || strings.HasSuffix(known.Path, "]") && strings.HasPrefix(path, known.Path+".")
	})
}

// sorted puts the file's problems first, by line, and the environment's after them.
func sorted(problems patra.Problems) patra.Problems {
	place := func(p patra.Problem) int {
		if p.File == environmentFile {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(problems, func(a, b patra.Problem) int {
		return cmp.Or(place(a)-place(b), a.Line-b.Line, a.Col-b.Col)
	})
	return problems
}

// findings looks at addresses that may be asked without encryption: each is one whole address, so that nobody permits more than meant.
func (s Sources) findings() (all []finding) {
	for i, address := range s.Insecure {
		u, err := url.Parse(address)
		ok := err == nil && u.Scheme == "http" && u.Host != "" && u.User == nil && u.RawQuery == "" && u.Fragment == "" && !strings.ContainsAny(address, "*$ ")
		if !ok {
			all = append(all, finding{paths: []string{fmt.Sprintf("sources.insecure[%d]", i)}, code: strictyaml.CodeBadValue,
				text: fmt.Sprintf("%q is not the address of a repository without encryption", patra.Mask(address)), hint: "write the whole address as it is given to the source: http://repo.example.org/oai"})
		}
	}
	return all
}
