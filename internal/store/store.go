package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"
	"modernc.org/sqlite"
)

// Store is the one door to the tables. It is safe for concurrent use.
type Store struct {
	db      *sql.DB // writes
	ro      *sql.DB // reads; the same pool on the MySQL family
	dialect dialect
	path    string // of the SQLite file, empty otherwise
	clock   func() time.Time
	trace   func(name, text string, args []any)
	watcher Watcher // nil: nobody looks on
	made    sync.Once
	rules   *strings.Replacer // of SQL texts, see render
	there   outageDetector
	desk    claimBatcher
	lanes   subqueueCache
	writers writerLock // of an embedded store, which has one writer
}

// Option changes how a store behaves.
type Option func(*Store)

// WithClock replaces the database's clock, which decides leases. It is for tests that live in simulated time.
func WithClock(now func() time.Time) Option { return func(s *Store) { s.clock = now } }

// WithTrace hands every statement to tell, as it is sent. It is for tests that look at how statements are answered.
func WithTrace(tell func(name, text string, args []any)) Option {
	return func(s *Store) { s.trace = tell }
}

// Open connects to `sqlite:FILE`, `sqlite::memory:` or `mysql://user:password@host:port/database`. It creates a
// SQLite file that is not there, but no tables: see Migrate.
func Open(ctx context.Context, rawURL string, opts ...Option) (*Store, error) {
	s := &Store{}
	for _, o := range opts {
		o(s)
	}
	var err error
	switch scheme, rest, _ := strings.Cut(rawURL, ":"); scheme {
	case "sqlite":
		err = s.openSQLite(rest)
	case "mysql":
		err = s.openMySQL(rawURL)
	default:
		return nil, fmt.Errorf("store url: unknown scheme %q; write sqlite:FILE or mysql://user@host:3306/database", scheme)
	}
	if err != nil {
		return nil, err
	}
	if err := s.ping(ctx); err != nil {
		s.Close()
		return nil, fmt.Errorf("open store: %w", err)
	}
	return s, s.checkEngine(ctx)
}

// ping makes the first connection. On SQLite that may switch a new file to its write-ahead log, which two processes
// cannot do at once.
func (s *Store) ping(ctx context.Context) error {
	unlock, err := s.lockMigrations()
	if err != nil {
		return err
	}
	defer unlock()
	return s.db.PingContext(ctx)
}

// Exists reports whether a SQLite store's file is already there; a database server always counts as there.
func Exists(rawURL string) bool {
	rest, ok := strings.CutPrefix(rawURL, "sqlite:")
	if !ok {
		return true
	}
	_, err := os.Stat(rest)
	return err == nil
}

// Embedded reports whether the store is a file of ours, and not a database server that others administer.
func (s *Store) Embedded() bool { return s.dialect.name == sqliteDialect.name }

// Close closes all connections.
func (s *Store) Close() error {
	var errs []error
	if s.ro != nil && s.ro != s.db {
		errs = append(errs, s.ro.Close())
	}
	return errors.Join(append(errs, s.db.Close())...)
}

// openSQLite opens one writing connection, because SQLite has one writer, and a pool of reading ones.
func (s *Store) openSQLite(path string) (err error) {
	s.dialect = sqliteDialect
	if path == ":memory:" {
		s.db, err = openEmbedded("file::memory:?_txlock=immediate")
		if err == nil {
			s.db.SetMaxOpenConns(1)
			s.ro = s.db
		}
		return err
	}
	if path == "" {
		return errors.New("store url: sqlite: needs a file name")
	}
	if s.path, err = filepath.Abs(path); err != nil {
		return fmt.Errorf("store url: %w", err)
	}
	// Records are nobody else's business. An exclusive create never closes a descriptor of a file that is in use.
	if f, err := os.OpenFile(s.path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600); err == nil {
		f.Close()
	}
	file := "file:" + (&url.URL{Path: s.path}).EscapedPath()
	// immediate: a deferred transaction that becomes a writer fails at once, whatever the busy timeout.
	// FULL: a rolled-back page is fetched again, but a rolled-back fence or charge is not harmless.
	// 8 KiB pages suit rows of a kilobyte, and an index whose entries come in no order writes no more than it must. That must be said before the journal mode creates the file, and the driver
	// says what is under _pragma in the order of the alphabet, and these before what has a name of its own.
	// 8 MiB of cache: the driver needs four times what it is told, and what does not fit is in the cache of the system.
	const write = "?_txlock=immediate&_pragma=busy_timeout(10000)&_pragma=page_size(8192)&_pragma=cache_size(-8192)&_journal_mode=WAL&_synchronous=FULL"
	if s.db, err = openEmbedded(file + write); err != nil {
		return err
	}
	s.db.SetMaxOpenConns(1)
	s.ro, err = openEmbedded(file + "?mode=ro&_pragma=busy_timeout(10000)&_pragma=query_only(1)")
	if err == nil {
		s.ro.SetMaxOpenConns(8)
	}
	return err
}

func openEmbedded(address string) (*sql.DB, error) {
	inner, err := sqlite.NewConnector(address)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(stmtCacheConnector{inner}), nil
}

// session makes every new connection behave the same on MySQL, MariaDB and TiDB. The variable for the isolation
// level has different names there; this statement has not.
const session = "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED"

func (s *Store) openMySQL(rawURL string) error {
	s.dialect = mysqlDialect
	u, err := url.Parse(rawURL)
	if err != nil {
		return errors.New("store url: not a URL; write mysql://user:password@host:3306/database")
	}
	cfg := mysql.NewConfig()
	cfg.User = u.User.Username()
	cfg.Passwd, _ = u.User.Password()
	cfg.Net, cfg.Addr = "tcp", u.Host
	cfg.DBName = strings.TrimPrefix(u.Path, "/")
	cfg.ClientFoundRows = true   // else an UPDATE that changes nothing looks like a lost lease
	cfg.InterpolateParams = true // one round trip; loops prepare their statement instead
	cfg.ParseTime = true         // the migration table has a timestamp
	cfg.Logger = &mysql.NopLogger{}
	cfg.Timeout = 10 * time.Second
	cfg.Params = map[string]string{
		"time_zone": "'+00:00'", "innodb_lock_wait_timeout": "5",
		// A process that is paused inside a transaction keeps its row locks. The server cuts it off after this many
		// seconds of silence; connections that merely rest in the pool are closed by us well before.
		"wait_timeout": "30",
		"sql_mode":     "'STRICT_ALL_TABLES,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'",
	}
	if cfg.DBName == "" || u.Host == "" {
		return errors.New("store url: mysql:// needs a host and a database; write mysql://user:password@host:3306/database")
	}
	if u.Port() == "" {
		cfg.Addr += ":3306"
	}
	inner, err := mysql.NewConnector(cfg)
	if err != nil {
		return fmt.Errorf("store url: %w", err)
	}
	s.db = sql.OpenDB(sessionConnector{inner})
	s.db.SetMaxOpenConns(32)
	s.db.SetMaxIdleConns(32)
	s.db.SetConnMaxIdleTime(10 * time.Second)
	s.ro = s.db
	return nil
}

// sessionConnector runs one statement on every new connection.
type sessionConnector struct{ driver.Connector }

// Connect implements driver.Connector.
func (c sessionConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := conn.(driver.ExecerContext).ExecContext(ctx, session, nil); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// checkEngine refuses versions that are known to lose data.
func (s *Store) checkEngine(ctx context.Context) error {
	if s.dialect.name != sqliteDialect.name {
		return nil
	}
	var version string
	if err := s.db.QueryRowContext(ctx, "SELECT sqlite_version()").Scan(&version); err != nil {
		return fmt.Errorf("open store: %w", err)
	}
	var a, b, c int
	if _, err := fmt.Sscanf(version, "%d.%d.%d", &a, &b, &c); err != nil || a*1_000_000+b*1_000+c < 3_051_003 {
		return fmt.Errorf("open store: SQLite %s can corrupt its log; 3.51.3 or newer is needed", version)
	}
	return nil
}

// NewOwner names one incarnation of a process. After a restore from backup a fence could repeat; this cannot.
func NewOwner() string { return rand.Text() }
