package main

import (
	"bufio"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"patra"
)

func (a *app) exportCmd() *cobra.Command {
	var form, code, out string
	var lineage bool
	c := &cobra.Command{
		Use: "export", Short: "Write every stored record, one JSON object a line", Args: noArgs,
		Example: "  patra records export --format jsonl --source crossref > works.jsonl",
		RunE: func(c *cobra.Command, _ []string) (err error) {
			if form != "jsonl" {
				return usage("--format %q is not known; write jsonl", form)
			}
			s, err := a.open(c.Context())
			if err != nil {
				return err
			}
			w := bufio.NewWriterSize(a.stdout, 1<<20)
			if out != "" {
				f, err := os.OpenFile(out, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
				if err != nil {
					return environment(err)
				}
				defer f.Close()
				w = bufio.NewWriterSize(f, 1<<20)
			}
			n := int64(0)
			err = s.Records(c.Context(), code, func(r patra.Record) error {
				n++
				if lineage {
					if err := addLineage(c.Context(), s, &r); err != nil {
						return err
					}
				}
				return printJSON(w, r, "")
			})
			if err != nil {
				return err
			}
			if err := w.Flush(); err != nil {
				return environment(err)
			}
			fmt.Fprintf(a.stderr, "Exported %s.\n", plural(n, "record"))
			return nil
		},
	}
	c.Flags().StringVar(&form, "format", "jsonl", "jsonl")
	c.Flags().StringVar(&code, "source", "", "only this source")
	c.Flags().StringVar(&out, "out", "", "file to write, in place of standard output")
	c.Flags().BoolVar(&lineage, "lineage", false, "add the ids of the work that brought each record")
	return c
}
