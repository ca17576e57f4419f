package store

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

func TestAServerIsKnownByItsVersion(t *testing.T) {
	for version, want := range map[string]string{
		"9.7.4": "MySQL 9.7.4", "8.0.36-28.1": "MySQL 8.0.36", "10.11.19-MariaDB-0+deb12u1": "MariaDB 10.11.19", "5.5.5-10.6.12-MariaDB-log": "MariaDB 10.6.12", "11.4.2-mariadb": "MariaDB 11.4.2",
		"8.0.11-TiDB-v8.5.4": "TiDB 8.5.4", "8.0.11-TiDB-v7.1.0-alpha-14-gdeadbeef": "TiDB 7.1.0", "8.0.11-TiDB-None": "TiDB",
	} {
		if got := engineOf(version).String(); got != want {
			t.Errorf("%s is %s, want %s", version, got, want)
		}
	}
}

func TestAnOldEngineIsToldFromANewOne(t *testing.T) {
	for version, old := range map[string]bool{"5.7.44": true, "8.0.11": false, "9.0.0": false, "10.5.20-MariaDB": true, "10.6.1-MariaDB": false, "11.1.0-MariaDB": false, "8.0.11-TiDB-v8.1.0": true, "8.0.11-TiDB-v8.4.0-this-is-a-placeholder": false, "8.0.11-TiDB-None": false} {
		if since, is := engineOf(version).TooOld(); is != old || is && since == "" {
			t.Errorf("%s: %t since %q", version, is, since)
		}
	}
}

// MySQL reserves words that the other engines do not, and its server is not part of the usual tests.
var wordsOfMySQL = regexp.MustCompile(`\b(cube|cume_dist|dense_rank|empty|except|first_value|function|generated|get|grouping|groups|intersect|io_after_gtids|io_before_gtids|json_table|lag|last_value|lateral|lead|manual|` +
	`master_bind|nth_value|ntile|of|optimizer_costs|over|parallel|percent_rank|qualify|rank|recursive|row|row_number|rows|sql_after_gtids|sql_before_gtids|stored|system|tablesample|virtual|window)\b`)

// column is where a name of ours stands in a migration.
var nameOfOurs = regexp.MustCompile("(?m)(?:^  (?:UNIQUE |INDEX )?|\\bAS )(`?\\w+`?)")

func TestNoNameIsAReservedWordOfMySQL(t *testing.T) {
	files, err := migrationFiles.ReadDir("migrations")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text, err := migrationFiles.ReadFile("migrations/" + f.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range nameOfOurs.FindAllStringSubmatch(mysqlDialect.schema(string(text)), -1) {
			if wordsOfMySQL.MatchString(m[1]) && !strings.HasPrefix(m[1], "`") {
				t.Errorf("%s: %s is a reserved word of MySQL; choose another name, or see reserved in migrations.go", f.Name(), m[1])
			}
		}
	}
}

// bareStored is the column of that name where MySQL does not understand it.
var bareStored = regexp.MustCompile(`(?i)(select|insert)[^"]*[ (,]stored[ ,)]`)

func TestStatementsQuoteWhatMySQLReserves(t *testing.T) {
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		text, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		for part := range strings.SplitSeq(string(text), "`") {
			if bareStored.MatchString(part) && !strings.Contains(part, "\nfunc ") {
				t.Errorf("%s: write {stored} in %.80q", f.Name(), part)
			}
		}
	}
	if got := mysqlDialect.rules("").Replace("SELECT {stored}"); got != "SELECT `stored`" {
		t.Errorf("it becomes %s", got)
	}
}

// Two servers of a TiDB would give the pages of one task ids in any order.
func TestEveryTableSharesItsIDsOnTiDB(t *testing.T) {
	files, err := migrationFiles.ReadDir("migrations")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text, err := migrationFiles.ReadFile("migrations/" + f.Name())
		if err != nil {
			t.Fatal(err)
		}
		made := mysqlDialect.schema(string(text))
		if strings.Count(made, "CREATE TABLE") != strings.Count(made, ") /*T![auto_id_cache] AUTO_ID_CACHE 1 */;") {
			t.Errorf("%s: a table without its option:\n%s", f.Name(), made)
		}
		if strings.Contains(sqliteDialect.schema(string(text)), "/*T!") {
			t.Errorf("%s: SQLite has no such option", f.Name())
		}
	}
}
