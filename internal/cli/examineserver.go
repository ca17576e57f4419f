package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"patra/internal/store"
)

// smallPacket is what a statement with a page of large records may need.
const smallPacket = 16 << 20

// examineServer looks at a database server: whether it is one that we know, and whether it keeps what it promises us.
func examineServer(ctx context.Context, s *store.Store, engine store.Engine) []finding {
	found := []finding{judgeEngine(engine)}
	if s.Embedded() {
		return found
	}
	settings, err := s.Settings(ctx)
	if err != nil {
		return append(found, fail("server", "The user of store.url must be allowed to see the settings", "The server does not tell its settings: %s", err))
	}
	return append(found, judgeServer(engine, settings)...)
}

// judgeEngine looks whether an engine is new enough.
func judgeEngine(e store.Engine) finding {
	if since, old := e.TooOld(); old {
		name, _, _ := strings.Cut(e.String(), " ")
		return fail("engine", fmt.Sprintf("Use %s %s or newer; docs/databases.md lists what was tried", name, since), "%s is too old", e)
	}
	return passed("engine", "%s is supported", e)
}

// judgeServer looks whether the settings of a server are those that our promises rest on. Most are set by ourselves for each
// connection: where they are others, something between us and the server changes them.
func judgeServer(e store.Engine, set map[string]string) (found []finding) {
	const proxy = "A proxy between patra and the database may share or reset connections: give patra connections of its own"
	if v := set["transaction_isolation"]; v != "READ-COMMITTED" {
		found = append(found, fail("server", proxy, "Transactions are %s, and not READ-COMMITTED", v))
	}
	if v := set["sql_mode"]; !strings.Contains(v, "STRICT_ALL_TABLES") {
		found = append(found, fail("server", proxy, "What does not fit is cut off by the server without a word: its sql_mode is %q, without STRICT_ALL_TABLES", v))
	}
	if v := set["time_zone"]; v != "+00:00" && !strings.EqualFold(v, "UTC") {
		found = append(found, fail("server", proxy, "The clock of the connection is that of %s, and not UTC: an hour comes twice or not at all when the clocks change", v))
	}
	if v := set["tidb_txn_mode"]; e.Kind == store.TiDB && v != "pessimistic" {
		found = append(found, fail("server", "SET GLOBAL tidb_txn_mode = 'pessimistic'", "Transactions of TiDB are %q, and do not wait for each other", v))
	}
	if v, ok := set["innodb_flush_log_at_trx_commit"]; ok && v != "1" && e.Kind != store.TiDB {
		found = append(found, warn("server", "SET GLOBAL innodb_flush_log_at_trx_commit = 1, and the same in its configuration",
			"The server does not write each transaction to its disk (innodb_flush_log_at_trx_commit is %s): when its machine fails, the last second is forgotten, also fences and charges", v))
	}
	if set["log_bin"] == "ON" && set["sync_binlog"] != "1" && e.Kind != store.TiDB {
		found = append(found, warn("server", "SET GLOBAL sync_binlog = 1, and the same in its configuration", "Replicas may miss what the server has: sync_binlog is %s", set["sync_binlog"]))
	}
	if n, err := strconv.ParseInt(set["max_allowed_packet"], 10, 64); err == nil && n < smallPacket {
		found = append(found, warn("server", "SET GLOBAL max_allowed_packet = 67108864, and the same in its configuration",
			"The server takes statements of %d MiB at most (max_allowed_packet): a page of large records may not fit", n>>20))
	}
	if len(found) == 0 {
		found = append(found, passed("server", "Its settings are those that we rely on"))
	}
	return found
}
