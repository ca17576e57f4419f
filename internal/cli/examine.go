package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"patra"
	"patra/internal/source"
	"patra/internal/store"
	"patra/internal/view"
)

// examineConfig reads the configuration; every mistake is a finding with its file and line.
func (a *app) examineConfig() (found []finding, ok bool) {
	path, _ := a.configFile()
	_, err := a.load()
	if problems, is := errors.AsType[patra.Problems](err); is {
		for _, p := range problems {
			found = append(found, fail("config", "Correct the line; patra init writes a file with all keys", "%s", p.Say(flagName)))
		}
		return found, false
	}
	if err != nil {
		return []finding{fail("config", "See to it that the file can be read", "%s", err)}, false
	}
	if _, err := os.Stat(path); err != nil {
		return []finding{passed("config", "There is no %s; the defaults and the environment count", path)}, true
	}
	return []finding{passed("config", "%s is readable and without mistakes", path)}, true
}

// examineSources loads every source, and looks whether those that ask who is calling can be told.
func (a *app) examineSources(ctx context.Context) (found []finding) {
	listed, err := a.listSources(ctx)
	if err != nil && !errors.Is(err, store.ErrNeedsMigration) && !store.Unavailable(err) {
		return []finding{fail("sources", "See patra source list", "%s", err)}
	}
	asking, bad := 0, 0
	cfg, _ := a.load()
	for _, s := range listed {
		if s.Problem != "" {
			bad++
			found = append(found, fail("sources", "patra source validate "+s.Code+" shows every mistake", "%s is not valid: %s", s.Code, firstLine(s.Problem)))
			continue
		}
		if cfg.Contact == "" && a.asksForContact(ctx, s.Code) {
			asking++
		}
	}
	if bad == 0 && err == nil {
		found = append(found, passed("sources", "%s, all valid", plural(int64(len(listed)), "source")))
	}
	switch {
	case asking > 0:
		found = append(found, warn("contact", "Set contact: you@example.org in patra.yaml", "No contact is set, and %s one", asks(asking)))
	case cfg.Contact != "":
		found = append(found, passed("contact", "Sources that ask who is calling are told %s", cfg.Contact))
	}
	return found
}

// firstLine is the first of several mistakes, and how many more there are.
func firstLine(text string) string {
	first, rest, more := strings.Cut(text, "\n")
	if !more {
		return first
	}
	return fmt.Sprintf("%s (and %d more)", first, strings.Count(rest, "\n")+1)
}

func asks(n int) string {
	if n == 1 {
		return "1 source asks for"
	}
	return fmt.Sprintf("%d sources ask for", n)
}

// asksForContact reports whether a source cannot be used by somebody who does not say who they are.
func (a *app) asksForContact(ctx context.Context, code string) bool {
	f, _, err := a.activeSource(ctx, code)
	if err != nil {
		return false
	}
	_, err = source.Compile(f, source.Options{Operation: patra.Harvest})
	problems, ok := errors.AsType[patra.Problems](err)
	return ok && problems[0].Code == "CONTACT_REQUIRED"
}

// examineSecrets looks up the secrets that patra.yaml names, and shows none.
func (a *app) examineSecrets() (found []finding) {
	cfg, err := a.load()
	if err != nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Secrets)) {
		set, err := a.have(name)
		switch {
		case err != nil:
			found = append(found, fail("secrets", "Set it right, or take it out of secrets in patra.yaml", "The secret %s cannot be had: %s", name, err))
		case !set:
			found = append(found, warn("secrets", "Set it, or take it out of secrets in patra.yaml", "The secret %s is not set: there is nothing at %s", name, a.vault.Where(name)))
		}
	}
	if len(found) == 0 && len(cfg.Secrets) > 0 {
		found = append(found, passed("secrets", "Every secret that patra.yaml names can be had"))
	}
	return found
}

// examineInsecure names the repositories that are asked without encryption.
func (a *app) examineInsecure() (found []finding) {
	cfg, err := a.load()
	if err != nil {
		return nil
	}
	for _, address := range cfg.Sources.Insecure {
		found = append(found, warn("encryption", "Ask it over https if it can, and take it out of sources.insecure in patra.yaml", "%s may be asked without encryption: what it sends can be read and changed on its way", address))
	}
	return found
}

// examineStore looks at the store from outside to inside; ok means that its tables can be read.
func (a *app) examineStore(ctx context.Context, deep bool) (found []finding, ok bool) {
	cfg, err := a.load()
	if err != nil {
		return nil, false
	}
	where := cfg.Redacted().Store.URL
	if !store.Exists(cfg.Store.URL) {
		return []finding{warn("store", "patra init makes one, and so does the first patra harvest", "There is no store at %s yet", where)}, false
	}
	s, err := a.dial(ctx, cfg)
	if store.Damaged(err) {
		return []finding{damaged("store", backupNext, "%s cannot be opened: %s", where, err)}, false
	}
	if err != nil {
		return []finding{fail("store", cmp.Or(store.Advice(err), "See that it is running, and that store.url is right"), "%s cannot be opened: %s", where, err)}, false
	}
	engine, err := s.Engine(ctx)
	if err != nil {
		return []finding{fail("store", "See that it is running, and that store.url is right", "%s does not answer: %s", where, err)}, false
	}
	found = append(found, passed("store", "%s answers (%s)", where, engine))
	found = append(found, examineServer(ctx, s, engine)...)
	found = append(found, examineDisk(s)...)
	sound := examineIntegrity(ctx, s, deep)
	found = append(found, sound)
	if err := s.RequireSchema(ctx); err != nil {
		next := "Run patra migrate"
		if errors.Is(err, store.ErrTooNew) {
			next = "Use the newer patra"
		}
		return append(found, fail("tables", next, "%s", sentence(err.Error()))), false
	}
	found = append(found, examineAge(ctx, s))
	return append(found, examineClock(ctx, s)), sound.Verdict != patra.VerdictFail
}

// examineAge says whether the tables, which can be worked with, are those of this program.
func examineAge(ctx context.Context, s *store.Store) finding {
	switch v, err := s.SchemaVersion(ctx); {
	case err != nil:
		return fail("tables", "See that the database answers", "%s", sentence(err.Error()))
	case v.Ahead():
		return warn("tables", "Replace this patra too, once the others are", "The tables are those of a newer patra (version %d, this one knows %d), which only added to them", v.Store, v.Program)
	}
	return passed("tables", "The tables are those of this version")
}

// quickTime is how long a look may read the file of the store when nobody asked for a deep one.
var quickTime = 10 * time.Second

// backupNext is what to do about a file that the engine cannot read.
const backupNext = "Stop patra, keep a copy of the file, and put back a backup; what was harvested since is read again"

// examineIntegrity asks the engine about its file: for a while, or with deep about all of it.
func examineIntegrity(ctx context.Context, s *store.Store, deep bool) finding {
	look, cancel := ctx, context.CancelFunc(func() {})
	if !deep {
		look, cancel = context.WithTimeout(ctx, quickTime)
	}
	defer cancel()
	complaints, err := s.Integrity(look, deep)
	switch {
	case err != nil && look.Err() != nil && ctx.Err() == nil:
		return passed("integrity", "The file is too large to be read in %s; patra doctor --deep reads all of it", quickTime)
	case err != nil:
		return damaged("integrity", backupNext, "The file cannot be checked: %s", err)
	case len(complaints) > 0:
		return damaged("integrity", backupNext, "The file is damaged: %s", complaints[0])
	case s.Embedded():
		return passed("integrity", "The engine finds nothing wrong with its file")
	}
	return passed("integrity", "The server looks after its own files")
}

// examineWork looks for work that does not go on by itself.
func (a *app) examineWork(ctx context.Context) (found []finding, err error) {
	t, err := a.store.StuckWork(ctx)
	if err != nil {
		return nil, err
	}
	if t.Expired > 0 {
		found = append(found, warn("leases", "The next patra harvest, or patra serve, takes them over", "%s of workers that are gone", plural(t.Expired, "task")))
	} else {
		found = append(found, passed("leases", "No task waits for a worker that is gone"))
	}
	held, err := a.examineControls(ctx)
	if err != nil {
		return nil, err
	}
	found = append(found, held...)
	cfg, err := a.load()
	if err != nil {
		return nil, err
	}
	v, _, err := verdict(ctx, cfg, a.store)
	if err != nil {
		return nil, err
	}
	missing, disputed := v.Tally.Missing, v.Tally.Disputed
	given := "Nothing that was planned is missing"
	if t.Queued > 0 {
		given = fmt.Sprintf("Nothing that was planned is given up; %s still to come", plural(t.Queued, "task"))
	}
	switch {
	case missing > 0:
		f := warn("gaps", "patra coverage gaps tells why, and what to do", "%s missing of what was planned; %s failed", plural(missing, "stretch"), plural(t.Failed, "task"))
		f.Rows = missingReasons(v)
		found = append(found, f)
	case t.Failed > t.ByID:
		found = append(found, passed("gaps", "%s; %s failed, and others did their work", given, plural(t.Failed-t.ByID, "task")))
	default:
		found = append(found, passed("gaps", "%s", given))
	}
	if t.ByID > 0 {
		found = append(found, warn("by id", "The same patra update SOURCE --by-id tries them again", "%s of updates by id failed", plural(t.ByID, "task")))
	}
	found = append(found, examineReasons(v)...)
	if disputed > 0 {
		return append(found, warn("disputes", "patra coverage fill SOURCE --disputed reads them again", "%s in dispute: what the provider counts or has shown is not what was read", plural(disputed, "window"))), nil
	}
	return append(found, passed("disputes", "No window is in dispute")), nil
}

// examineControls looks for what stands still until a person does something.
func (a *app) examineControls(ctx context.Context) (found []finding, err error) {
	controls, err := a.store.Controls(ctx)
	for _, c := range controls {
		switch c.Kind {
		case patra.KindHalt:
			found = append(found, warn("held back", sentence(afterHalt(&c)), "%s is halted: %s", c.Target, c.Reason))
		case patra.KindPause:
			found = append(found, warn("held back", "patra resume "+shell(c.Target), "%s is paused by %s since %s", c.Target, c.Actor, seconds(c.Detail.Since)))
		}
	}
	if len(found) == 0 {
		found = append(found, passed("held back", "No work waits for a person"))
	}
	return found, err
}

// missingReasons are the sentences about what is missing.
func missingReasons(v view.Verdict) (rows []string) {
	for _, r := range v.Reasons {
		switch r.Kind {
		case view.ReasonFailed, view.ReasonUncut, view.ReasonCancelled, view.ReasonUnplanned, view.ReasonDraft, view.ReasonPlanFailed:
			rows = append(rows, strings.TrimSuffix(r.Message, "."))
		}
	}
	return rows
}

// examineReasons are findings about what no list of gaps has: plans without a watermark, watermarks behind their schedule, windows that are not proved.
// Schedules, pauses, halts and gaps have checks of their own.
func examineReasons(v view.Verdict) (found []finding) {
	for _, r := range v.Reasons {
		said := strings.TrimSuffix(r.Message, ".")
		switch {
		case r.Kind == view.ReasonPlanFailed && r.Cursor == 0:
			found = append(found, warn("plans", r.Next, "%s", said))
		case r.Kind == view.ReasonBehind && r.Cursor != 0:
			found = append(found, warn("schedules", r.Next, "%s", said))
		case r.Kind == view.ReasonUnproved:
			found = append(found, warn("unproved", r.Next, "%s", said))
		}
	}
	return found
}
