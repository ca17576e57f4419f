//go:build !race

package cli

// slower is how many times as long a test waits for others.
const slower = 1
