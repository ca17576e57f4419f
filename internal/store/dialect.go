package store

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"

	"github.com/go-sql-driver/mysql"
	"github.com/pressly/goose/v3"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// dialect is all that differs between the engines. Everything else is one text.
type dialect struct {
	name  string
	goose goose.Dialect
	now   string // the database's clock in microseconds, evaluated inside the statement
	lock  string // appended to a SELECT that reads what the transaction will write
	peek  string // the same, but failing at once when somebody else has the row
	// peekTask is peek for the table of tasks alone. MariaDB has no word for that, and takes it for a comment: there what is not to be locked
	// stands in parentheses.
	peekTask string
	byKey    string // behind a table: it is read by its primary key, and by no other index
	// orFail stands behind INSERT and UPDATE where the transaction is given up if a row cannot be written: then what the statement has written
	// before need not be taken back by itself, and no copies of the pages are kept for that.
	orFail string
	iso    string // a microsecond column as text; %[1]s is the column
	// snapshot is the isolation under which several reads see one moment.
	snapshot sql.IsolationLevel
	// readOnly: whoever only reads may say so. TiDB knows the words and does not do it, so it refuses them.
	readOnly bool
	types    map[string]string
	// liftIndexes: the engine wants CREATE INDEX statements beside the table instead of inside it.
	liftIndexes bool
	createView  string
	codeLiteral string // one of our words in a view, as the columns of such words are; $2 is the word in its quotes
	// tableOptions stand behind every table.
	tableOptions string
	// What a field of a record is; each ? is its path. fieldIs has the value too: behind the path, or before it as JSON.
	fieldText, fieldNumber, fieldIs string
	fieldIsPath                     bool
	retryable                       func(error) bool
	locked                          func(error) bool // a peek found the row taken
	duplicate                       func(error) bool
}

var sqliteDialect = dialect{
	name:   "sqlite",
	goose:  goose.DialectSQLite3,
	now:    "CAST(unixepoch('subsec') * 1000000 AS INTEGER)",
	lock:   "", // the write lock is already held: every transaction begins IMMEDIATE
	byKey:  "NOT INDEXED",
	orFail: "OR FAIL",
	iso:    "strftime('%%Y-%%m-%%dT%%H:%%M:%%fZ', %[1]s / 1000000.0, 'unixepoch')",
	types: map[string]string{
		"id": "INTEGER PRIMARY KEY AUTOINCREMENT", "n": "INTEGER", "us": "INTEGER", "code": "TEXT",
		"key": "TEXT", "hash": "TEXT", "text": "TEXT", "json": "TEXT", "blob": "BLOB",
	},
	readOnly:    true,
	liftIndexes: true,
	createView:  "CREATE VIEW IF NOT EXISTS",
	codeLiteral: "$2",
	fieldText:   "CAST(json_extract(r.fields, ?) AS TEXT)",
	fieldNumber: "json_type(r.fields, ?) IN ('integer', 'real')",
	fieldIs:     "EXISTS (SELECT 1 FROM json_each(r.fields, ?) AS j WHERE CAST(j.value AS TEXT) = ?)",
	retryable: func(err error) bool {
		e, ok := errors.AsType[*sqlite.Error](err)
		return ok && (e.Code()&0xff == sqlite3.SQLITE_BUSY || e.Code()&0xff == sqlite3.SQLITE_LOCKED)
	},
	locked: func(error) bool { return false }, // whoever has the write lock has every row
	duplicate: func(err error) bool {
		e, ok := errors.AsType[*sqlite.Error](err)
		return ok && (e.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE || e.Code() == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY)
	},
}

var mysqlDialect = dialect{
	name:     "mysql",
	goose:    goose.DialectMySQL,
	now:      "CAST(UNIX_TIMESTAMP(NOW(6)) * 1000000 AS SIGNED)",
	lock:     "FOR UPDATE",
	peek:     "FOR UPDATE NOWAIT",
	peekTask: "FOR UPDATE /*!80001 OF ing_task */ NOWAIT",
	byKey:    "FORCE INDEX (PRIMARY)",
	snapshot: sql.LevelRepeatableRead,
	// Not FROM_UNIXTIME: it ends in 2038.
	iso: "DATE_FORMAT(TIMESTAMPADD(MICROSECOND, %[1]s, '1970-01-01'), '%%Y-%%m-%%dT%%H:%%i:%%s.%%fZ')",
	types: map[string]string{
		"id": "BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY", "n": "BIGINT", "us": "BIGINT",
		"code": "VARCHAR(48) CHARACTER SET ascii COLLATE ascii_bin", "key": "VARBINARY(%s)",
		"hash": "CHAR(64) CHARACTER SET ascii COLLATE ascii_bin", "text": "LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin", "json": "LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin", "blob": "LONGBLOB",
	},
	createView: "CREATE OR REPLACE VIEW",
	// TiDB does not unite texts of different collations, as the others do.
	codeLiteral: "_ascii$2 COLLATE ascii_bin",
	// The servers of a TiDB hand out ids from ranges of their own unless they are told to share one. No promise to others
	// rests on the order of ids (see sequence.go), but the newest plan of a cursor is the one with the highest, lists are walked
	// by them, and so is the ledger of a task. To the other servers this is a comment.
	tableOptions: "/*T![auto_id_cache] AUTO_ID_CACHE 1 */",
	fieldText:    "JSON_UNQUOTE(JSON_EXTRACT(r.fields, ?))",
	fieldNumber:  "JSON_TYPE(JSON_EXTRACT(r.fields, ?)) IN ('INTEGER', 'DOUBLE', 'DECIMAL')",
	fieldIs:      "JSON_CONTAINS(r.fields, ?, ?)",
	fieldIsPath:  true,
	retryable: func(err error) bool {
		e, ok := errors.AsType[*mysql.MySQLError](err)
		if !ok {
			return false
		}
		switch e.Number {
		case 1213, 1205, // deadlock, lock wait timeout: the whole transaction is rolled back and tried again
			1020,             // MariaDB: record has changed since last read
			8002, 8022, 9007: // TiDB: write conflict, commit conflict
			return true
		}
		return false
	},
	locked: func(err error) bool {
		e, ok := errors.AsType[*mysql.MySQLError](err)
		return ok && (e.Number == 3572 || e.Number == 1205) // MySQL and TiDB, MariaDB
	},
	duplicate: func(err error) bool {
		e, ok := errors.AsType[*mysql.MySQLError](err)
		return ok && e.Number == 1062
	},
}

// absent reports errors with which a server says that it is going, coming, or not the one that may be written to.
func absent(err error) bool {
	e, ok := errors.AsType[*mysql.MySQLError](err)
	if !ok {
		return false
	}
	switch e.Number {
	case 1040, 1053, 1077, 1079, // too many connections; it is being shut down
		1129,       // it believes that we disturb it, after many broken connections
		1290, 1836, // it may only be read: a replica, or a disk that is full
		1021, 1041, 1114, // no room on its disk, in its memory, in a table
		1158, 1159, 1160, 1161, 1927, // the line broke on its side
		9001, 9002, 9003, 9004, 9005: // TiDB: parts of the cluster do not answer
		return true
	}
	return false
}

// brokenConn reports an error after which nobody knows what the server did.
func brokenConn(err error) bool {
	return errors.Is(err, driver.ErrBadConn) || errors.Is(err, mysql.ErrInvalidConn)
}

// Unavailable reports whether an error is about the store itself: locked, full, unreachable, of another version.
func Unavailable(err error) bool {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		switch e.Code() & 0xff {
		case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_FULL,
			sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_PERM:
			return true
		}
		return false
	}
	_, network := errors.AsType[*net.OpError](err)
	return network || brokenConn(err) || absent(err) || mysqlDialect.retryable(err) || errors.Is(err, ErrNeedsMigration) || errors.Is(err, ErrTooNew) || errors.Is(err, ErrVersionsDamaged)
}

// Damaged reports whether an error says that the file of the store is spoiled, and not only out of reach.
func Damaged(err error) bool {
	e, ok := errors.AsType[*sqlite.Error](err)
	return ok && e.Code()&0xff == sqlite3.SQLITE_CORRUPT
}

// Advice is what a person can do about an error of the store itself, or nothing.
func Advice(err error) string {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		switch e.Code() & 0xff {
		case sqlite3.SQLITE_FULL:
			return "Make room on the disk of the store, and give the same command again"
		case sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM:
			if few := openFiles(); few != "" && e.Code()&0xff == sqlite3.SQLITE_CANTOPEN {
				return few
			}
			return "The file of the store and its folder must be writable, also for a command that only looks"
		case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
			return "Another process is writing; give the same command again"
		case sqlite3.SQLITE_NOTADB:
			return "Name another file in store.url"
		case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_IOERR:
			return "See patra doctor"
		}
		return ""
	}
	if e, ok := errors.AsType[*mysql.MySQLError](err); ok {
		switch e.Number {
		case 1044, 1045, 1698: // access denied
			return "Name a user who may use the database, and the password, in store.url"
		case 1049: // unknown database
			return "Make the database, or name another one in store.url; then run patra migrate"
		}
		return ""
	}
	if _, network := errors.AsType[*net.OpError](err); network || brokenConn(err) {
		return "See that the database is running, and that store.url is right"
	}
	return ""
}

// Full reports whether there was no room left to write.
func Full(err error) bool {
	e, ok := errors.AsType[*sqlite.Error](err)
	return ok && e.Code()&0xff == sqlite3.SQLITE_FULL || errors.Is(err, syscall.ENOSPC)
}

// rules fill the fragments of the dialect into an SQL text. now is either the dialect's own or, under a test
// clock, a number. A column that has a reserved word of MySQL for its name stands in braces: all engines know it in
// these quotes, which cannot be written into a text of Go.
func (d dialect) rules(now string) *strings.Replacer {
	return strings.NewReplacer("{now}", now, "{lock}", d.lock, "{peek}", d.peek, "{peektask}", d.peekTask, "{bykey}", d.byKey, "{orfail}", d.orFail, "{stored}", "`stored`")
}

// column turns one type word into the engine's type.
func (d dialect) column(word, size string, nullable bool) string {
	t := d.types[word]
	if strings.Contains(t, "%s") {
		t = fmt.Sprintf(t, size)
	}
	if word != "id" && !nullable {
		t += " NOT NULL"
	}
	return t
}
