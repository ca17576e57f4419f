package sim

import "fmt"

// journal is where a paper appears. The list is made once from the words; the first entries get most papers, as in
// life.
type journal struct {
	title, short, issn, eissn, publisher, prefix, member string
	subjects                                             []string

	head, names, tail string // its part of a Crossref item, which is the same for each of its papers
}

var publishers = []struct{ name, prefix, member string }{
	{"Lanternfield Press", "10.5555", "990001"},
	{"Société Éditrice du Val d’Orge", "10.5072", "990002"},
	{"Quillback & Sons Ltd.", "10.55555", "990003"},
	{"Universitätsverlag Grünau", "10.5555", "990004"},
	{"Three Rivers Open Science", "10.50505", "990005"},
}

var journals = makeJournals()

func makeJournals() []journal {
	list := make([]journal, 0, len(fields)*2)
	for i, field := range fields {
		for k, form := range []string{"Journal of %s", "%s Letters"} {
			p := publishers[(i*2+k)%len(publishers)]
			j := journal{
				title: fmt.Sprintf(form, field), short: fmt.Sprintf("%c%c%d", 'a'+i%26, 'j'+k*2, i),
				issn: issn(2900000 + i*20 + k*2), eissn: issn(2900001 + i*20 + k*2),
				publisher: p.name, prefix: p.prefix, member: p.member,
				subjects: []string{field, fields[(i*7+3)%len(fields)]},
			}
			j.head, j.names, j.tail = itemParts(j)
			list = append(list, j)
		}
	}
	return list
}

// issn adds the check digit to seven digits.
func issn(n int) string {
	digits, sum := fmt.Sprintf("%07d", n), 0
	for i, c := range digits {
		sum += int(c-'0') * (8 - i)
	}
	check := "0123456789X"[(11-sum%11)%11]
	return fmt.Sprintf("%s-%s%c", digits[:4], digits[4:], check)
}

func drawJournal(d *dice) *journal {
	n := len(journals)
	return &journals[min(d.n(n), d.n(n))]
}
