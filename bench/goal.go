package main

import "fmt"

// goal is one line of what we want: a number, measured in the same run as what it is a ratio to.
type goal struct {
	key   string
	row   string // which aim it belongs to
	what  string // what is measured, and how
	least bool   // the number has to be at least the limit; otherwise at most
	limit float64
	unit  unit
}

func (g goal) met(v float64) bool {
	if g.least {
		return v >= g.limit
	}
	return v <= g.limit
}

func (g goal) want() string {
	if g.least {
		return "≥ " + g.unit.number(g.limit) + g.unit.name
	}
	return "≤ " + g.unit.number(g.limit) + g.unit.name
}

// reasons say why a goal is not met. They are shown only then.
var reasons = map[string]string{
	"json.floor":    moreWork + oneWriter,
	"mariadb.floor": moreWork + ". The server shares the two processors; one with its own, and events that are told by the page, would help: without their rows it is 11 % faster",
	"pubmed.floor":  moreWork + oneWriter + smallPages,
	"oai.floor":     moreWork + oneWriter + smallPages,
	"oai.metha":     "five times as fast as metha is nearly as fast as the floor; metha writes each answer into a file, and no records. What brings us nearer to the floor would help",
	"json.benthos":  "five times Benthos is nearly as fast as the floor; Benthos writes one row and proves nothing. What brings us nearer to the floor would help",
	"json.dlt":      "see the floor above",
	"json.airbyte":  "see the floor above; it prints its records and stores none",
	"pubmed.dom":    "the tree is no longer what takes the time: reading is a quarter of it, and the program beside it stores nothing. Ten times of that is more than twice the floor, and only a faster way into the database would help",
	"memory.peak":   "half of it are pages that are in hand and what was let go since memory was last collected, a quarter SQLite's cache, and a fifth the program itself",
	"memory.flat":   "a small harvest ends before its pages are in hand at the same time; fewer pages in hand would help",
	"limited.used":  "a fiftieth of the rate is kept in hand for requests that leave late, so that no second has more than permitted",
	"read.p95":      "the map reads and draws every window that it shows; drawing a coarser one where nobody can see 25,000 would help",

	"claim.sqlite.16.avg":  twoCores,
	"claim.sqlite.16.p95":  twoCores,
	"claim.mariadb.16.avg": twoCores,
	"claim.mariadb.16.p95": twoCores,
	"claim.mariadb.1.avg":  "a claim is six statements, and each goes to the server and back; several in one message would help",
	"claim.mariadb.1.p95":  "a claim is six statements, and each goes to the server and back; several in one message would help",
}

const (
	moreWork   = "beside the record Patra writes its version, its event and their indexes, twelve entries where the floor has two; reads the mapped fields, hashes what each item says, and keeps the whole answer packed"
	oneWriter  = ". SQLite has one writer: of its time for a page seven tenths go into rows and a fifth into the commit. Without any one index it takes 2 to 5 % less, and each is in use; to tell of new records by the page, and not of each in a row of its own, would help: without those rows it is 6 % faster"
	smallPages = ". Here pages are small, and each waits for the disk with its answer and with its rows: in a file system in memory the same harvests are a quarter and two fifths faster. A sixth of that is the answers, and the rest the log of the store"
	twoCores   = "sixteen who are never done share two processors, with the server where there is one: the time is that of waiting for each other. More processors would help"
)

// goals are all lines, in the order of the page.
var goals = append([]goal{
	{"json.floor", rowJSON, "records/s of Patra on SQLite by those of the floor, which fetches, finds the records, upserts and writes a ledger row", true, 0.6, percent},
	{"json.benthos", rowJSON, "records/s of Patra on SQLite by those of Benthos, the engine of Redpanda Connect", true, 5, times},
	{"json.dlt", rowJSON, "records/s of Patra on SQLite by those of dlt", true, 10, times},
	{"json.airbyte", rowJSON, "records/s of Patra on SQLite by those of Airbyte's CDK, which stores nothing", true, 10, times},
	{"mariadb.floor", "End to end on MariaDB, 2 workers", "records/s of Patra by those of the floor with 2 readers and 2 writers", true, 0.6, percent},
	{"pubmed.dom", rowPubMed, "records/s of Patra on SQLite by those of a program that makes a tree of each page with encoding/xml, and stores nothing", true, 10, times},
	{"pubmed.floor", rowPubMed, "records/s of Patra on SQLite by those of the floor", true, 0.6, percent},
	{"oai.metha", rowOAI, "records/s of Patra on SQLite by those of metha, which writes compressed files", true, 5, times},
	{"oai.floor", rowOAI, "records/s of Patra on SQLite by those of the floor", true, 0.5, percent},
	{"oai.lost", rowOAI, "records that the provider has and Patra did not store, all rounds together", false, 0, plainly},
	{"batch.overhead", "Overhead per batch beyond fetch, parse and record writes", "processor time that one more page costs Patra less what it costs the floor, by the processor time of a page of 1,000 records", false, 0.1, fraction},
	{"memory.flat", rowMemory, "peak memory of the size with the most beyond that of the size with the least", false, 0.1, percent},
	{"memory.peak", rowMemory, "the greatest peak of all sizes", false, 150, megas},
}, append(engineGoals(),
	goal{"read.p95", "Read side at 1 M batches and 10 M records", "slowest P95 of all questions of the dashboard while a harvest writes (`make bench-read`)", false, 100, coarse},
	goal{"scaling.2", rowScaling, "records/s of 2 executors by those of 1", true, 1.9, finely},
	goal{"scaling.4", rowScaling, "records/s of 4 executors by those of 1", true, 3.7, finely},
	goal{"limited.used", rowLimited, "requests that the provider saw by those that it permits between the first and the last: the rate by the time", true, 0.97, fraction},
	goal{"limited.over", rowLimited, "requests that the provider refused, all rounds together", false, 0, plainly},
	goal{"plan.inserts", rowPlan, "time to plan ten years by the hour, 87,600 slices, by the time to insert the rows alone", false, 2, finely},
	goal{"plan.linear", rowPlan, "time for a slice of ten years by that for a slice of two", false, 1.2, finely},
	goal{"start.version", rowStart, "`patra version`, from start to end", false, 50, coarse},
	goal{"start.help", rowStart, "`patra help`, from start to end", false, 50, coarse},
	goal{"start.size", rowStart, "size of the binary as `make build` makes it", false, 60, megas},
)...)

const (
	rowJSON    = "End to end on SQLite, JSON pages of 1,000"
	rowPubMed  = "PubMed-like XML in two phases"
	rowOAI     = "OAI-PMH"
	rowMemory  = "Peak memory by the number of records"
	rowScaling = "Executors against a provider that is limited per client"
	rowLimited = "Against a provider with a limited rate"
	rowPlan    = "Planning"
	rowStart   = "Start of `patra`"
)

// engineGoals are those that hold for each engine.
func engineGoals() (all []goal) {
	for _, e := range engines {
		for _, workers := range []int{1, 16} {
			row := fmt.Sprintf("Claim with a full queue, %s", e.name)
			all = append(all,
				goal{fmt.Sprintf("claim.%s.%d.avg", e.code, workers), row, fmt.Sprintf("average time of a claim, %s", hands(workers)), false, 2, millis},
				goal{fmt.Sprintf("claim.%s.%d.p95", e.code, workers), row, fmt.Sprintf("P95 of a claim, %s", hands(workers)), false, 10, millis})
		}
	}
	for _, e := range engines {
		row := fmt.Sprintf("Ledger write of a batch without its records, %s", e.name)
		all = append(all,
			goal{"ledger." + e.code + ".avg", row, "average time of both transactions of a page: the one before the request and the one after it", false, e.ledger, millis},
			goal{"ledger." + e.code + ".p95", row, "P95 of the same", false, e.ledgerP95, millis})
	}
	return all
}

// engine is a database that Patra can have its store in.
type engine struct {
	code, name        string
	ledger, ledgerP95 float64 // limits, in milliseconds
}

var engines = []engine{{"sqlite", "SQLite", 2, 10}, {"mariadb", "MariaDB", 5, 20}}

func hands(n int) string {
	if n == 1 {
		return "1 worker"
	}
	return fmt.Sprintf("%d workers at once", n)
}

// figures are what was measured, by the keys of the goals, and why something was not.
type figures struct {
	got    map[string]spread
	absent map[string]string
}

func newFigures() figures { return figures{got: map[string]spread{}, absent: map[string]string{}} }

func (f figures) set(key string, s spread) {
	if s.Rounds > 0 {
		f.got[key] = s
	}
}
