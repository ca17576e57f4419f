// Package engine is what the program does for people, whichever way they ask: the command line and the API call it with typed
// requests and print or answer what it returns.
//
// It reads facts from the store and hands them to pure packages. It never parses a flag, prints, or answers over HTTP.
package engine
