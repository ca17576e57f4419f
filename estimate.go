package patra

// Estimate is how many records somebody expects, and on what grounds. It is stored with the slice that was made by it.
type Estimate struct {
	Records int64   `json:"records"`
	Grounds Grounds `json:"source"`
}

// Grounds says where an estimate is from.
type Grounds string

// The grounds, best first.
const (
	ByCount     Grounds = "COUNT"      // the provider counted
	ByShare     Grounds = "SHARE"      // a part of what the provider counted for a longer stretch
	ByHistory   Grounds = "HISTORY"    // what similar windows had
	ByFirstPage Grounds = "FIRST_PAGE" // how far one page reached
	ByConstant  Grounds = "CONSTANT"   // nothing is known
)
