// Command patra harvests scholarly literature into one store, and can prove what it covered.
package main

import (
	"os"

	"patra/internal/cli"
)

// version is set by the linker.
var version = "dev"

func main() { os.Exit(cli.Main(version)) }
