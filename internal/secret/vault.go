package secret

import (
	"fmt"
	"strings"
	"sync"
	"time"
)

// lookAgain is how often a file is read at most. A secret that is changed is used after this time at the latest.
const lookAgain = 10 * time.Second

// Vault gives secrets by name. It is safe for concurrent use and must not be copied.
type Vault struct {
	// Tell hears every value that is given out, so that whoever prints can leave it out. It is set before the first use; nil:
	// nobody hears.
	Tell func(value string)

	places  map[string]Reference
	environ []string

	mu   sync.Mutex
	seen map[string]cachedFile
}

// cachedFile is what was found in a file, and when.
type cachedFile struct {
	value string
	good  time.Time // when the value was last found there
	at    time.Time
	err   error
}

// NewVault makes a vault over places by name, and the "NAME=value" lines of an environment.
func NewVault(places map[string]Reference, environ []string) *Vault {
	return &Vault{places: places, environ: environ, seen: map[string]cachedFile{}}
}

// Secret is the value of a secret. It is not set (false) where nobody says where it is, or where the variable is empty;
// it is an error where somebody names a file and the file cannot be used.
func (v *Vault) Secret(name string) (value string, set bool, err error) {
	value, set, err = v.find(name)
	if set && v.Tell != nil {
		v.Tell(value)
	}
	return value, set, err
}

func (v *Vault) find(name string) (value string, set bool, err error) {
	place, ok := v.places[name]
	if !ok {
		return "", false, nil
	}
	if place.kind == kindEnv {
		value = v.variable(place.where)
		return value, value != "", nil
	}
	value, err = v.file(name, place.where)
	return value, err == nil, err
}

// Where says where a secret is looked for; empty if nowhere.
func (v *Vault) Where(name string) string { return v.places[name].String() }

func (v *Vault) variable(name string) string {
	value := ""
	for _, line := range v.environ { // as for a process, the last of a name counts
		if found, ok := strings.CutPrefix(line, name+"="); ok {
			value = found
		}
	}
	return value
}

// file reads a file, or remembers what it held a moment ago. A file that is unusable just now may be in the middle of
// being changed: what it held before counts until the second look.
func (v *Vault) file(name, path string) (string, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	now := time.Now()
	last, known := v.seen[name]
	if known && now.Sub(last.at) < lookAgain {
		return last.value, last.err
	}
	value, err := ReadFile(path)
	next := cachedFile{value: value, good: now, at: now}
	if err != nil {
		next = cachedFile{at: now, err: fmt.Errorf("the secret %q cannot be read: %w", name, err)}
		if last.value != "" && now.Sub(last.good) < 2*lookAgain {
			next = cachedFile{value: last.value, good: last.good, at: now}
		}
	}
	v.seen[name] = next
	return next.value, next.err
}
