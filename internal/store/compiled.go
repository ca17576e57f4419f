package store

import (
	"context"
	"database/sql/driver"
	"strings"
)

// compiling makes connections to an embedded store that keep the statements compiled that come again: for most of them that takes
// longer than what they do. A server does its own keeping, and is asked in one round trip.
type compiling struct{ driver.Connector }

// Connect implements driver.Connector.
func (c compiling) Connect(ctx context.Context) (driver.Conn, error) {
	inner, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &compiledConn{embedded: inner.(embedded), kept: map[string]*compiled{}, seen: map[string]bool{}}, nil
}

// embedded is what a connection of the driver can do that we need.
type embedded interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

const (
	mostCompiled = 128 // statements that a connection keeps; the one that was used longest ago makes room
	mostSeen     = 512 // texts that it remembers to have seen once
)

// compiledConn is one connection. As every connection it is used by one at a time.
type compiledConn struct {
	embedded
	kept map[string]*compiled
	seen map[string]bool
	tick int64
}

// compiled is a statement that is kept.
type compiled struct {
	driver.Stmt
	busy bool // somebody has it, or reads its rows: meanwhile it cannot be used again
	used int64
}

// of gives the statement for a text, from its second time on; nil if it is to be run in the usual way.
func (c *compiledConn) of(ctx context.Context, text string) *compiled {
	c.tick++
	if st := c.kept[text]; st != nil {
		if st.busy {
			return nil
		}
		st.used = c.tick
		return st
	}
	if verb, _, _ := strings.Cut(strings.TrimLeft(text, " \n\t("), " "); verb != "SELECT" && verb != "INSERT" && verb != "UPDATE" && verb != "DELETE" && verb != "WITH" {
		return nil
	}
	if !c.seen[text] {
		if len(c.seen) >= mostSeen {
			clear(c.seen)
		}
		c.seen[text] = true
		return nil
	}
	if len(c.kept) >= mostCompiled && !c.makeRoom() {
		return nil
	}
	inner, err := c.embedded.PrepareContext(ctx, text)
	if err != nil {
		return nil // whoever runs it will hear of it
	}
	st := &compiled{Stmt: inner, used: c.tick}
	c.kept[text] = st
	return st
}

// makeRoom forgets the statement that was used longest ago.
func (c *compiledConn) makeRoom() bool {
	var oldest string
	for text, st := range c.kept {
		if !st.busy && (oldest == "" || st.used < c.kept[oldest].used) {
			oldest = text
		}
	}
	if oldest == "" {
		return false
	}
	st := c.kept[oldest]
	delete(c.kept, oldest)
	return st.Close() == nil
}

// ExecContext implements driver.ExecerContext.
func (c *compiledConn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	st := c.of(ctx, text)
	if st == nil {
		return c.embedded.ExecContext(ctx, text, args)
	}
	return st.Stmt.(driver.StmtExecContext).ExecContext(ctx, args)
}

// QueryContext implements driver.QueryerContext.
func (c *compiledConn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	st := c.of(ctx, text)
	if st == nil {
		return c.embedded.QueryContext(ctx, text, args)
	}
	rows, err := st.Stmt.(driver.StmtQueryContext).QueryContext(ctx, args)
	if err != nil {
		return nil, err
	}
	st.busy = true
	return &compiledRows{rows, st}, nil
}

// PrepareContext implements driver.ConnPrepareContext: it lends a statement that is kept.
func (c *compiledConn) PrepareContext(ctx context.Context, text string) (driver.Stmt, error) {
	st := c.of(ctx, text)
	if st == nil {
		return c.embedded.PrepareContext(ctx, text)
	}
	st.busy = true
	return lent{st}, nil
}

// lent is a statement that somebody has for a while.
type lent struct{ *compiled }

// Close gives it back.
func (l lent) Close() error {
	l.busy = false
	return nil
}

// ExecContext implements driver.StmtExecContext.
func (l lent) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	return l.Stmt.(driver.StmtExecContext).ExecContext(ctx, args)
}

// QueryContext implements driver.StmtQueryContext.
func (l lent) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	return l.Stmt.(driver.StmtQueryContext).QueryContext(ctx, args)
}

// Close implements driver.Conn.
func (c *compiledConn) Close() error {
	for text, st := range c.kept {
		_ = st.Close()
		delete(c.kept, text)
	}
	return c.embedded.Close()
}

// compiledRows are the rows of a statement that is kept.
type compiledRows struct {
	driver.Rows
	of *compiled
}

// Close implements driver.Rows.
func (r *compiledRows) Close() error {
	r.of.busy = false
	return r.Rows.Close()
}
