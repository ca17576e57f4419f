package source

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"patra"
	"patra/internal/query"
)

// discovered is what a file writes for a precision or an upper bound that differs from provider to provider.
const discovered = "DISCOVER"

// wide is the window with the request that loses nothing in place of what is to be found out: by the coarsest unit that
// a provider may have, and up to the beginning of the unit after the window, which a provider that includes it answers
// with a bit more than was asked for. The block says which of both is still to be found out.
func (w Window) wide() Window {
	if w.Upper != discovered {
		return w
	}
	var open Discover
	if w.Discover != nil {
		open = *w.Discover
	}
	if w.Precision == discovered {
		w.Precision = open.coarsest()
	}
	w.Upper, w.Discover = string(query.Exclusive), &open
	return w
}

// coarsest is the longest unit among the words.
func (d Discover) coarsest() patra.Unit {
	units := slices.Collect(maps.Values(d.Words))
	return slices.MaxFunc(append(units, patra.UnitMillisecond), func(a, b patra.Unit) int {
		return slices.Index(patra.Units, a) - slices.Index(patra.Units, b)
	})
}

// ShowsEvidence reports whether a record that the provider has shown must be found in the window in which its time lies:
// where the filter goes by that time, and there is no exact count that says more.
func (s *Spec) ShowsEvidence() bool {
	w := s.Window
	return !w.OtherDate && w.filters() && len(s.Response.UpdatedAt) > 0 && s.Response.Total.Trust != patra.TrustExact
}

// Discovers reports whether the bounds of a window are to be found out at every provider of this source.
func (s *Spec) Discovers() bool { return s.Window.Discover != nil }

// AsksPrecision reports whether a provider can be asked how finely it filters.
func (s *Spec) AsksPrecision() bool { return s.Discovers() && s.Window.Discover.Precision != "" }

// At is the address that facts about a provider belong to: the source's own, or the one that was named in its place.
func (s *Spec) At(baseURL string) string {
	if baseURL != "" {
		return baseURL
	}
	return s.Address(Vars{})
}

// WithBounds is the spec with what was found out about its window. What was not found out stays wide.
func (s *Spec) WithBounds(b patra.WindowBounds) *Spec {
	if !s.Discovers() {
		return s
	}
	settled := *s
	if s.AsksPrecision() && b.Precision != "" {
		settled.Window.Precision = b.Precision
	}
	if b.Upper == patra.UpperInclusive {
		settled.Window.Upper = "INCLUSIVE_DAY"
		if settled.Window.Precision != patra.UnitDay {
			settled.Window.Upper = "INCLUSIVE_SECOND"
		}
	}
	field := settled.Window.bounds(s.Query.Fields[s.Window.Field])
	if field.Type == query.TypeDate && slices.Index(patra.Units, field.Precision) < slices.Index(patra.Units, patra.UnitDay) {
		field.Type = query.TypeDateTime
	}
	settled.Query.Fields = maps.Clone(s.Query.Fields)
	settled.Query.Fields[s.Window.Field] = field
	return &settled
}

// bounds gives a field that windows are cut by what the window says about it.
func (w Window) bounds(field query.Field) query.Field {
	field.Precision, field.Upper = w.Precision, query.Inclusive
	if w.Upper == string(query.Exclusive) {
		field.Upper = query.Exclusive
	}
	return field
}

// BuildPrecision makes the request whose answer says how finely the provider filters; see Program.Precision.
func (s *Spec) BuildPrecision(baseURL string, vars Vars) (Call, error) {
	return s.build(baseURL, vars, func() (url.Values, error) {
		params := url.Values{}
		for k, v := range s.Window.Discover.Query {
			params.Set(k, vars.fill(v, s.Parameters))
		}
		return params, nil
	}, "")
}

// Precision reads how finely the provider filters. A word that the source does not know is a fault: nothing is guessed.
func (p *Program) Precision(status int, body []byte) (patra.Unit, error) {
	d := p.Spec.Window.Discover
	if fault := p.Spec.classify(status, ""); fault != nil {
		return "", fault
	}
	if status != http.StatusOK {
		return "", &patra.Fault{Level: patra.LevelRequest, Code: patra.CodeProvider, Status: status, Text: "the provider does not say how finely it filters"}
	}
	got, err := p.splitter.split(body)
	defer got.walked.release()
	if got.around == nil { // that it has no items is as it should be
		return "", err
	}
	word := ""
	if found := p.precision.find(got.around); len(found) > 0 {
		word, _ = textOf(found[0])
	}
	word = strings.TrimSpace(word)
	unit, ok := d.Words[word]
	if !ok {
		return "", &patra.Fault{Level: patra.LevelRequest, Code: patra.CodeSchema, Path: d.Precision, Text: fmt.Sprintf("the provider's word for its precision is %q, which window.discover.words does not have", clip(word))}
	}
	return unit, nil
}

func clip(text string) string { return text[:min(len(text), 40)] }
