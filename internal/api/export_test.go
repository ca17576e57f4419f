package api

// SetMostLooked changes how many windows and watermarks one call looks through for gaps, and gives what changes it back.
func SetMostLooked(windows, cursors int) func() {
	before, searched := mostLooked, mostSearched
	mostLooked, mostSearched = windows, cursors
	return func() { mostLooked, mostSearched = before, searched }
}

// SetMostCursors changes how many watermarks one look takes, and gives what changes it back.
func SetMostCursors(n int) func() {
	before := mostCursors
	mostCursors = n
	return func() { mostCursors = before }
}
