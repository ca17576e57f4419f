package patra

// Estimate is how many records somebody expects, and on what grounds. It is stored with the slice that was made by it.
type Estimate struct {
	Records int64          `json:"records"`
	Grounds EstimateMethod `json:"source"`
}

// EstimateMethod says where an estimate is from.
type EstimateMethod string

// The grounds, best first.
const (
	ByCount     EstimateMethod = "COUNT"      // the provider counted
	ByShare     EstimateMethod = "SHARE"      // a part of what the provider counted for a longer stretch
	ByHistory   EstimateMethod = "HISTORY"    // what similar windows had
	ByFirstPage EstimateMethod = "FIRST_PAGE" // how far one page reached
	ByConstant  EstimateMethod = "CONSTANT"   // nothing is known
)
