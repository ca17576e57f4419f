package store

import (
	"cmp"
	"slices"

	"patra"
)

// absorb writes what new versions say about records whose place they have taken. Only those that are stored are meant, and
// none that the page itself brings: whoever is on it is there. They are no items of the page, so its counts do not know
// them, and their versions have a code of their own, by which the books add up.
func (in *recordWriter) absorb(arrived []patra.Observation) error {
	var gone []patra.Observation
	for _, o := range in.taken {
		gone = append(gone, o.MergedFromRecords()...)
	}
	gone = slices.DeleteFunc(gone, func(g patra.Observation) bool {
		return slices.ContainsFunc(arrived, func(o patra.Observation) bool { return o.ID == g.ID })
	})
	slices.SortStableFunc(gone, func(a, b patra.Observation) int { return cmp.Compare(a.ID, b.ID) })
	gone = slices.CompactFunc(gone, func(a, b patra.Observation) bool { return a.ID == b.ID }) // one that two name goes to the first
	all := make([]incomingRecord, len(gone))
	for i, g := range gone {
		all[i] = asIncoming(g, in.rules)
	}
	for part := range slices.Chunk(all, chunk) {
		stored, err := in.known(idsOf(part))
		if err != nil {
			return err
		}
		for _, g := range part {
			have := stored[g.ID]
			if have == nil || in.merge.Decide(&have.Version, g.Version()) != patra.Replace {
				continue
			}
			if err := in.replace(g, have, patra.ChangeTakenOver); err != nil {
				return err
			}
		}
		if err := in.addChanges(&in.made); err != nil {
			return err
		}
	}
	return nil
}
