package api

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"patra"
	"patra/internal/store"
)

// EmptyInput is the input of a route that takes nothing.
type EmptyInput struct{}

// response is how huma wants an answer.
type response[O any] struct {
	Body O
}

// patience is how long a route may take. Those that ask a provider take longer.
const (
	patience     = 15 * time.Second
	longPatience = 2 * time.Minute
)

// Doc is what a route is about: its name for programs, and a sentence.
type Doc struct {
	ID      string
	Summary string
	Long    bool // it may take its time: somebody else is asked
	Heavy   bool // it takes many rows: only a few of these are answered at once
	Most    int  // of what streams: how many may be read at once, as each takes memory for as long as its reader likes, and a quarter of them by one caller; 0 is any number
}

// Get registers a route that changes nothing.
func Get[I, O any](s *Server, path string, need Permission, d Doc, h func(context.Context, *I) (O, error)) {
	register(s, http.MethodGet, path, need, d, h)
}

// Post registers a route that does something.
func Post[I, O any](s *Server, path string, need Permission, d Doc, h func(context.Context, *I) (O, error)) {
	register(s, http.MethodPost, path, need, d, h)
}

func register[I, O any](s *Server, method, path string, need Permission, d Doc, h func(context.Context, *I) (O, error)) {
	huma.Register(s.huma, s.operation(method, path, need, d), func(ctx context.Context, in *I) (*response[O], error) {
		wait := patience
		if d.Long {
			wait = longPatience
		}
		ctx, cancel := context.WithTimeout(ctx, wait)
		defer cancel()
		if d.Heavy {
			leave, err := s.heavy.acquire(ctx)
			if err != nil {
				return nil, s.problemFor(ctx, err)
			}
			defer leave()
		}
		out, err := h(ctx, in)
		if err != nil {
			return nil, s.problemFor(ctx, err)
		}
		return &response[O]{out}, nil
	})
}

// Stream registers a route that writes by itself, such as a file that is taken away.
func Stream[I any](s *Server, path string, need Permission, d Doc, h func(context.Context, *I) (func(http.ResponseWriter, *http.Request), error)) {
	StreamBy(s, http.MethodGet, path, need, d, h)
}

// StreamBy is Stream with a method.
func StreamBy[I any](s *Server, method, path string, need Permission, d Doc, h func(context.Context, *I) (func(http.ResponseWriter, *http.Request), error)) {
	each := 0
	if s.Tokens { // else everybody is one caller
		each = shareOf(d.Most)
	}
	room := newTurns(d.Most, each)
	huma.Register(s.huma, s.operation(method, path, need, d), func(ctx context.Context, in *I) (*huma.StreamResponse, error) {
		leave, err := room.acquire(CallerOf(ctx).Name)
		if err != nil {
			return nil, err
		}
		begun := false
		defer func() {
			if !begun { // also if it panicked
				leave()
			}
		}()
		write, err := h(ctx, in)
		if err != nil {
			return nil, s.problemFor(ctx, err)
		}
		begun = true
		return &huma.StreamResponse{Body: func(hc huma.Context) {
			defer leave()
			r, w := unwrap(hc)
			ctx, done := s.untilRevoked(ctx, r, need)
			defer done()
			write(w, r.WithContext(ctx))
		}}, nil
	})
}

// needKey is where an operation keeps who may call it.
const needKey = "need"

// operation describes a route. One that does not say who may call it must not exist.
func (s *Server) operation(method, path string, need Permission, d Doc) huma.Operation {
	if !need.text() {
		panic(fmt.Sprintf("%s %s does not say who may call it", method, path))
	}
	s.routes = append(s.routes, Route{method, Prefix + path, d.Summary, need})
	tag, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	op := huma.Operation{OperationID: d.ID, Method: method, Path: Prefix + path, Summary: d.Summary, Description: "Needs " + need.String() + ".", Tags: []string{tag},
		MaxBodyBytes: mostBody, BodyReadTimeout: readTime, Metadata: map[string]any{needKey: need}, Errors: []int{400, 401, 403, 404, 422, 429, 500, 503}}
	if need.Open {
		op.Security = []map[string][]string{}
	}
	return op
}

// Page is which part of a list is wanted.
type Page struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"at most so many"`
	Cursor string `query:"cursor" maxLength:"400" doc:"next_cursor of the part before"`
}

// Before is the id that the part comes after; 0 is the beginning. Lists are newest first.
func (p Page) Before() (int64, error) {
	if p.Cursor == "" {
		return 0, nil
	}
	b, err := base64.RawURLEncoding.DecodeString(p.Cursor)
	if err != nil {
		return 0, badCursor()
	}
	id, err := strconv.ParseInt(string(b), 10, 64)
	if err != nil || id <= 0 {
		return 0, badCursor()
	}
	return id, nil
}

func badCursor() error {
	return Refuse(http.StatusUnprocessableEntity, "cursor is not one that a list has given")
}

// List is a part of a list.
type List[T any] struct {
	Items []T    `json:"items" nullable:"false"`
	Next  string `json:"next_cursor,omitempty" doc:"give it as cursor to have the next part; nothing if this is the last"`
}

// NewListPage makes a list of rows, of which there may be one more than was asked for.
func NewListPage[T any](p Page, rows []T, id func(T) int64) List[T] {
	if rows == nil {
		rows = []T{}
	}
	l := List[T]{Items: rows}
	if len(rows) > p.Limit {
		l.Items = rows[:p.Limit]
		l.Next = position(id(l.Items[p.Limit-1]))
	}
	return l
}

// mostWalked is how many rows one call may look at where no index says which ones fit.
const mostWalked = 20_000

// part is what the store is asked: one row more than is wanted, to know whether there are more.
func (p Page) part() (store.ListPage, error) {
	before, err := p.Before()
	return store.ListPage{Before: before, Limit: p.Limit + 1, Walk: &store.ScanLimit{Rows: mostWalked}}, err
}

// partialListPage is Listed for a list that may have ended because enough was looked at: then there is a next part although this one
// is not full.
func partialListPage[T any](p Page, rows []T, id func(T) int64, w *store.ScanLimit) List[T] {
	l := NewListPage(p, rows, id)
	if l.Next == "" && w.Next > 0 {
		l.Next = position(w.Next)
	}
	return l
}

// position is an id as a cursor.
func position(id int64) string {
	return base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatInt(id, 10)))
}

// moment reads a time that a caller wrote; 0 if there is none.
func moment(name, text string) (patra.Instant, error) {
	if text == "" {
		return 0, nil
	}
	at, err := patra.ParseInstant(text)
	if err != nil {
		return 0, Refuse(http.StatusUnprocessableEntity, "%s is no time: write 2026-01-31 or 2026-01-31T09:30:00Z", name)
	}
	return at, nil
}

// All makes a list of everything there is.
func All[T any](rows []T) List[T] {
	if rows == nil {
		rows = []T{}
	}
	return List[T]{Items: rows}
}
