package registry

import (
	"patra"
)

// Choose gives the one row of a dimension that counts at an instant: of those that are in force and active, the most
// specific of endpoint and operation, endpoint, operation, source; and of several the newest.
func Choose(rows []patra.RegistryRow, d patra.Dimension, at patra.Instant, endpoint string, op patra.Operation) (patra.RegistryRow, bool) {
	type scope struct {
		endpoint  string
		operation patra.Operation
	}
	for _, s := range []scope{{endpoint, op}, {endpoint, ""}, {"", op}, {"", ""}} {
		if row, ok := exact(rows, d, at, s.endpoint, s.operation); ok {
			return row, true
		}
	}
	return patra.RegistryRow{}, false
}

// exact gives the newest row in force of exactly one scope.
func exact(rows []patra.RegistryRow, d patra.Dimension, at patra.Instant, endpoint string, op patra.Operation) (newest patra.RegistryRow, found bool) {
	for _, r := range rows {
		if r.Dimension != d || r.Endpoint != endpoint || r.Operation != op || !r.LiveAt(at) {
			continue
		}
		if !found || r.From > newest.From || r.From == newest.From && r.ID > newest.ID {
			newest, found = r, true
		}
	}
	return newest, found
}

// chain is the rows that a dimension is merged from, lowest first: what the source says, what the endpoint says, and
// the chosen row, unless it is one of them.
func chain(rows []patra.RegistryRow, d patra.Dimension, at patra.Instant, endpoint string, op patra.Operation) []patra.RegistryRow {
	var found []patra.RegistryRow
	if row, ok := exact(rows, d, at, "", ""); ok {
		found = append(found, row)
	}
	if row, ok := exact(rows, d, at, endpoint, ""); ok && endpoint != "" {
		found = append(found, row)
	}
	if row, ok := Choose(rows, d, at, endpoint, op); ok && row.Operation != "" {
		found = append(found, row)
	}
	return found
}
