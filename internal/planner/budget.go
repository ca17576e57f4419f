package planner

import "patra"

// A slice may take twice what was expected of it, and a little more, before it is cut again.
const (
	budgetFactor   = 2
	budgetRequests = 10
	budgetSeconds  = 600
	budgetPatience = 10 // times the time that the requests take at the permitted rate
)

// budget is the hard limit of a slice. Where nothing is known, a slice may have what the largest would have.
func (j *job) budget(est patra.Estimate) *patra.Budget {
	n := est.Records
	if est.Grounds == patra.ByConstant {
		n = max(n, j.Target)
	}
	requests := budgetFactor*j.tariff.Requests(n) + budgetRequests
	return &patra.Budget{
		MaxRequests: requests,
		MaxRecords:  budgetFactor * (n + max(j.tariff.PageSize, 1)),
		MaxSeconds:  max(budgetSeconds, int64(budgetPatience*float64(requests)/max(j.tariff.PerSecond, 0.001))),
		Priority:    j.plan.Priority,
	}
}
