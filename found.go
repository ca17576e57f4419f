package patra

import "encoding/json"

// RecordSummary is a record as a list shows it: without what the provider sent.
type RecordSummary struct {
	Source     string                     `json:"source"`
	Type       string                     `json:"record_type"`
	ID         string                     `json:"id"`
	Repository string                     `json:"repository,omitempty"`
	Rev        int64                      `json:"rev"`
	UpdatedAt  *Instant                   `json:"updated_at"`
	ChangedAt  Instant                    `json:"changed_at"`
	Deleted    bool                       `json:"deleted"`
	MergedInto string                     `json:"merged_into,omitempty"`
	Retracted  bool                       `json:"retracted,omitempty"`
	Missing    *Instant                   `json:"missing_since,omitempty"`
	GoneAt     *Instant                   `json:"gone_at,omitempty"`
	Fields     map[string]json.RawMessage `json:"fields"`
}

// SummarizeRecord is a record with some of its fields, or all if none is named.
func SummarizeRecord(r Record, fields []string) RecordSummary {
	f := RecordSummary{Source: r.Source, Type: r.Type, ID: r.ProviderID, Repository: r.Repository, Rev: r.Rev, UpdatedAt: r.UpdatedAt, ChangedAt: r.ChangedAt, Deleted: r.Deleted, MergedInto: r.MergedInto, Retracted: r.Retracted, Missing: r.MissingSince, GoneAt: r.GoneAt}
	all := map[string]json.RawMessage{}
	if json.Unmarshal(r.Fields, &all) != nil || len(fields) == 0 {
		f.Fields = all
		return f
	}
	f.Fields = map[string]json.RawMessage{}
	for _, name := range fields {
		if v, ok := all[name]; ok {
			f.Fields[name] = v
		}
	}
	return f
}
