package store

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"strings"
)

// The kinds of database.
const (
	SQLite  = "sqlite"
	MariaDB = "mariadb"
	MySQL   = "mysql"
	TiDB    = "tidb"
)

// Engine is the database behind a store.
type Engine struct {
	Kind    string // one of the kinds
	Version string // its own number; empty if it does not tell
}

var (
	sqliteVersion = stmt{"sqlite_version", `SELECT sqlite_version()`}
	serverVersion = stmt{"server_version", `SELECT VERSION()`}

	properNames = map[string]string{SQLite: "SQLite", MariaDB: "MariaDB", MySQL: "MySQL", TiDB: "TiDB"}
	// oldest are the versions below which something that we need is not there, or was never tried.
	oldest = map[string][2]int{SQLite: {3, 51}, MariaDB: {10, 6}, MySQL: {8, 0}, TiDB: {8, 4}}

	versionNumber = regexp.MustCompile(`^\d+(\.\d+)+`)
)

// String is what people call it.
func (e Engine) String() string { return strings.TrimSpace(properNames[e.Kind] + " " + e.Version) }

// TooOld reports whether the version is below what is supported, and which one is the oldest. A version that is not told
// is not judged.
func (e Engine) TooOld() (since string, is bool) {
	need := oldest[e.Kind]
	var a, b int
	if _, err := fmt.Sscanf(e.Version, "%d.%d", &a, &b); err != nil {
		return "", false
	}
	return fmt.Sprintf("%d.%d", need[0], need[1]), a < need[0] || a == need[0] && b < need[1]
}

// engineOf reads what a server calls itself: 9.7.4, 10.11.19-MariaDB-0+deb12u1, 8.0.11-TiDB-v8.5.4.
func engineOf(version string) Engine {
	if _, own, ok := strings.Cut(version, "-TiDB-"); ok {
		return Engine{TiDB, versionNumber.FindString(strings.TrimPrefix(own, "v"))}
	}
	if strings.Contains(strings.ToLower(version), "mariadb") {
		// Replication of old servers believed in no version with two digits, so this stands before it now and then.
		return Engine{MariaDB, versionNumber.FindString(strings.TrimPrefix(version, "5.5.5-"))}
	}
	return Engine{MySQL, versionNumber.FindString(version)}
}

// Engine asks which database is behind the store.
func (s *Store) Engine(ctx context.Context) (Engine, error) {
	st := serverVersion
	if s.Embedded() {
		st = sqliteVersion
	}
	var version string
	if _, err := s.read(ctx).one(st, nil, textInto{&version}); err != nil {
		return Engine{}, err
	}
	if s.Embedded() {
		return Engine{SQLite, version}, nil
	}
	return engineOf(version), nil
}

var serverSettings = stmt{"server_settings", `SHOW VARIABLES WHERE Variable_name IN ('transaction_isolation', 'tx_isolation', 'sql_mode', 'time_zone', 'innodb_flush_log_at_trx_commit',
	'log_bin', 'sync_binlog', 'max_allowed_packet', 'tidb_txn_mode')`}

// Settings are those of a server that what we promise depends on, as they are for a connection of ours. The embedded
// engine has none.
func (s *Store) Settings(ctx context.Context) (map[string]string, error) {
	all := map[string]string{}
	if s.Embedded() {
		return all, nil
	}
	err := s.read(ctx).rows(serverSettings, func(r *sql.Rows) error {
		var name, value string
		err := r.Scan(&name, &value)
		all[strings.ToLower(name)] = value
		return err
	})
	if isolation, ok := all["tx_isolation"]; ok && all["transaction_isolation"] == "" { // MariaDB before 11.1
		all["transaction_isolation"] = isolation
	}
	return all, err
}
