package patra

import (
	"regexp"
	"slices"
	"strings"
)

// Where a source has a parameter that names another provider, such as the address of an OAI-PMH repository, the value of that
// parameter is the repository: a part of who a record is. Two repositories behind one source are two providers. Of all other
// sources the repository is empty, and nothing about them is different.

// MaxRepository is how many bytes the name of a repository may have.
const MaxRepository = 255

// maxRepositoryKey is how much of a name stands where names are keys of several parts.
const maxRepositoryKey = 72

// RepositoryOf names the repository that a compiled source asks: by its parameters that do so, which are those that its address
// is made of unless it says otherwise.
func RepositoryOf(identity []string, address string, parameters map[string]string) string {
	if identity == nil {
		identity = AddressParameters(address)
	}
	var values []string
	for _, name := range identity {
		if value := parameters[name]; value != "" {
			values = append(values, value)
		}
	}
	return strings.Join(values, ",")
}

var addressParameter = regexp.MustCompile(`\$\{param\.([^}]*)\}`)

// AddressParameters are the parameters that an address is made of, in order.
func AddressParameters(address string) (names []string) {
	for _, m := range addressParameter.FindAllStringSubmatch(address, -1) {
		if !slices.Contains(names, m[1]) {
			names = append(names, m[1])
		}
	}
	slices.Sort(names)
	return names
}

// RepositoryKey is the name of a repository in the key of a partition or a control: the name itself, or its beginning and a hash
// where it is too long. It is its own key.
func RepositoryKey(repository string) string {
	if len(repository) <= maxRepositoryKey {
		return repository
	}
	return strings.ToValidUTF8(repository[:maxRepositoryKey-17], "") + "~" + HashBytes([]byte(repository))[:16]
}
