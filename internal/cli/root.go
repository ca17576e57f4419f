package cli

import (
	"patra"

	"errors"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"patra/internal/strictyaml"
)

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "patra",
		Short: "Harvest scholarly literature completely, politely and provably",
		Long: strings.TrimSpace(`
Patra harvests scholarly and medical literature from web APIs into one deduplicated store.
It plans time windows into slices, reads them in parallel under leases, respects the limits
of every provider, and keeps the proof of what it covered.`),
		Example: `  patra demo --once                                   see it work, offline
  patra init                                          write patra.yaml, create the store
  patra harvest crossref --from 2026-11-01 --to 2026-11-03
  patra records export --format jsonl > works.jsonl`,
		SilenceErrors:              true,
		SuggestionsMinimumDistance: 2,
		SilenceUsage:               true,
		// Without a command the help is what a person wants to see.
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
		Args: noArgs,
	}
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.SetFlagErrorFunc(flagError)
	flags := root.PersistentFlags()
	flags.StringVar(&a.configPath, "config", "", "configuration file (default patra.yaml, if it is there)")
	flags.StringVar(&a.storeURL, "store", "", "store URL, in place of store.url")
	flags.StringVar(&a.logLevel, "log-level", "", "debug, info, warn or error, in place of log.level")
	root.AddCommand(a.initCmd(), a.migrateCmd(), a.versionCmd(), a.simCmd(), a.demoCmd(), a.planCmd(), a.harvestCmd(), a.backfillCmd(), a.updateCmd(), a.campaignCmd(), a.serveCmd(), a.relayCmd(), a.eventsCmd(), a.schedulesCmd(), a.triggersCmd(), a.sourceCmd(), a.specCmd(), a.queryCmd(), a.recordsCmd(), a.exportsCmd(),
		a.plansCmd(), a.slicesCmd(), a.tasksCmd(), a.runsCmd(), a.batchesCmd(), a.cursorCmd(), a.coverageCmd(), a.lineageCmd(), a.doctorCmd(), a.healthCmd(), a.backupCmd(), a.quarantineCmd(), a.signalCmd(),
		a.pauseCmd(), a.resumeCmd(), a.cancelCmd(), a.retryCmd(), a.priorityCmd(), a.controlsCmd(), a.healingCmd(), a.alertsCmd(), a.whyCmd(), a.gateCmd(),
		a.checkCmd(), a.auditCmd(), a.replayCmd(), a.remapCmd(), a.blackboxCmd(), a.archiveCmd(), a.tokenCmd(), a.openapiCmd())
	return root
}

// flagError says what is wrong with a flag, and which one may have been meant.
func flagError(c *cobra.Command, err error) error {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return patra.Invalid("", "%s", err)
	}
	var known []string
	c.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
	if near, ok := strictyaml.Nearest(unknown.GetSpecifiedName(), known); ok {
		return patra.Invalid("", "%s; did you mean --%s?", err, near)
	}
	return patra.Invalid("", "%s; see %s --help", err, c.CommandPath())
}

// noArgs refuses stray words with a sentence.
func noArgs(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if c.HasSubCommands() {
		text := "there is no command " + quote(c.CommandPath()+" "+args[0])
		if near := c.SuggestionsFor(args[0]); len(near) > 0 {
			return patra.Invalid("", "%s; did you mean %q?", text, near[0])
		}
		return patra.Invalid("", "%s; see %s --help", text, c.CommandPath())
	}
	return patra.Invalid("", "%s takes no arguments, but was given %q", c.CommandPath(), args[0])
}

// atMostOne allows one argument or none.
func atMostOne(c *cobra.Command, args []string) error {
	if len(args) > 1 {
		return patra.Invalid("", "%s takes one argument at most, but was given %d", c.CommandPath(), len(args))
	}
	return nil
}

// exactArgs asks for the named arguments.
func exactArgs(names ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == len(names) {
			return nil
		}
		if len(args) > len(names) {
			return patra.Invalid("", "%s takes %s, but was given %s too", c.CommandPath(), strings.Join(names, " "), quote(strings.Join(args[len(names):], " ")))
		}
		return patra.Invalid("", "%s needs: %s", c.CommandPath(), strings.Join(names, " "))
	}
}
