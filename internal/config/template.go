package config

import _ "embed"

//go:embed patra.yaml
var template string

// Template is the patra.yaml that `patra init` writes: every key with its meaning and its default. Loading it changes
// nothing.
func Template() string { return template }
