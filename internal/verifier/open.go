package verifier

import (
	"database/sql"
	"fmt"
	"net/url"
	"strings"

	_ "github.com/go-sql-driver/mysql" // so that a database of the MySQL family can be opened
	_ "modernc.org/sqlite"             // and a file of SQLite
)

// open gives a database that cannot be written through.
func open(address string) (db *sql.DB, kind string, err error) {
	if file, ok := strings.CutPrefix(address, "sqlite:"); ok {
		db, err = sql.Open("sqlite", "file:"+file+"?mode=ro&_pragma=busy_timeout(10000)&_pragma=query_only(1)")
		return db, "sqlite", err
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "mysql" {
		return nil, "", fmt.Errorf("the store is sqlite:FILE or mysql://USER:PASSWORD@HOST:PORT/NAME, and not %q", mask(address))
	}
	password, _ := u.User.Password()
	db, err = sql.Open("mysql", fmt.Sprintf("%s:%s@tcp(%s)%s?time_zone=%%27%%2B00%%3A00%%27", u.User.Username(), password, u.Host, u.Path))
	return db, "mysql", err
}

// mask leaves out what may be a password.
func mask(address string) string {
	if at := strings.LastIndex(address, "@"); at >= 0 {
		return "..." + address[at:]
	}
	return address
}
