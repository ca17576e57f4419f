//go:build !race

package main

// slower is how many times as long a test waits for others.
const slower = 1
