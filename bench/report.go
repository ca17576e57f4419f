package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// report is everything that was measured.
type report struct {
	figures figures
	took    time.Duration
	away    []missing

	tables     []table // tasks that everybody was given
	pages      *table  // the same harvest in pages of two sizes
	pagePrice  spread  // of one more page, in milliseconds of processor time
	floorPrice spread
	sizes      []table // harvests of different sizes
	queued     int
	claims     []claimed
	scaled     []scaled
	scaledOn   string
	plans      []planned
	reads      *reads
}

// goals is the table of what we want and what came of it, for a page or for a terminal.
func (rep *report) goals(page bool) string {
	var w strings.Builder
	if page {
		w.WriteString("| what | goal | measured | met |\n|---|---|---|---|\n")
	}
	row := ""
	for _, g := range goals {
		got, met := rep.verdict(g)
		if !page {
			fmt.Fprintf(&w, "%-20s %-12s %-28s %s\n", g.key, g.want(), got, met)
			continue
		}
		if g.row != row {
			fmt.Fprintf(&w, "| **%s** | | | |\n", g.row)
			row = g.row
		}
		fmt.Fprintf(&w, "| %s | %s | %s | %s |\n", g.what, g.want(), got, met)
	}
	return w.String()
}

// verdict is what a goal came to, and whether that is enough.
func (rep *report) verdict(g goal) (got, met string) {
	s, ok := rep.figures.got[g.key]
	switch {
	case !ok && rep.figures.absent[g.key] != "":
		return rep.figures.absent[g.key], "–"
	case !ok:
		return "not measured in this run", "–"
	case g.met(s.Mid):
		return s.text(g.unit), "yes"
	}
	return s.text(g.unit), "**no**"
}

// write makes the page, and the pictures that it shows.
func (rep *report) write(b *bench, path string) error {
	images := filepath.Join(filepath.Dir(path), "images")
	if err := os.MkdirAll(images, 0o755); err != nil {
		return err
	}
	pictures := map[string]string{}
	var w strings.Builder
	fmt.Fprintf(&w, `# Benchmarks

Made by `+"`make bench`"+` on %s, in %s: %d processors, Go %s. Performance is said as ratios to something that was measured in the same run on the
same machine; the numbers behind them are for this machine only.

Everybody reads the same pages from the same provider, which answers from memory, and shares the machine with it. Each contender is a
process: its time, processor time and peak memory are what the operating system counted. Rounds are interleaved, %s of each; a number is the
one in the middle, with the least and the greatest in brackets, and a ratio is taken round by round. What was stored is counted afterwards, in
the database. SQLite has its write-ahead log and waits for the disk at every commit (synchronous FULL) for Patra, the floor and Benthos;
MariaDB does so too (innodb_flush_log_at_trx_commit 1) and has 1 GB of memory for pages, and everybody has 2 workers there.
`, time.Now().UTC().Format(time.DateOnly), rep.took.Round(time.Second), runtime.NumCPU(), strings.TrimPrefix(runtime.Version(), "go"), rounds(b.rounds))
	if b.small {
		w.WriteString("\n**This was a quick run: it shows that everything works, and nothing about how fast it is.**\n")
	}
	w.WriteString("\n## What we want, and what it is\n\n" + rep.goals(true))
	rep.unmet(&w)
	for i, t := range rep.tables {
		name := "bench-" + t.task.name + ".svg"
		if i == 0 {
			w.WriteString("\n## The same harvest, by everybody\n")
		}
		rep.task(&w, t, name)
		pictures[name] = t.bars("Records in a second").svg()
	}
	rep.others(&w)
	rep.batches(&w)
	if len(rep.sizes) > 0 {
		rep.memories(&w)
		pictures["bench-memory.svg"] = rep.memoryLines().svg()
	}
	rep.queue(&w)
	if len(rep.scaled) > 0 {
		rep.scalings(&w)
		pictures["bench-scaling.svg"] = rep.scalingLines().svg()
	}
	rep.rest(&w)
	for name, text := range pictures {
		if err := os.WriteFile(filepath.Join(images, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(path, []byte(w.String()), 0o644)
}

// unmet tells the reasons.
func (rep *report) unmet(w *strings.Builder) {
	var all []string
	for _, g := range goals {
		if s, ok := rep.figures.got[g.key]; ok && !g.met(s.Mid) && reasons[g.key] != "" {
			all = append(all, fmt.Sprintf("- %s, %s: %s\n", g.row, g.what, reasons[g.key]))
		}
	}
	if len(all) > 0 {
		w.WriteString("\nWhy some goals are not met:\n\n" + strings.Join(all, ""))
	}
}

// task is a task, and what everybody came to.
func (rep *report) task(w *strings.Builder, t table, picture string) {
	fmt.Fprintf(w, "\n### %s\n\n%s records on %d days.\n\n![Records in a second](images/%s)\n\n", t.task.title, grouped(int64(t.world.records())), t.world.Days, picture)
	w.WriteString("| program | records/s | of its floor | CPU for 1,000 records | peak memory | requests | stored |\n|---|---:|---:|---:|---:|---:|---:|\n")
	for _, s := range t.scores {
		c := s.contender
		if s.failed != "" {
			fmt.Fprintf(w, "| %s | failed: %s | | | | | |\n", c.name, s.failed)
			continue
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s | %s |\n", c.name, s.spread(result.perSecond).text(plainly), t.ofFloor(s), s.spread(result.perThousand).text(unit{" ms", 1, 0}),
			s.spread(result.megabytes).text(megas), grouped(s.turns[0].Requests), s.kept())
	}
	if slices.ContainsFunc(t.scores, func(s score) bool { return s.contender.kind == part }) {
		w.WriteString("\nThe parts, and `fetch + parse` among them, store nothing: they find records and count them. The floor stores them with a ledger row and a watermark, and nothing else.")
	}
	w.WriteString(" On MariaDB the processor time and the memory are those of the program, without the server's.\n")
}

// kept says whether everything is there.
func (s score) kept() string {
	all := int64(s.world.records())
	text := grouped(all)
	if lost := s.lost(); lost != 0 {
		text = fmt.Sprintf("**%s of %s**", grouped(all-lost/int64(len(s.turns))), text)
	}
	if s.contender.kind == part {
		return "–"
	}
	return text
}

// ofFloor is a contender's rate by that of whoever does the bare work into the same engine.
func (t table) ofFloor(s score) string {
	under := t.named("floor, SQLite")
	if s.contender.engine == "mariadb" {
		under = t.named("floor, MariaDB")
	}
	if s.contender.kind == part || len(under.turns) == 0 {
		return ""
	}
	return ratios(s.rates(), under.rates()).text(percent)
}

// others tells what peers do not do, and which are not here.
func (rep *report) others(w *strings.Builder) {
	var lines []string
	for _, t := range rep.tables {
		for _, s := range t.scores {
			c := s.contender
			if c.kind != peer {
				continue
			}
			line := fmt.Sprintf("- **%s**", strings.TrimSpace(c.name+" "+c.version))
			if c.share > 1 {
				line += fmt.Sprintf(" reads one day in %d, as it would take too long otherwise", c.share)
			}
			lines = append(lines, line+". It does less: "+c.lacks+".\n")
		}
	}
	for _, m := range rep.away {
		lines = append(lines, fmt.Sprintf("- **%s** is not here, because %s.\n", m.name, m.why))
	}
	if len(lines) > 0 {
		w.WriteString("\n### The other programs\n\nEach is set up as its own documentation recommends; the files are in `bench/peers`.\n\n" + strings.Join(lines, ""))
	}
}

func (rep *report) batches(w *strings.Builder) {
	if rep.pages == nil {
		return
	}
	w.WriteString("\n## What a page costs beyond its records\n\nThe same harvest in pages of 1,000 and of 100. What it costs more is the price of the additional pages. The floor pays one too, for the request, the\n" +
		"transaction and one row; what Patra pays beyond that is its overhead: leases, the row before the request, the row of the request, evidence, proof.\n\n")
	w.WriteString("| program | requests | CPU for 1,000 records | CPU of one more page |\n|---|---:|---:|---:|\n")
	for _, s := range rep.pages.scores {
		price := ""
		switch s.contender.name {
		case "floor, pages of 100":
			price = rep.floorPrice.text(millis)
		case "Patra, pages of 100":
			price = rep.pagePrice.text(millis)
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s |\n", s.contender.name, grouped(s.turns[0].Requests), s.spread(result.perThousand).text(unit{" ms", 1, 0}), price)
	}
}

func (rep *report) memories(w *strings.Builder) {
	w.WriteString("\n## Memory\n\nThe greatest memory that a harvest of JSON into SQLite had at any moment, as the operating system counts it (maximum resident set). The largest\nharvest is done once.\n\n![Peak memory by records](images/bench-memory.svg)\n\n")
	w.WriteString("| records | Patra | floor | stored |\n|---:|---:|---:|---:|\n")
	for _, t := range rep.sizes {
		ours := t.named("Patra, SQLite")
		fmt.Fprintf(w, "| %s | %s | %s | %s |\n", grouped(int64(t.world.records())), ours.spread(result.megabytes).text(megas), t.named("floor, SQLite").spread(result.megabytes).text(megas), ours.kept())
	}
}

func (rep *report) queue(w *strings.Builder) {
	if len(rep.claims) == 0 {
		return
	}
	fmt.Fprintf(w, "\n## The queue and the ledger\n\nClaims are taken from a queue of %s tasks of four sources, through the store's own code: the lease, the run row and everything else that belongs to it. A ledger\n"+
		"write is both transactions of a page that has no records: the row before the request, and the commit after it.\n\n", grouped(int64(rep.queued)))
	w.WriteString("| what | engine | workers | average | P95 | claims/s |\n|---|---|---:|---:|---:|---:|\n")
	cell := func(key string) string {
		if s, ok := rep.figures.got[key]; ok {
			return s.text(millis)
		}
		return "not measured"
	}
	for _, c := range rep.claims {
		key := fmt.Sprintf("claim.%s.%d", c.engine.code, c.workers)
		fmt.Fprintf(w, "| claim | %s | %d | %s | %s | %s |\n", c.engine.name, c.workers, cell(key+".avg"), cell(key+".p95"), c.rate.text(plainly))
	}
	for _, e := range engines {
		fmt.Fprintf(w, "| ledger | %s | 1 | %s | %s | |\n", e.name, cell("ledger."+e.code+".avg"), cell("ledger."+e.code+".p95"))
	}
}

func (rep *report) scalings(w *strings.Builder) {
	on := engines[slices.IndexFunc(engines, func(e engine) bool { return e.code == rep.scaledOn })].name
	fmt.Fprintf(w, "\n## Executors\n\nThe provider gives each client %d pages of %d records a second, whatever it asks for. Executors are processes with 4 workers each that share a queue on %s (`executor.perPartition` lets all of them read one source). Stored\nrecords are counted for some seconds when the provider knows all of them.\n\n![Records a second by executors](images/bench-scaling.svg)\n\n",
		time.Second/clientPace, clientRows, on)
	w.WriteString("| executors | records/s | by one |\n|---:|---:|---:|\n")
	for _, s := range rep.scaled {
		fmt.Fprintf(w, "| %d | %s | %s |\n", s.executors, spreadOf(s.rates...).text(plainly), ratios(s.rates, rep.scaled[0].rates).text(finely))
	}
}

// rest is what has no picture.
func (rep *report) rest(w *strings.Builder) {
	if s, ok := rep.figures.got["limited.used"]; ok {
		fmt.Fprintf(w, "\n## A limited rate\n\nThe provider permits %d requests a second and %d at once, and counts itself. %d workers of one process used %s of that, and %s requests were refused.\n",
			limitRate, limitBurst, limitWorkers, s.text(fraction), rep.figures.got["limited.over"].text(plainly))
		if between, ok := rep.figures.got["limited.steady"]; ok {
			fmt.Fprintf(w, "In the seconds between the first and the last two it was %s of the rate: a fiftieth is kept in hand for requests that leave late, so that no second has more than is permitted.\n", between.text(fraction))
		}
	}
	if len(rep.plans) > 0 {
		w.WriteString("\n## Planning\n\n| years by the hour | slices | time of a slice | by the inserts alone | peak heap |\n|---:|---:|---:|---:|---:|\n")
		for _, p := range rep.plans {
			fmt.Fprintf(w, "| %d | %s | %s | %s | %s |\n", p.years, p.slices.text(plainly), p.micros.text(unit{" µs", 1, 0}), p.times.text(finely), p.mem.text(megas))
		}
	}
	w.WriteString("\n## The read side\n\n")
	if r := rep.reads; r != nil {
		fmt.Fprintf(w, "Measured on %s with `make bench-read`: %s batches, %s records, %d questions of the dashboard while a harvest writes. The slowest by P95 is `%s` with %.0f ms; a harvest that is looked at takes %.2f times as long.\n",
			r.Date, grouped(r.Batches), grouped(r.Records), r.Questions, r.Slowest, r.P95, r.Watched)
	} else {
		w.WriteString("It takes long and needs a large store: `make bench-read` measures it, and the next `make bench` shows it here.\n")
	}
}

func rounds(n int) string {
	if n == 1 {
		return "1 round"
	}
	return fmt.Sprintf("%d rounds", n)
}
