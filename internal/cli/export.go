package cli

import (
	"github.com/spf13/cobra"

	"patra/internal/export"
)

// exportFlags are what a person can say about taking records out.
type exportFlags struct {
	format, out, layout, partSize, separator string
	sources, where, fields, columns          []string
	recordType, deleted, gone                string
	from, to, changedSince                   string
	limit                                    int64
	raw, rawCells, lineage, missing          bool
	cursor                                   string
	how                                      export.ExistingPolicy

	rawSaid, separatorSaid bool
	unsaid                 bool // nobody said which format
	print                  format
}

func (a *app) exportCmd() *cobra.Command {
	var f exportFlags
	c := &cobra.Command{
		Use: "export", Short: "Take records out: as JSON lines, CSV, TSV or Parquet", Args: noArgs,
		Long: "Export writes stored records to standard output, a file, or a folder of parts. Nothing half written ever has its final\n" +
			"name; what was cut off goes on with --resume. With --cursor NAME it takes only what changed since the last time.",
		Example: `  patra records export --format jsonl --source crossref > works.jsonl
  patra records export --out works.parquet --where 'title~heart'
  patra records export --out works.csv --columns id,title,doi,published
  patra records export --format parquet --layout hive --out lake/
  patra records export --cursor nightly --resume --out changes-$(date +%F).jsonl`,
		RunE: func(c *cobra.Command, _ []string) error {
			f.rawSaid, f.separatorSaid = c.Flags().Changed("raw"), c.Flags().Changed("list-separator")
			return a.export(c.Context(), f)
		},
	}
	fl := c.Flags()
	fl.StringVar(&f.format, "format", "", "jsonl, csv, tsv or parquet (default by the name of --out, else jsonl)")
	fl.StringVar(&f.out, "out", "-", "file or folder to write; - is standard output")
	fl.StringSliceVar(&f.sources, "source", nil, "only these sources")
	fl.StringVar(&f.recordType, "type", "", "only this record type")
	fl.StringArrayVar(&f.where, "where", nil, "condition on a field, as for records query; may be given several times")
	fl.StringVar(&f.from, "from", "", "only what the provider changed from then on: 2026-01-31 or 2026-01-31T09:30:00Z")
	fl.StringVar(&f.to, "to", "", "only what the provider changed before")
	fl.StringVar(&f.changedSince, "changed-since", "", "only what changed here since")
	fl.StringVar(&f.deleted, "deleted", "include", "what the provider deleted: include, exclude or only")
	fl.StringVar(&f.gone, "gone", "include", "what the provider refused so often that it is gone: include, exclude or only")
	fl.BoolVar(&f.missing, "missing", false, "only what the provider refused and what is not gone yet; with --gone only both")
	fl.StringSliceVar(&f.fields, "fields", nil, "only these mapped fields, such as title,doi")
	fl.StringSliceVar(&f.columns, "columns", nil, "the columns of a table, such as id,title,doi")
	fl.BoolVar(&f.raw, "raw", false, "with what the provider sent (JSON lines have it unless you say --raw=false)")
	fl.BoolVar(&f.rawCells, "raw-cells", false, "CSV, TSV: leave cells as they are that a spreadsheet takes for formulas")
	fl.StringVar(&f.separator, "list-separator", "; ", "CSV, TSV: what stands between the members of a list; json writes lists as JSON")
	fl.Int64Var(&f.limit, "limit", 0, "at most this many, oldest first; 0 is all")
	fl.BoolVar(&f.lineage, "lineage", false, "JSON lines: add the ids of the work that brought each record")
	fl.StringVar(&f.layout, "layout", "", "hive: folders source=.../year=... (the year of the provider's change)")
	fl.StringVar(&f.partSize, "part-size", "", "write a folder of parts of about this size: 500MB or 100000rows")
	fl.StringVar(&f.cursor, "cursor", "", "take what changed since the last export of this name")
	fl.BoolVar(&f.how.Resume, "resume", false, "go on with what was cut off, if there is something")
	fl.BoolVar(&f.how.Force, "force", false, "write over what is there")
	formatFlag(c, &f.print)
	return c
}
