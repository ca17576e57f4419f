package store

import (
	"fmt"
	"net"
	"syscall"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// Whoever loses a database is told the same next step, whether a connection broke or none was to be had.
func TestAdviceAboutALostServer(t *testing.T) {
	for _, err := range []error{mysql.ErrInvalidConn, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}} {
		if got := Advice(fmt.Errorf("claim: %w", err)); got != "See that the database is running, and that store.url is right" {
			t.Errorf("%v: %q", err, got)
		}
	}
}
