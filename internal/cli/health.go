package cli

import (
	"patra"

	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"patra/internal/egress"
	"patra/internal/observe"
	"patra/internal/view"
)

// healthTime is how long a process that is well may take to say so.
const healthTime = 5 * time.Second

func (a *app) healthCmd() *cobra.Command {
	var address string
	var ready, complete bool
	var out format
	c := &cobra.Command{
		Use: "health", Short: "Ask a process that serves whether it is well", Args: noArgs,
		Long: "Health asks the process that serves at ops.listen whether it is alive, or with --ready whether it can work, and says\nwhom it asked. With --complete it asks how everything stands: whether work, plans or schedules failed, and whether anything is\nmissing or in dispute; exit code 4 means that it is so. Being alive and ready does not depend on that. Of several processes without that key the first has the usual port; each prints its own when it starts.\nIt is for whoever looks after processes and has no other program at hand, as in a container. Exit code 1 means that it\nis not well.",
		Example: `  patra health
  patra health --ready
  patra health --complete
  patra health --url http://127.0.0.1:8080/healthz       the API, where there is no ops.listen`,
		RunE: func(c *cobra.Command, _ []string) error {
			if address == "" {
				cfg, err := a.load()
				if err != nil {
					return err
				}
				at, _ := cfg.Ops.Address()
				if at == "" {
					return patra.Invalid("", "ops.listen is off, so that nobody answers; let it name an address, or write {url}")
				}
				address = "http://" + onThisMachine(at) + "/healthz"
				if complete {
					address = "http://" + onThisMachine(at) + "/verdict"
				} else if ready {
					address = "http://" + onThisMachine(at) + "/readyz"
				}
			}
			if complete {
				return a.healthVerdict(c.Context(), address, out)
			}
			return a.health(c.Context(), address, out)
		},
	}
	c.Flags().StringVar(&address, "url", "", "the address to ask, in place of ops.listen")
	c.Flags().BoolVar(&ready, "ready", false, "ask whether it can work now, and not only whether it is alive")
	c.Flags().BoolVar(&complete, "complete", false, "ask how everything stands, and whether anything is missing")
	c.MarkFlagsMutuallyExclusive("ready", "complete")
	formatFlag(c, &out)
	return c
}

// mostVerdict is how many bytes of a verdict are read.
const mostVerdict = 4 << 20

// healthVerdict asks how everything stands; that something is not OK is no error of the process.
func (a *app) healthVerdict(ctx context.Context, address string, out format) error {
	resp, err := askHealth(ctx, address)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	var v view.Verdict
	if err := json.NewDecoder(io.LimitReader(resp.Body, mostVerdict)).Decode(&v); err != nil || resp.StatusCode != http.StatusOK || v.Health == "" {
		return fmt.Errorf("%s answers with %s and no verdict; is it ops.listen of patra serve?", address, resp.Status)
	}
	if out != "table" {
		if err := printValue(a.stdout, out, v); err != nil {
			return err
		}
	} else {
		printVerdict(a.stdout, v)
	}
	return verdictProblem(v)
}

// verdictProblem is nil where nothing needs a person: everything is read or under way.
func verdictProblem(v view.Verdict) error {
	if v.Complete && !v.Health.AtLeast(view.HealthLate) {
		return nil
	}
	return patra.Incomplete("not everything is in order: %s. patra doctor looks at the rest", strings.ToLower(string(v.Health)))
}

// printVerdict prints a verdict and each of its reasons with its next step.
func printVerdict(w io.Writer, v view.Verdict) {
	fmt.Fprintf(w, "%s  %s\n", v.Health, wrapped(v.Message, 2+len(v.Health)))
	for _, r := range v.Reasons {
		fmt.Fprintf(w, "  %-12s %s\n", strings.ToLower(strings.ReplaceAll(string(r.Kind), "_", " ")), wrapped(r.Message, 15))
		fmt.Fprintf(w, "  %-12s → %s\n", "", r.Next) // a command is not broken: people copy it
	}
}

// onThisMachine is where an address that is listened at can be reached from here: one that stands for all of a machine's
// addresses stands for its own.
func onThisMachine(listened string) string {
	host, port, err := net.SplitHostPort(listened)
	if at := net.ParseIP(host); err == nil && (host == "" || at != nil && at.IsUnspecified()) {
		return net.JoinHostPort("localhost", port)
	}
	return listened
}

// health asks an address; what begins with 2 is a good answer. Who is not well is said so as an error in every format.
func (a *app) health(ctx context.Context, address string, out format) error {
	resp, err := askHealth(ctx, address)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	u := resp.Request.URL
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("not well: %s answers with %s%s", u, resp.Status, observe.NotReady(resp.Body))
	}
	if out != "table" {
		return printValue(a.stdout, out, map[string]any{"well": true, "asked": u.Redacted()})
	}
	fmt.Fprintf(a.stdout, "well, says %s\n", u.Redacted()) // of several that serve here, who was asked is half of the answer
	return nil
}

// askHealth asks an address of a process.
func askHealth(ctx context.Context, address string) (*http.Response, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, patra.Invalid("url", "{url} %q is not an address; write one such as http://127.0.0.1:9090/healthz", address)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, patra.Invalid("url", "{url}: %s", err)
	}
	resp, err := egress.NewClient(egress.Options{Host: u.Host, Trusted: true, Connect: healthTime, Headers: healthTime, Total: healthTime}).Do(req)
	if err != nil {
		return nil, fmt.Errorf("not well: nobody answers at %s (%s). Start patra serve, or say with --url where it is", u.Host, strings.TrimPrefix(err.Error(), fmt.Sprintf("Get %q: ", u.String())))
	}
	return resp, nil
}
