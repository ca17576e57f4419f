package patra

import "encoding/json"

// MergedFromRecords are what an observation says about records whose place its own has taken: they are gone, and here is who is
// there in their stead. It says nothing about when that was, so what counts is when we heard of it.
func (o Observation) MergedFromRecords() (all []Observation) {
	for _, id := range o.MergedFrom {
		if id == o.ID || id == "" {
			continue
		}
		said := map[string]string{"id": id, "merged_into": o.ID}
		raw, _ := json.Marshal(said) // texts always have a form
		all = append(all, Observation{ID: id, ObservedAt: o.ObservedAt, Hash: Hash(said), Deleted: true, MergedInto: o.ID,
			Fields: json.RawMessage("{}"), Raw: raw, RawCode: "JSON"})
	}
	return all
}
