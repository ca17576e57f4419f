package api

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"patra"
	"patra/internal/store"
)

// Problem is what a caller is told when something does not work out: RFC 9457, with a code for programs, the next step, and
// the id under which the log has more.
type Problem struct {
	Type   string   `json:"type,omitempty" doc:"always about:blank"`
	Title  string   `json:"title"`
	Status int      `json:"status"`
	Detail string   `json:"detail" doc:"a sentence"`
	Code   string   `json:"code" doc:"for programs"`
	Next   string   `json:"next,omitempty" doc:"what to do about it"`
	ID     string   `json:"id,omitempty" doc:"the log has more under this id"`
	Errors []Detail `json:"errors,omitempty"`

	wait int // seconds until it may work out; 0 is that nobody knows
}

// Detail is one of several things that are wrong.
type Detail struct {
	Message  string `json:"message"`
	Location string `json:"location,omitempty"`
	Code     string `json:"code,omitempty"`
}

// Error implements error.
func (p *Problem) Error() string { return p.Detail }

// GetStatus is the status of the answer.
func (p *Problem) GetStatus() int { return p.Status }

// ContentType is that of problems.
func (p *Problem) ContentType(string) string { return "application/problem+json" }

// GetHeaders are those of the answer.
func (p *Problem) GetHeaders() http.Header {
	h := http.Header{}
	if p.wait > 0 {
		h.Set("Retry-After", strconv.Itoa(p.wait))
	}
	return h
}

// The codes of problems that are not of the harvest.
const (
	CodeBadRequest   = patra.CodeBadRequest
	CodeNotFound     = patra.CodeNotFound
	CodeUnauthorized = "UNAUTHORIZED"
	CodeForbidden    = "FORBIDDEN"
	CodeConflict     = patra.CodeConflict
	CodeTooMany      = "TOO_MANY_REQUESTS"
	CodeTooLarge     = "TOO_LARGE"
	CodeUnavailable  = "UNAVAILABLE"
	CodeInternal     = "INTERNAL"
)

// codeOf is the code of a status that says all there is to say.
func codeOf(status int) string {
	switch status {
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		return CodeNotFound
	case http.StatusUnauthorized:
		return CodeUnauthorized
	case http.StatusForbidden:
		return CodeForbidden
	case http.StatusConflict:
		return CodeConflict
	case http.StatusTooManyRequests:
		return CodeTooMany
	case http.StatusRequestEntityTooLarge:
		return CodeTooLarge
	case http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return CodeUnavailable
	}
	if status >= 500 {
		return CodeInternal
	}
	return CodeBadRequest
}

// problem makes one.
func problem(status int, format string, args ...any) *Problem {
	return &Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Code: codeOf(status), Detail: fmt.Sprintf(format, args...)}
}

// retryLater is a problem that goes away by itself.
func retryLater(status int, format string, args ...any) *Problem {
	p := problem(status, format, args...)
	p.wait = 1
	return p
}

// Refuse is an answer to a caller who asked for something that cannot be.
func Refuse(status int, format string, args ...any) error { return problem(status, format, args...) }

// NotFound says that there is no such thing.
func NotFound(what string, key any) error {
	return problem(http.StatusNotFound, "there is no %s %v", what, key)
}

// statuses are the HTTP statuses of the kinds of failure that a caller is told the reason of.
var statuses = map[patra.Kind]int{
	patra.KindRefused:     http.StatusUnprocessableEntity,
	patra.KindMissing:     http.StatusNotFound,
	patra.KindConflict:    http.StatusConflict,
	patra.KindEnvironment: http.StatusUnprocessableEntity, // a secret or a setting of this installation, by name
	patra.KindIncomplete:  http.StatusUnprocessableEntity,
}

// field writes a field of a request as it stands in a body or a query.
func field(name string) string { return name }

// problemsOf is what is wrong with a request, all of it.
func problemsOf(found patra.Problems) *Problem {
	status := statuses[patra.KindOf(found)]
	if found[0].Code == patra.WaitHalted { // the request is refused and not in conflict with another one
		status = http.StatusUnprocessableEntity
	}
	p := problem(status, "%s", patra.Spell(found[0].Text, field))
	p.Code, p.Next = found[0].Code, patra.Spell(found[0].Hint, field)
	for _, f := range found {
		p.Errors = append(p.Errors, Detail{Message: patra.Spell(f.Text, field), Location: cmp.Or(f.Field, f.Path), Code: f.Code})
	}
	return p
}

// problemOf is a single problem of a request; the code of one that only ran incompletely is that of a bad request.
func problemOf(err error, found patra.Problem) *Problem {
	p := problem(statuses[patra.KindOf(found)], "%s", patra.SayError(err, field))
	if found.Code == patra.CodeConflict {
		p.Next = "patra controls"
	}
	if found.Field != "" {
		p.Errors = []Detail{{Message: patra.Spell(found.Text, field), Location: found.Field, Code: found.Code}}
	}
	return p
}

// problemFor turns an error into an answer. The reason of a failure that a caller can do nothing about stays in the log,
// under an id.
func (s *Server) problemFor(ctx context.Context, err error) *Problem {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}
	if found, ok := errors.AsType[patra.Problems](err); ok && len(found) > 0 {
		return problemsOf(found)
	}
	if found, ok := errors.AsType[patra.Problem](err); ok && found.Code != patra.CodeEnvironment {
		return problemOf(err, found)
	}
	switch {
	case errors.Is(err, patra.ErrNotFound):
		return problem(http.StatusNotFound, "there is no such thing")
	case patra.KindOf(err) == patra.KindConflict:
		return problem(http.StatusConflict, "%s", err)
	case errors.Is(err, context.DeadlineExceeded):
		return problem(http.StatusGatewayTimeout, "it took too long")
	case errors.Is(err, context.Canceled):
		return problem(http.StatusServiceUnavailable, "it was stopped before its end")
	}
	status := http.StatusInternalServerError
	text := "something went wrong here"
	_, ofProvider := errors.AsType[*patra.Fault](err)
	if !ofProvider && (store.Unavailable(err) || store.Advice(err) != "" || errors.Is(err, patra.ErrUnavailable)) {
		status, text = http.StatusServiceUnavailable, "the store cannot be used now"
	}
	return s.internalError(status, text, err)
}

// internalError is an answer to somebody who can do nothing about what went wrong: the reason stays in the log, under an id.
func (s *Server) internalError(status int, text string, err error) *Problem {
	p := problem(status, "%s", text)
	p.ID = rand.Text()
	p.Next = "look for this id in the log of patra serve"
	s.log.Error("a request failed", "id", p.ID, "reason", err.Error())
	return p
}

// problems makes huma's own complaints look like ours.
func problems() {
	huma.NewError = func(status int, msg string, errs ...error) huma.StatusError {
		p := problem(status, "%s", msg)
		for _, err := range errs {
			if err == nil {
				continue
			}
			d := Detail{Message: "not valid"}
			var e huma.ErrorDetailer
			if errors.As(err, &e) { // without the value: it may be somebody's secret in the wrong place
				x := e.ErrorDetail()
				d = Detail{Message: x.Message, Location: x.Location}
			}
			p.Errors = append(p.Errors, d)
		}
		if len(p.Errors) > 0 {
			p.Detail = fmt.Sprintf("%s: %s", p.Errors[0].Location, p.Errors[0].Message)
		}
		return p
	}
}
