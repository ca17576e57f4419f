// Package storetest is the conformance suite of the store: one set of promises, checked on every engine.
//
// SQLite is always tested. The MySQL family is tested when PATRA_TEST_MYSQL_URL names a server, such as
// mysql://root@127.0.0.1:3306; each test makes a database of its own there and drops it.
package storetest

import (
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"patra/internal/store"
)

// ServerVariable names the server to test with.
const ServerVariable = "PATRA_TEST_MYSQL_URL"

// Engine is a kind of database that a test can have a fresh one of.
type Engine struct {
	Name string
	URL  func(t testing.TB) string
}

// Engines are the ones at hand.
func Engines() []Engine {
	all := []Engine{{Name: "sqlite", URL: func(t testing.TB) string { return "sqlite:" + filepath.Join(t.TempDir(), "patra.db") }}}
	if server := os.Getenv(ServerVariable); server != "" {
		all = append(all, Engine{Name: "mysql", URL: func(t testing.TB) string { return freshDatabase(t, server) }})
	}
	return all
}

// Each runs a test on every engine.
func Each(t *testing.T, test func(t *testing.T, e Engine)) {
	for _, e := range Engines() {
		t.Run(e.Name, func(t *testing.T) { test(t, e) })
	}
}

// Open gives a migrated store that is closed with the test.
func (e Engine) Open(t testing.TB, opts ...store.Option) *store.Store {
	t.Helper()
	return e.Migrated(t, e.URL(t), opts...)
}

// Migrated is Connect with all tables.
func (e Engine) Migrated(t testing.TB, url string, opts ...store.Option) *store.Store {
	t.Helper()
	s := e.Connect(t, url, opts...)
	if _, err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// Connect opens a store that is closed with the test.
func (e Engine) Connect(t testing.TB, url string, opts ...store.Option) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), url, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func freshDatabase(t testing.TB, server string) string {
	t.Helper()
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("patra_%d_%08x", os.Getpid(), rand.Uint32())
	password, _ := u.User.Password()
	db, err := sql.Open("mysql", fmt.Sprintf("%s:%s@tcp(%s)/", u.User.Username(), password, u.Host))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("CREATE DATABASE " + name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := db.Exec("DROP DATABASE " + name); err != nil {
			t.Error(err)
		}
		db.Close()
	})
	return server + "/" + name
}

// Inspect opens a raw connection, to look at the tables from outside.
func Inspect(t testing.TB, rawURL string) *sql.DB {
	t.Helper()
	driver, dsn := "sqlite", "file:"+rawURL[min(len(rawURL), len("sqlite:")):]
	if u, err := url.Parse(rawURL); err == nil && u.Scheme == "mysql" {
		password, _ := u.User.Password()
		driver, dsn = "mysql", fmt.Sprintf("%s:%s@tcp(%s)%s", u.User.Username(), password, u.Host, u.Path)
	}
	db, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// Damage changes the tables of a SQLite file by hand, as nobody should.
func Damage(t interface{ Check(error) }, file, change string) {
	db, err := sql.Open("sqlite", "file:"+file)
	t.Check(err)
	_, err = db.Exec(change)
	t.Check(errors.Join(err, db.Close()))
}
