package strictyaml_test

import (
	"strings"
	"testing"

	"patra/internal/strictyaml"
)

func TestNearest(t *testing.T) {
	keys := []string{"store", "contact", "sources", "executor", "perPartition", "planner", "log", "id"}
	tests := []struct{ word, want string }{
		{"executer", "executor"},
		{"exeuctor", "executor"},
		{"source", "sources"},
		{"stor", "store"},
		{"per_partition", "perPartition"},
		{"per-partition", "perPartition"},
		{"PLANNER", "planner"},
		{"lgo", "log"},
		{"ID", "id"},
		{"ad", ""},
		{"x", ""},
		{"", ""},
		{"colour", ""},
		{"logging", "log"},
		{"exec", "executor"},
		{"lo", "log"},
		{strings.Repeat("x", 1_000_000), ""},
	}
	for _, tt := range tests {
		got, ok := strictyaml.Nearest(tt.word, keys)
		if got != tt.want || ok != (tt.want != "") {
			t.Errorf("%.20q: got %q %v, want %q", tt.word, got, ok, tt.want)
		}
	}
	if got, _ := strictyaml.Nearest("bat", []string{"cat", "bar", "bat"}); got != "bat" {
		t.Errorf("got %q, want the exact one", got)
	}
	if got, _ := strictyaml.Nearest("INCLUSIVE", []string{"EXCLUSIVE", "INCLUSIVE_DAY", "INCLUSIVE_SECOND"}); got != "INCLUSIVE_DAY" {
		t.Errorf("got %q, want what begins with the word and not its opposite", got)
	}
}
