//go:build race

package cli

// slower is how many times as long a test waits for others: who looks for races takes several times as long for everything.
const slower = 6
