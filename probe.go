package patra

// Probe is what a provider says about a question before anybody asks for the records.
type Probe struct {
	Total   *int64   // how many there are, if it says so
	Trust   Trust    // what that is worth
	Items   int      // on the page that came
	HasNext bool     // there are more than that
	Last    *Instant // the greatest time on the page
	Bytes   int64

	Shown ShownIDs // on the page that came, of a provider that filters by the time of a record
}
