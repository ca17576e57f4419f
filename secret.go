package patra

import "regexp"

// secretName is short because it becomes a part of gate keys, and plain because it stands in sentences.
var secretName = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,46}$`)

// IsSecretName reports whether a text can be the name of a secret. Whoever refuses one must not print it: people paste
// the secret itself where its name belongs.
func IsSecretName(text string) bool { return secretName.MatchString(text) }
