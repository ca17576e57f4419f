package cli

import (
	"github.com/spf13/cobra"

	"patra/internal/config"
)

func (a *app) openapiCmd() *cobra.Command {
	return &cobra.Command{
		Use: "openapi", Short: "Print the OpenAPI document of the API", Args: noArgs,
		Long: "Openapi prints the document that patra serve gives at /api/openapi.json, for those who make clients of it.",
		RunE: func(*cobra.Command, []string) error {
			b, err := a.document()
			if err != nil {
				return err
			}
			_, err = a.stdout.Write(b)
			return err
		},
	}
}

// document describes the routes. It takes neither a store nor settings: it is the same everywhere.
func (a *app) document() ([]byte, error) {
	return a.apiServer(config.Default(), nil, nil, nil).Document()
}
