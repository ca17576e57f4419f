package patra

import (
	"cmp"
	"slices"
)

// Failure is one page that failed.
type Failure struct {
	Source, Endpoint string
	Fault            Fault
	At               Instant
	TaskID, BatchID  int64
}

// FailureGroup is how often one thing went wrong, with the last time as the example.
type FailureGroup struct {
	Source   string         `json:"source"`
	Endpoint string         `json:"endpoint"`
	Code     string         `json:"code"`
	Level    Level          `json:"level"`
	Count    int64          `json:"count"`
	FirstAt  Instant        `json:"first_at"`
	LastAt   Instant        `json:"last_at"`
	Example  FailureExample `json:"example"`
}

// FailureExample is one of them.
type FailureExample struct {
	Task  int64  `json:"task"`
	Batch int64  `json:"batch"`
	Text  string `json:"text"`
}

// TopFailures are the groups with the most failures first, and of those with as many the one that happened last.
func TopFailures(all []Failure, most int) []FailureGroup {
	type key struct {
		source, endpoint, code string
		level                  Level
	}
	groups := map[key]*FailureGroup{}
	for _, f := range all {
		k := key{f.Source, f.Endpoint, f.Fault.Code, f.Fault.Level}
		g := groups[k]
		if g == nil {
			g = &FailureGroup{Source: f.Source, Endpoint: f.Endpoint, Code: f.Fault.Code, Level: f.Fault.Level, FirstAt: f.At}
			groups[k] = g
		}
		g.Count++
		g.FirstAt = min(g.FirstAt, f.At)
		if f.At >= g.LastAt {
			g.LastAt, g.Example = f.At, FailureExample{f.TaskID, f.BatchID, f.Fault.Error()}
		}
	}
	top := []FailureGroup{}
	for _, g := range groups {
		top = append(top, *g)
	}
	slices.SortFunc(top, func(a, b FailureGroup) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(b.LastAt, a.LastAt), cmp.Compare(a.Source, b.Source), cmp.Compare(a.Endpoint, b.Endpoint), cmp.Compare(a.Code, b.Code))
	})
	return top[:min(len(top), most)]
}
