package source

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"

	"patra"
)

// AuthOf is how an endpoint shows who we are, with what the source says for all of them.
func (f *File) AuthOf(endpoint string) Auth {
	return merge(platform, f.Defaults, f.Endpoints[endpoint].Blocks).Auth.tidy()
}

// Access says which secrets are missing to ask a source: the warnings are about those that it can do without, the error
// about those that it cannot. have tells of a secret whether it is set, or why it cannot be had; nil has none.
func (s *Spec) Access(have func(name string) (bool, error)) (patra.Problems, error) {
	var warnings, missing patra.Problems
	for _, spec := range s.phases() {
		lacking, unreadable, all := spec.Auth.lacking(have)
		missing = append(missing, unreadable...)
		if len(lacking) == 0 {
			continue
		}
		if spec.Auth.Optional && len(lacking) == all {
			warnings = append(warnings, patra.Problem{Code: "NO_SECRET", Path: "auth", Text: fmt.Sprintf("the secret %s is not set: the provider's limits for anonymous callers hold", spec.Auth.names())})
			continue
		}
		for _, n := range lacking {
			missing = append(missing, patra.Problem{Code: patra.CodeSecretMissing, Path: "auth." + n.Key,
				Text: fmt.Sprintf("%s needs the secret %q, and it is not set", s.Source, n.Name), Hint: setSecret(n.Name)})
		}
	}
	return unique(warnings), unique(missing).Err()
}

// MaySendSecret reports whether a secret may be sent to an address: encrypted, or on this machine only.
func MaySendSecret(u *url.URL) bool {
	if u.Scheme == "https" || u.Hostname() == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return err == nil && ip.IsLoopback()
}

// CheckSecretTarget says why a source cannot be asked at another address than its own, if a secret would be sent there for everybody
// to read.
func (s *Spec) CheckSecretTarget(baseURL string, have func(name string) (bool, error)) error {
	u, err := url.Parse(baseURL)
	if err != nil || baseURL == "" || MaySendSecret(u) {
		return nil
	}
	for _, spec := range s.phases() {
		if lacking, _, all := spec.Auth.lacking(have); all > 0 && len(lacking) == 0 {
			return patra.Problems{{Code: "NOT_ENCRYPTED", Path: "base-url", Text: fmt.Sprintf("%s is asked with the secret %s, which is not sent to %s without encryption", s.Source, spec.Auth.names(), u.Host),
				Hint: "use https, or an address of this machine"}}
		}
	}
	return nil
}

// lacking are the secrets that are not set, those that cannot be had, and how many there should be.
func (a Auth) lacking(have func(name string) (bool, error)) (lacking []SecretName, unreadable patra.Problems, all int) {
	for _, n := range a.Secrets() {
		all++
		if have == nil {
			lacking = append(lacking, n)
			continue
		}
		set, err := have(n.Name)
		switch {
		case err != nil:
			unreadable = append(unreadable, patra.Problem{Code: patra.CodeSecretUnreadable, Path: "auth." + n.Key, Text: err.Error()})
		case !set:
			lacking = append(lacking, n)
		}
	}
	return lacking, unreadable, all
}

// complete reports whether there is all that it takes to show who we are.
func (a Auth) complete(have func(name string) (bool, error)) bool {
	lacking, unreadable, all := a.lacking(have)
	return all > 0 && len(lacking) == 0 && len(unreadable) == 0
}

// phases are the spec, and the one that gives the records behind its ids.
func (s *Spec) phases() []*Spec {
	if s.Second == nil {
		return []*Spec{s}
	}
	return []*Spec{s, s.Second}
}

func unique(problems patra.Problems) patra.Problems {
	var found patra.Problems
	for _, p := range problems {
		if !slices.Contains(found, p) {
			found = append(found, p)
		}
	}
	return found
}
