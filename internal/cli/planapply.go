package cli

import (
	"patra"

	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"patra/internal/planner"
)

func (a *app) planApplyCmd() *cobra.Command {
	var out format
	c := &cobra.Command{
		Use: "apply FILE", Short: "Store a plan exactly as --out wrote it, or say what has changed since", Args: exactArgs("FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			file, err := readPlan(args[0])
			if err != nil {
				return err
			}
			req, err := a.requestOf(c.Context(), file)
			if err != nil {
				return err
			}
			s, err := a.openOrCreate(c.Context())
			if err != nil {
				return err
			}
			p, err := a.planner(s, req.Contact, false)
			if err != nil {
				return err
			}
			res, err := p.Apply(c.Context(), now(), file, req)
			if err != nil {
				return err
			}
			return a.showStored(res, out)
		},
	}
	c.Flags().StringVar(&a.contact, "contact", "", "address sent where the provider asks for one, in place of contact")
	formatFlag(c, &out)
	return c
}

func readPlan(path string) (f planner.File, err error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, patra.Invalid("", "there is no file %s", path)
	}
	if err != nil {
		return f, patra.Environment(err)
	}
	if err := json.Unmarshal(b, &f); err != nil || f.Plan.Source == "" {
		return f, patra.Invalid("", "%s is not a plan that patra plan --out wrote", path)
	}
	return f, nil
}

// requestOf is the request that a plan file was made from.
func (a *app) requestOf(ctx context.Context, f planner.File) (planner.Request, error) {
	c, err := a.load()
	if err != nil {
		return planner.Request{}, err
	}
	src, rows, err := a.activeSource(ctx, f.Plan.Source)
	if err != nil {
		return planner.Request{}, err
	}
	return resolveOperation(rows, f.Request(src, c.Contact))
}
