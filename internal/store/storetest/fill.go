package storetest

import (
	"database/sql"
	"fmt"
	"testing"

	"patra"
)

// Fill makes many records in a moment, as nobody who harvests could: the database makes them up itself. They lie ten years
// apart at most, belong to two sources, and have about two kilobytes of fields and two of raw content each.
func Fill(t testing.TB, db *sql.DB, mysql bool, n int64) {
	t.Helper()
	text := func(parts ...string) string { // they are joined by the word of the engine
		joined := "(" + parts[0] + ")"
		for _, p := range parts[1:] {
			joined += " || (" + p + ")"
		}
		if mysql {
			joined = "CONCAT(" + parts[0]
			for _, p := range parts[1:] {
				joined += ", " + p
			}
			joined += ")"
		}
		return joined
	}
	digit := "(SELECT 0 AS d UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9)"
	long := "'Little is known about the calibration of thin films in cold storage with an instrument of the second kind; " +
		"earlier reports disagree, and the variance was large in both groups. '"
	seven := text(long, "n", long, "n * 7", long, "n * 13", long, "n % 97", long)
	noise := "hex(randomblob(512))" // what cannot be made much smaller: else nobody would notice that it is all kept in memory
	if mysql {
		noise = "CONCAT(SHA2(n, 512), SHA2(n + 0.1, 512), SHA2(n + 0.2, 512), SHA2(n + 0.3, 512), SHA2(n + 0.4, 512), SHA2(n + 0.5, 512), SHA2(n + 0.6, 512), SHA2(n + 0.7, 512))"
	}
	fields := text(`'{"title":"Work '`, "n", `' about =formulas","doi":"10.5555/'`, "n", `'","keywords":["k'`, "n % 100", `'","b"],"noise":"'`, noise, `'","abstract":"'`, seven, `'"}'`)
	raw := text(`'{"a":"'`, seven, seven, `'"}'`)
	if mysql {
		raw = "CAST(" + raw + " AS BINARY)"
	} else {
		raw = "CAST(" + raw + " AS BLOB)"
	}
	const step = 10_000
	origin := int64(patra.Date(2016, 1, 1))
	for from := int64(0); from < n; from += step {
		numbers := fmt.Sprintf("SELECT %d + a.d + 10 * b.d + 100 * c.d + 1000 * e.d AS n FROM %s a, %s b, %s c, %s e", from, digit, digit, digit, digit)
		query := fmt.Sprintf(`INSERT INTO ing_record (provenance_code, record_type, provider_id, rev, provider_updated_at, content_sha256, deleted, fields, raw, raw_code, first_seen_at, observed_at, changed_at, last_refreshed_at,
			batch_id, expr_hash, spec_fingerprint, created_at)
			SELECT CASE WHEN n %% 2 = 0 THEN 'crossref' ELSE 'datacite' END, 'work', %s, 1, %d + (n * 7919 %% 3650) * 86400000000, '%s', 0, %s, %s, 'JSON', 1, 1, 1 + n, 1, 1, '%s', '%s', 1
			FROM (%s) AS numbers WHERE n < %d`, text("'10.5555/'", "n"), origin, patra.Hash(1), fields, raw, patra.Hash(2), patra.Hash(3), numbers, n)
		if _, err := db.Exec(query); err != nil {
			t.Fatal(err)
		}
	}
}
