package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"patra"
	"patra/internal/store"
)

// target reads what a person wants to steer. A source that nobody knows, or an endpoint that it does not have, is a slip
// of the pen: nothing would ever come of it.
func (a *app) target(ctx context.Context, s *store.Store, text string) (patra.Target, error) {
	t, err := patra.ParseTarget(text)
	if err != nil {
		return t, patra.Invalid("", "%s", err)
	}
	if !t.IsScope() {
		return t, nil
	}
	at := t.WorkScope()
	if known, err := plannedFor(ctx, s, at); known || err != nil { // also one whose file is gone
		return t, err
	}
	st, err := a.current(ctx, at.Source)
	if err != nil {
		return t, err
	}
	f, err := st.file()
	if err == nil && at.Repository != "" && !f.HasRepositories() {
		err = patra.Invalid("", "source %s is one provider and has no repositories; write %s", at.Source, strings.TrimSuffix(t.Key, "/"+at.Repository))
	}
	if err != nil || at.Endpoint == "" {
		return t, err
	}
	if _, ok := f.Endpoints[at.Endpoint]; !ok {
		var names []string
		for name := range f.Endpoints {
			names = append(names, name)
		}
		slices.Sort(names)
		return t, patra.Invalid("", "source %s has no endpoint %q; it has %s", at.Source, at.Endpoint, strings.Join(names, ", "))
	}
	return t, nil
}

// plannedFor reports whether there was ever a plan for a place.
func plannedFor(ctx context.Context, s *store.Store, at patra.WorkScope) (bool, error) {
	plans, err := s.Plans(ctx, store.Filter{Source: at.Source, Limit: 1000})
	return slices.ContainsFunc(plans, func(p patra.Plan) bool {
		return (at.Endpoint == "" || p.Endpoint == at.Endpoint) && (at.Repository == "" || patra.RepositoryKey(p.Repository) == at.Repository)
	}), err
}

// noSuchWork says that a piece of work does not exist.
func noSuchWork(err error, t patra.Target) error {
	if !errors.Is(err, patra.ErrNotFound) {
		return err
	}
	word, _, _ := strings.Cut(t.String(), ":")
	list := map[string]string{"cursor": "patra cursor list"}[word]
	if list == "" {
		list = "patra " + word + "s"
	}
	return patra.Absent("there is no %s %s; see %s", word, t.Key, list)
}

// sourceOf is the source that a target is about, as far as it says so, for sentences.
func sourceOf(t patra.Target) string {
	if t.IsScope() {
		return t.WorkScope().Source
	}
	return "SOURCE"
}

// tasks is `1 task` or `3 tasks`.
func tasks(n int64) string { return plural(n, "task") }

// verb chooses between `waits` and `wait`.
func verb(n int64, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

func counted(n int64, one, many string) string {
	return fmt.Sprintf("%s %s", tasks(n), verb(n, one, many))
}
