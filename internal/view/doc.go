// Package view holds what people are shown of a store, one answer for both doors: the command line and the API ask the same
// function and print what it gives in their own form. It reads and never writes.
package view
