//go:build !unix

package store

func openFiles() string { return "" }
