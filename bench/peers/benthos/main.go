// Command benthos is Benthos with the parts that the benchmark's configuration names, and no others.
package main

import (
	"context"

	_ "github.com/benthosdev/benthos/v4/public/components/io"
	_ "github.com/benthosdev/benthos/v4/public/components/pure"
	_ "github.com/benthosdev/benthos/v4/public/components/sql/base"
	"github.com/benthosdev/benthos/v4/public/service"
	_ "modernc.org/sqlite"
)

func main() { service.RunCLI(context.Background()) }
