// Patra-check judges a harvest from outside: tables, kept answers and logs on one side, what the provider wrote down on the other.
package main

import (
	"context"
	"os"

	"patra/internal/verifier"
)

func main() { os.Exit(verifier.Main(context.Background(), os.Args[1:], os.Stdout, os.Stderr)) }
