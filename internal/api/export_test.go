package api

// SetMostCursors changes how many watermarks one look takes, and gives what changes it back.
func SetMostCursors(n int) func() {
	before := mostCursors
	mostCursors = n
	return func() { mostCursors = before }
}
