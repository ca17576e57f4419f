package cli

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"patra/internal/executor"
	"patra/internal/secret"
	"patra/internal/source"
)

// credentials is how this process shows who it is, one for all who send.
func (a *app) credentials() *executor.Credentials {
	a.unlock.Do(func() {
		places := map[string]secret.Reference{}
		if c, err := a.load(); err == nil { // whoever needs the settings has said already what is wrong with them
			places = c.Secrets
		}
		a.vault = secret.NewVault(places, a.environ)
		a.vault.Tell = func(value string) { a.secrets.Add(value) }
		a.shown = &executor.Credentials{Secrets: a.vault, Tell: a.secrets.AddTemporary}
	})
	return a.shown
}

// have reports whether a secret is set.
func (a *app) have(name string) (bool, error) { return a.credentials().Have(name) }

// secretOf is a secret that must be there.
func (a *app) secretOf(name string) (string, error) {
	a.credentials()
	text, set, err := a.vault.Secret(name)
	if err == nil && !set {
		err = fmt.Errorf("the secret %s is not set: there is nothing at %s", name, a.vault.Where(name))
	}
	return text, err
}

// wantedSecrets are the secrets that a source wants, and of each whether some endpoint cannot do without.
func wantedSecrets(f *source.File) map[string]bool {
	wanted := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(f.Endpoints)) {
		auth := f.AuthOf(name)
		for _, n := range auth.Secrets() {
			wanted[n.Name] = wanted[n.Name] || !auth.Optional
		}
	}
	return wanted
}

// printSecrets says which secrets a source wants, and whether they are set. It never shows one.
func (a *app) printSecrets(w io.Writer, f *source.File) {
	wanted := wantedSecrets(f)
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		fmt.Fprintf(w, "# Secret: %s (%s) %s\n", name, map[bool]string{true: "required", false: "optional"}[wanted[name]], a.standingOfSecret(name))
	}
}

// standingOfSecret says in words whether a secret is set.
func (a *app) standingOfSecret(name string) string {
	set, err := a.have(name)
	where := a.vault.Where(name)
	switch {
	case err != nil:
		return "cannot be had: " + err.Error()
	case set:
		return "is set, from " + where
	case where != "":
		return "is not set: there is nothing at " + where
	}
	return fmt.Sprintf("is not set; write secrets: {%s: \"env:NAME\"} into patra.yaml", name)
}
