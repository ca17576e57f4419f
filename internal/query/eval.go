package query

import (
	"slices"
	"strings"
	"unicode"

	"patra"
)

// Record is a record as a query sees it: the values of each field.
type Record map[string][]string

// Eval answers the query for one record. It is the meaning of a query, against which rendering is tested; a provider's
// own idea of a word may differ in detail. A field with several values matches when one of them does.
func Eval(n Node, r Record) bool {
	switch n.Op {
	case OpConst:
		return n.is(true)
	case OpAnd:
		return !slices.ContainsFunc(n.Args, func(arg Node) bool { return !Eval(arg, r) })
	case OpOr:
		return slices.ContainsFunc(n.Args, func(arg Node) bool { return Eval(arg, r) })
	case OpNot:
		return len(n.Args) == 1 && !Eval(n.Args[0], r)
	}
	return slices.ContainsFunc(r[n.Name()], n.holds)
}

// holds answers an atom for one value.
func (n Node) holds(value string) bool {
	switch n.Op {
	case OpTerm:
		return n.says(value)
	case OpIn:
		return slices.Contains(n.Values, value)
	case OpToken:
		return n.Text == value
	case OpExists:
		return value != ""
	case OpRange:
		return n.within(value)
	}
	return false
}

func (n Node) says(value string) bool {
	text := n.Text
	if !n.CaseSensitive {
		text, value = strings.ToLower(text), strings.ToLower(value)
	}
	switch n.Match {
	case MatchExact:
		return text == value
	case MatchPhrase:
		return follow(words(value), words(text), false)
	case MatchPrefix:
		return follow(words(value), words(text), true)
	}
	return slices.ContainsFunc(strings.Fields(text), func(word string) bool { return follow(words(value), words(word), false) })
}

// words are the runs of letters and digits.
func words(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// follow reports whether part stands in all without a gap; with more, its last word may be the start of a longer one.
func follow(all, part []string, more bool) bool {
	for i := 0; len(part) > 0 && i+len(part) <= len(all); i++ {
		last := len(part) - 1
		here := all[i : i+len(part)]
		if slices.Equal(here[:last], part[:last]) && (here[last] == part[last] || more && strings.HasPrefix(here[last], part[last])) {
			return true
		}
	}
	return false
}

// within compares by value. What cannot be read as the range's kind lies in no range.
func (n Node) within(value string) bool {
	if n.ranges() == RangeNumber {
		f, err := parseNumber(value)
		return err == nil && above(n.From, func(b *Bound) int { return compare(f, *b.Number) }) && below(n.To, func(b *Bound) int { return compare(f, *b.Number) })
	}
	i, err := patra.ParseInstant(value)
	if err != nil {
		return false
	}
	if n.ranges() == RangeDate {
		i = patra.UnitDay.Floor(i)
	}
	return above(n.From, func(b *Bound) int { return compare(i, b.Value) }) && below(n.To, func(b *Bound) int { return compare(i, b.Value) })
}

func compare[T float64 | patra.Instant](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func above(b *Bound, cmp func(*Bound) int) bool {
	return b == nil || cmp(b) > 0 || cmp(b) == 0 && b.Kind == Closed
}

func below(b *Bound, cmp func(*Bound) int) bool {
	return b == nil || cmp(b) < 0 || cmp(b) == 0 && b.Kind == Closed
}
