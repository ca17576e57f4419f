package store

import (
	"context"
	"database/sql/driver"
	"strings"
)

// stmtCacheConnector makes connections to an embedded store that keep the statements compiled that come again: for most of them that takes
// longer than what they do. A server does its own keeping, and is asked in one round trip.
type stmtCacheConnector struct{ driver.Connector }

// Connect implements driver.Connector.
func (c stmtCacheConnector) Connect(ctx context.Context) (driver.Conn, error) {
	inner, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &stmtCacheConn{embedded: inner.(embedded), kept: map[string]*preparedStmt{}, seen: map[string]bool{}}, nil
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

// stmtCacheConn is one connection. As every connection it is used by one at a time.
type stmtCacheConn struct {
	embedded
	kept map[string]*preparedStmt
	seen map[string]bool
	tick int64
}

// preparedStmt is a statement that is kept.
type preparedStmt struct {
	driver.Stmt
	busy bool // somebody has it, or reads its rows: meanwhile it cannot be used again
	used int64
}

// of gives the statement for a text, from its second time on; nil if it is to be run in the usual way.
func (c *stmtCacheConn) of(ctx context.Context, text string) *preparedStmt {
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
	st := &preparedStmt{Stmt: inner, used: c.tick}
	c.kept[text] = st
	return st
}

// makeRoom forgets the statement that was used longest ago.
func (c *stmtCacheConn) makeRoom() bool {
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
func (c *stmtCacheConn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	st := c.of(ctx, text)
	if st == nil {
		return c.embedded.ExecContext(ctx, text, args)
	}
	return st.Stmt.(driver.StmtExecContext).ExecContext(ctx, args)
}

// QueryContext implements driver.QueryerContext.
func (c *stmtCacheConn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	st := c.of(ctx, text)
	if st == nil {
		return c.embedded.QueryContext(ctx, text, args)
	}
	rows, err := st.Stmt.(driver.StmtQueryContext).QueryContext(ctx, args)
	if err != nil {
		return nil, err
	}
	st.busy = true
	return &cachedRows{rows, st}, nil
}

// PrepareContext implements driver.ConnPrepareContext: it lends a statement that is kept.
func (c *stmtCacheConn) PrepareContext(ctx context.Context, text string) (driver.Stmt, error) {
	st := c.of(ctx, text)
	if st == nil {
		return c.embedded.PrepareContext(ctx, text)
	}
	st.busy = true
	return borrowedStmt{st}, nil
}

// borrowedStmt is a statement that somebody has for a while.
type borrowedStmt struct{ *preparedStmt }

// Close gives it back.
func (l borrowedStmt) Close() error {
	l.busy = false
	return nil
}

// ExecContext implements driver.StmtExecContext.
func (l borrowedStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	return l.Stmt.(driver.StmtExecContext).ExecContext(ctx, args)
}

// QueryContext implements driver.StmtQueryContext.
func (l borrowedStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	return l.Stmt.(driver.StmtQueryContext).QueryContext(ctx, args)
}

// Close implements driver.Conn.
func (c *stmtCacheConn) Close() error {
	for text, st := range c.kept {
		_ = st.Close()
		delete(c.kept, text)
	}
	return c.embedded.Close()
}

// cachedRows are the rows of a statement that is kept.
type cachedRows struct {
	driver.Rows
	of *preparedStmt
}

// Close implements driver.Rows.
func (r *cachedRows) Close() error {
	r.of.busy = false
	return r.Rows.Close()
}
