package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"patra"
	"patra/internal/config"
	"patra/internal/engine"
	"patra/internal/planner"
	"patra/internal/query"
	"patra/internal/source"
	"patra/internal/store"
)

// certifier finds out whether providers do what their source files say.
func (a *app) certifier(c config.Config, s *store.Store, contact string) *engine.Certifier {
	return &engine.Certifier{Store: s, Actor: actor, Place: a.placeOf, Provider: func(spec *source.Spec) engine.Examination {
		p := a.prober(c, s, patra.WorkScope{Source: spec.Source, Endpoint: spec.Endpoint, Operation: spec.Operation, Repository: patra.RepositoryKey(spec.Repository())})
		p.Vars.Contact, p.Tracer, p.Propagate = cmp.Or(contact, p.Vars.Contact), a.tracer(c), c.Trace.Propagate.On()
		return p
	}}
}

// placeOf is where a setting stands in the file of a source; of one that has no file it is unknown.
func (a *app) placeOf(code, path string) (file string, line int) {
	name, text, err := a.sourceText(code)
	if err != nil {
		return "", 0
	}
	return name, source.LineOf(name, text, path)
}

// contradictions are the warnings that a provider does not do what its source file says.
func contradictions(all patra.Problems) patra.Problems {
	return slices.DeleteFunc(slices.Clone(all), func(p patra.Problem) bool { return p.Code != patra.CodeContradicted })
}

func (a *app) sourceCertifyCmd() *cobra.Command {
	var f planFlags
	var out format
	var live bool
	c := &cobra.Command{
		Use: "certify SOURCE", Short: "Ask a provider whether it does what its source file says", Args: exactArgs("SOURCE"),
		Long: "Certify finds out, with at most 25 requests at the permitted rate, what a source file only claims: how the end of a window is\n" +
			"read and how finely it is filtered, whether parts add up, whether a page may be asked for again, whether totals are true, how a\n" +
			"list ends, whether its order holds, and whether a position is an index, a key or a place in a frozen list. Without --live it\n" +
			"shows what it would ask, and sends nothing. The card is kept in the registry, for the endpoint, the address and the\n" +
			"parameters; how windows are proved from then on goes by it. A contradiction names the line of the file to change (exit code 2).\n" +
			"Exit code 4 means that the claims are still not believed, because a question is open.",
		Example: `  patra source certify crossref --contact me@example.org
  patra source certify crossref --contact me@example.org --live
  patra source certify oai --param baseUrl=https://example.org/oai --from 2026-05-01 --to 2026-06-01 --live`,
		RunE: func(c *cobra.Command, args []string) error {
			req, spec, err := a.certifyRequest(c.Context(), args[0], f)
			if err != nil {
				return err
			}
			if !live {
				return a.showExam(spec, req, out)
			}
			return a.certify(c.Context(), spec, req, out)
		},
	}
	fl := c.Flags()
	fl.StringVar(&f.endpoint, "endpoint", "", "endpoint of the source, if it has several")
	fl.StringArrayVar(&f.params, "param", nil, "NAME=VALUE of a parameter of the source; may be given several times")
	fl.StringVar(&f.from, "from", "", "start of the window to look at (default days that are over for a week)")
	fl.StringVar(&f.to, "to", "", "its end, exclusive")
	fl.StringVar(&f.baseURL, "base-url", "", "mirror, proxy or simulator to ask in place of the source's own address")
	fl.StringVar(&a.contact, "contact", "", "address sent where the provider asks for one, in place of contact")
	fl.BoolVar(&live, "live", false, "send the requests")
	formatFlag(c, &out)
	return c
}

// certifyRequest is a source as its certification sees it.
func (a *app) certifyRequest(ctx context.Context, code string, f planFlags) (planner.Request, *source.Spec, error) {
	f.operation = patra.Harvest
	req, err := a.request(ctx, code, f)
	if err != nil {
		return req, nil, err
	}
	spec, err := source.Compile(req.Source, source.Options{Endpoint: req.Endpoint, Operation: req.Operation, Contact: req.Contact, Parameters: req.Params})
	if err != nil {
		return req, nil, err
	}
	if err := spec.Harvestable(); err != nil {
		return req, nil, err
	}
	if err := spec.RequireHTTPS(req.BaseURL, a.config.Sources.Insecure); err != nil {
		return req, nil, err
	}
	_, err = spec.Access(a.credentials().Have)
	return req, spec, err
}

// plannedExam is what a certification would ask.
type plannedExam struct {
	Source   string            `json:"source"`
	Endpoint string            `json:"endpoint"`
	Most     int               `json:"most_requests"`
	First    string            `json:"first_request"`
	Steps    []source.ExamStep `json:"steps"`
	Now      string            `json:"witness_now"`
	Then     string            `json:"witness_if_certified"`
}

// showExam tells what a certification would ask, and sends nothing.
func (a *app) showExam(spec *source.Spec, req planner.Request, out format) error {
	exam := source.NewExam(spec, patra.CertificateFull, now(), req.From, req.To)
	ask, _ := exam.Next()
	call, err := spec.Build(query.All(), ask.Window, ask.Position, req.BaseURL, source.Vars{Contact: req.Contact, Version: a.version})
	if err != nil {
		return err
	}
	v := plannedExam{Source: spec.Source, Endpoint: spec.Endpoint, Most: source.MaxExamRequests[patra.CertificateFull], First: call.Method + " " + call.URL, Steps: exam.Steps(),
		Now: spec.Witness(query.All()).Sentence(), Then: spec.Certifying().Sentence()}
	if out != "table" {
		return printValue(a.stdout, out, v)
	}
	fmt.Fprintf(a.stdout, "At most %d requests to %s, the first of them\n  %s\n\n", v.Most, spec.At(req.BaseURL), v.First)
	for _, s := range v.Steps {
		fmt.Fprintf(a.stdout, "  %-8s at most %d: %s %v\n", s.Role, s.Most, s.Why, s.Questions)
	}
	fmt.Fprintf(a.stdout, "\nWitness now: %s\nIf certified: %s\n", v.Now, v.Then)
	_, err = fmt.Fprintf(a.stdout, "\nNothing was sent. Next: the same with --live\n")
	return err
}

// certify asks the provider, keeps the card and shows it.
func (a *app) certify(ctx context.Context, spec *source.Spec, req planner.Request, out format) error {
	s, err := a.openOrCreate(ctx)
	if err != nil {
		return err
	}
	card, err := a.certifier(*a.config, s, req.Contact).Certify(ctx, now(), engine.CertifyRequest{Spec: spec, BaseURL: req.BaseURL, Form: patra.CertificateFull, From: req.From, To: req.To})
	if err != nil {
		return err
	}
	if out != "table" {
		err = printValue(a.stdout, out, card)
	} else {
		_, err = io.WriteString(a.stdout, card.Markdown())
	}
	if err != nil {
		return err
	}
	var found patra.Problems
	for _, f := range card.Contradictions() {
		found = append(found, f.Problem(card))
	}
	if card.Verdict == patra.CertificateUndecided && spec.Basis == "" {
		return patra.Incomplete("what %s says is still not believed, because these questions are open: %s; name a window with more records with {from} and {to}", spec.Source, joined(card.Open()))
	}
	return found.Err()
}

// certificateList is what is known of the claims of a source.
type certificateList struct {
	Certificates []patra.Certificate `json:"certificates" nullable:"false"`
	Endpoints    []endpointWitness   `json:"endpoints" nullable:"false"`
}

// endpointWitness is how the windows of an endpoint are proved without a certificate, and what one would gain.
type endpointWitness struct {
	Endpoint string            `json:"endpoint"`
	Now      patra.WitnessPlan `json:"now"`
	Then     patra.WitnessPlan `json:"if_certified"`
}

func (a *app) sourceCertificateCmd() *cobra.Command {
	var endpoint string
	var out format
	var limit int
	c := &cobra.Command{
		Use: "certificate SOURCE", Short: "Show what was found out about a provider, and how its windows are proved", Args: exactArgs("SOURCE"),
		Example: "  patra source certificate crossref\n  patra source certificate oai -o json",
		RunE: func(c *cobra.Command, args []string) error {
			if limit < 1 || limit > mostCertificates {
				return patra.Invalid("limit", "{limit} %d is not between 1 and %d", limit, mostCertificates)
			}
			s, err := a.registryStore(c.Context())
			if err != nil {
				return err
			}
			list, err := a.certificates(c.Context(), s, args[0], endpoint, limit)
			if err != nil {
				return err
			}
			if out != "table" {
				return printValue(a.stdout, out, list)
			}
			return list.print(a.stdout, args[0])
		},
	}
	c.Flags().StringVar(&endpoint, "endpoint", "", "only this endpoint")
	c.Flags().IntVar(&limit, "limit", 1, "show at most this many, newest first")
	formatFlag(c, &out)
	return c
}

const mostCertificates = 100

// certificates are those of a source; s nil: there is no store yet.
func (a *app) certificates(ctx context.Context, s *store.Store, code, endpoint string, limit int) (list certificateList, err error) {
	list = certificateList{Certificates: []patra.Certificate{}, Endpoints: []endpointWitness{}}
	f, _, err := a.activeSource(ctx, code)
	if err != nil {
		return list, err
	}
	if list.Endpoints = witnesses(f, endpoint); len(list.Endpoints) == 0 && endpoint != "" {
		return list, patra.Invalid("", "source %s has no endpoint %q that can be searched", code, endpoint)
	}
	if s == nil {
		return list, nil
	}
	found, err := s.Certificates(ctx, code, endpoint, limit)
	list.Certificates = append(list.Certificates, found...)
	return list, err
}

// witnesses are the endpoints of a source whose windows are proved.
func witnesses(f *source.File, only string) []endpointWitness {
	all := []endpointWitness{}
	params := map[string]string{}
	for name := range f.Parameters { // what only the user can say does not matter here
		params[name] = "https://example.org"
	}
	for name := range f.Endpoints {
		spec, err := source.Compile(f, source.Options{Endpoint: name, Operation: patra.Harvest, Contact: "nobody@example.org", Parameters: params})
		if err == nil && spec.Harvestable() == nil && (only == "" || only == name) {
			all = append(all, endpointWitness{name, spec.Witness(query.All()), spec.Certifying()})
		}
	}
	slices.SortFunc(all, func(x, y endpointWitness) int { return cmp.Compare(x.Endpoint, y.Endpoint) })
	return all
}

func (l certificateList) print(w io.Writer, code string) (err error) {
	for _, c := range l.Certificates {
		fmt.Fprintln(w, c.Markdown())
	}
	if len(l.Certificates) == 0 {
		fmt.Fprintf(w, "%s was never examined. Next: patra source certify %s\n\n", code, code)
	}
	for _, e := range l.Endpoints {
		_, err = fmt.Fprintf(w, "%s without a certificate: %s\n%s if certified: %s\n", e.Endpoint, e.Now.Sentence(), e.Endpoint, e.Then.Sentence())
	}
	return err
}
