package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"patra"
	"patra/internal/api"
	"patra/internal/config"
)

func (a *app) tokenCmd() *cobra.Command {
	c := &cobra.Command{
		Use: "token", Short: "Let people and programs call the API, and shut them out", Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.tokenCreateCmd(), a.tokenListCmd(), a.tokenRevokeCmd())
	return c
}

func (a *app) tokenCreateCmd() *cobra.Command {
	w := api.TokenRequest{Rank: patra.Viewer}
	var role string
	var out format
	c := &cobra.Command{
		Use: "create NAME", Short: "Make a token; its secret is shown this once", Args: exactArgs("NAME"),
		Long:    "Create makes a token for a person or a program. A viewer may look, an operator may steer work, and an admin may also give\ntokens and rewind sinks. What providers answered is seen only with --evidence. Of the secret nothing but a hash is kept.",
		Example: "  patra token create ada --role operator\n  patra token create auditor --evidence --days 7",
		RunE: func(c *cobra.Command, args []string) error {
			w.Name, w.Rank = args[0], patra.TokenRole(strings.ToLower(role))
			s, err := a.openOrCreate(c.Context())
			if err != nil {
				return err
			}
			t, err := api.Issue(c.Context(), s, now(), w, actor(c.Context()))
			if p, ok := errors.AsType[*api.Problem](err); ok {
				return patra.Invalid("", "%s", p.Detail)
			}
			if err != nil {
				return err
			}
			if out != "table" {
				return printValue(a.stdout, out, t)
			}
			fmt.Fprintf(a.stdout, "%s is %s until %s. The secret, which nobody can tell again:\n\n  %s\n\nNext: curl -H 'Authorization: Bearer ...' %s/api/v1/session, or paste it into the dashboard\n", t.Name, api.Permission{Rank: t.Rank, Evidence: t.Evidence}, seconds(t.ExpiresAt), t.Secret, a.apiAddress())
			return nil
		},
	}
	fl := c.Flags()
	fl.StringVar(&role, "role", string(patra.Viewer), "viewer, operator or admin")
	fl.BoolVar(&w.Evidence, "evidence", false, "may also see what providers answered")
	fl.IntVar(&w.Days, "days", 90, "how long it is good for, at most 366")
	formatFlag(c, &out)
	return c
}

func (a *app) tokenListCmd() *cobra.Command {
	var out format
	c := &cobra.Command{
		Use: "list", Short: "List tokens, without their secrets", Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := a.open(c.Context())
			if err != nil {
				return err
			}
			all, err := s.Tokens(c.Context())
			if err != nil {
				return err
			}
			return printRows(a.stdout, out, all, columns[patra.Token]{
				names: []string{"id", "name", "role", "state", "until", "last used"},
				row: func(t patra.Token) []any {
					used := "never"
					if t.LastUsedAt != nil {
						used = seconds(*t.LastUsedAt)
					}
					return []any{t.ID, wrapped(t.Name, 0), api.Permission{Rank: t.Rank, Evidence: t.Evidence}.String(), tokenState(t), seconds(t.ExpiresAt), used}
				},
				empty: "There are no tokens. Next: patra token create NAME --role operator",
			})
		},
	}
	formatFlag(c, &out)
	return c
}

func tokenState(t patra.Token) string {
	switch {
	case t.RevokedAt != nil:
		return "revoked"
	case !t.Valid(now()):
		return "expired"
	}
	return "good"
}

func (a *app) tokenRevokeCmd() *cobra.Command {
	var reason string
	var out format
	c := &cobra.Command{
		Use: "revoke ID", Short: "Shut somebody out at once, with all their sessions", Args: exactArgs("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			id, err := strconv.ParseInt(args[0], 10, 64)
			if err != nil {
				return patra.Invalid("", "%q is not the id of a token; see patra token list", args[0])
			}
			return a.revoke(c.Context(), id, reason, out)
		},
	}
	reasonFlag(c, &reason)
	formatFlag(c, &out)
	return c
}

func (a *app) revoke(ctx context.Context, id int64, reason string, out format) error {
	s, err := a.open(ctx)
	if err != nil {
		return err
	}
	t, err := s.RevokeToken(ctx, now(), id, actor(ctx), reason)
	if errors.Is(err, patra.ErrNotFound) {
		return patra.Invalid("", "there is no token %d in force; see patra token list", id)
	}
	if err != nil {
		return err
	}
	return a.done(out, t, t.Name+" may not call any more.", "")
}

// apiAddress is where the API is asked from this machine, as far as patra.yaml says.
func (a *app) apiAddress() string {
	cfg, err := a.load()
	at, _ := cfg.API.Address()
	if err != nil || at == "" {
		at = config.UsualListen
	}
	if cfg.API.TLS.Cert != "" {
		return "https://" + onThisMachine(at)
	}
	return "http://" + onThisMachine(at)
}
