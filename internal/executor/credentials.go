package executor

import (
	"fmt"

	"patra"
	"patra/internal/source"
)

// Secrets gives the values of secrets by name. It reports false for one that nobody set; an error is a sentence for a
// person, without the value.
type Secrets interface {
	Secret(name string) (value string, set bool, err error)
}

// Credentials is how a process shows providers who it is. Everybody in the process who sends shares one, so that a token
// is asked for once. It must not be copied.
type Credentials struct {
	Secrets Secrets                // nil: there are none
	Tell    func(values ...string) // hears what must be seen nowhere, tokens too; nil: nobody does

	tokens tokenCache
}

// identity finds the secrets of a source. It is nil where a source wants none, or can do without and has none.
func (c *Credentials) identity(auth source.Auth) (*requestAuth, error) {
	wanted := auth.Secrets()
	who := &requestAuth{auth: auth, user: auth.User}
	var missing []source.SecretName
	for _, n := range wanted {
		value, set, err := c.secret(n.Name)
		if err != nil {
			return nil, &patra.Fault{Level: patra.LevelFatal, Code: patra.CodeAuth, Path: "auth." + n.Key, Text: err.Error()}
		}
		if !set {
			missing = append(missing, n)
		}
		switch n.Key {
		case "userSecret":
			who.user = value
		case "clientId":
			who.client = value
		default:
			who.secret = value
		}
	}
	switch {
	case len(wanted) == 0, auth.Optional && len(missing) == len(wanted):
		return nil, nil
	case len(missing) > 0:
		return nil, &patra.Fault{Level: patra.LevelFatal, Code: patra.CodeAuth, Path: "auth." + missing[0].Key, Text: missing[0].NotSet()}
	}
	c.tell(who.registerSecrets())
	return who, nil
}

func (c *Credentials) tell(values []string) {
	if c != nil && c.Tell != nil {
		c.Tell(values...)
	}
}

func (c *Credentials) secret(name string) (string, bool, error) {
	if c == nil || c.Secrets == nil {
		return "", false, nil
	}
	return c.Secrets.Secret(name)
}

// has reports whether there is all that it takes to show who we are.
func (c *Credentials) has(auth source.Auth) bool {
	who, err := c.identity(auth)
	return err == nil && who != nil
}

// Have reports whether a secret is set, for those who need not know it.
func (c *Credentials) Have(name string) (bool, error) {
	_, set, err := c.secret(name)
	if err != nil {
		err = fmt.Errorf("secrets: %w", err)
	}
	return set, err
}
