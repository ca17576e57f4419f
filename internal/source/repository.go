package source

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"patra"
)

// identity are the parameters whose value names the provider, in order: those that say so, and those that an address of the
// file is made of unless they say otherwise. It is one answer for the whole file, because all endpoints give the same records.
func (f *File) identity() (names []string) {
	var inAddress []string
	for _, name := range slices.Sorted(maps.Keys(f.Endpoints)) {
		inAddress = append(inAddress, patra.AddressParameters(merge(f.Defaults, f.Endpoints[name].Blocks).HTTP.BaseURL)...)
	}
	for _, name := range slices.Sorted(maps.Keys(f.Parameters)) {
		says := f.Parameters[name].Identity
		if says != nil && *says || says == nil && slices.Contains(inAddress, name) {
			names = append(names, name)
		}
	}
	return names
}

// inAddress are the parameters that the address of the spec is made of. Where they are what names the provider, a spec does not
// say so by itself: those that were stored before anybody asked for it mean the same.
func (s *Spec) inAddress() []string { return patra.AddressParameters(s.HTTP.BaseURL) }

// Repository names the provider among those that are asked through the same source, exactly as its parameters do; it is empty
// where the source is one provider.
func (s *Spec) Repository() string {
	return patra.RepositoryOf(s.Identity, s.HTTP.BaseURL, s.Parameters)
}

// maxNamed leaves room for the repository in the key of a partition.
const maxNamed = 76

// nameable refuses a name of a provider that cannot stand beside the ids of its records.
func (s *Spec) nameable() error {
	name := s.Repository()
	longest := len(s.Source) + len(s.Endpoint)
	bad := strings.ContainsFunc(name, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) || r == unicode.ReplacementChar })
	switch {
	case bad:
		return patra.Problems{{Code: "BAD_VALUE", Path: "parameters", Text: fmt.Sprintf("%q cannot name a repository: it has white space or other unprintable characters", name), Hint: "write https://host/path"}}
	case name != "" && longest > maxNamed:
		return patra.Problems{{Code: "BAD_VALUE", Path: "code", Text: fmt.Sprintf("the code of a source with repositories and the name of an endpoint have at most %d letters together", maxNamed), Hint: "write a shorter code"}}
	case len(name) > patra.MaxRepository:
		return patra.Problems{{Code: "BAD_VALUE", Path: "parameters", Text: fmt.Sprintf("the name of a repository has at most %d bytes, and this one has %d", patra.MaxRepository, len(name)), Hint: "leave out what the repository does not need"}}
	}
	return nil
}

// HasRepositories reports whether the source is many providers, told apart by a parameter.
func (f *File) HasRepositories() bool { return len(f.identity()) > 0 }
