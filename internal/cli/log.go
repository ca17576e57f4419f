package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strings"

	"golang.org/x/term"

	"patra/internal/config"
	"patra/internal/observe"
)

// logger writes to stderr, so that output can be piped. Whatever it is given, its lines show no secret and name nobody.
func (a *app) logger(c config.Config) *slog.Logger {
	a.secrets.Add(passwordOf(c.Store.URL), passwordOf(c.Gate.Redis.URL))
	return observe.NewLog(aboveBars{a}, observe.LogOptions{Level: a.level(c.Log.Level), JSON: a.logsAsJSON(c.Log.Format), Secrets: &a.secrets})
}

// level is what is logged. Where nobody said, a server tells what it does: there is nobody who sees it otherwise. A command
// at whose end somebody waits says only what went wrong.
func (a *app) level(said string) (level slog.Level) {
	if err := level.UnmarshalText([]byte(said)); err == nil {
		return level
	}
	if a.serving {
		return slog.LevelInfo
	}
	return slog.LevelWarn
}

// logsAsJSON reports whether lines are for machines. Where nobody said, they are if it is a server and no terminal shows them.
func (a *app) logsAsJSON(said string) bool {
	if said != "" {
		return said == "json"
	}
	out, isFile := a.stderr.(*os.File)
	return a.serving && !(isFile && term.IsTerminal(int(out.Fd())))
}

// recoverPanic is deferred where a goroutine begins: what breaks it is told without what nobody may see.
func (a *app) recoverPanic() func() {
	return observe.RecoverPanic(observe.NewLog(aboveBars{a}, observe.LogOptions{JSON: a.logsAsJSON(""), Secrets: &a.secrets}))
}

// passwordOf is what stands before the host of an address and is not for others; empty if there is nothing.
func passwordOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.User == nil {
		return ""
	}
	if password, set := u.User.Password(); set {
		return password
	}
	return u.User.Username()
}

// role does one of the things that a server is for, until ctx ends, and says when it begins, when it ends, and why.
func role(ctx context.Context, log *slog.Logger, name string, do func(context.Context) error, attrs ...any) func() error {
	log = log.With("role", name)
	return func() error {
		defer observe.RecoverPanic(log)()
		log.InfoContext(ctx, "role begins", attrs...)
		err := do(ctx)
		switch {
		case err != nil:
			log.ErrorContext(ctx, "role ended", "reason", err.Error())
		case ctx.Err() != nil:
			log.InfoContext(ctx, "role ended", "reason", whatEnded(ctx))
		default:
			log.InfoContext(ctx, "role ended", "reason", "nothing is left to do")
		}
		return err
	}
}

// whatEnded says in words what ended a context.
func whatEnded(ctx context.Context) string {
	cause := context.Cause(ctx)
	if cause == nil || errors.Is(cause, context.Canceled) && cause.Error() == context.Canceled.Error() {
		return "told to stop"
	}
	return fmt.Sprintf("told to stop: %s", strings.TrimSuffix(cause.Error(), "."))
}
