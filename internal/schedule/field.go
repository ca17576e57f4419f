package schedule

import (
	"fmt"
	"strconv"
	"strings"
)

// Example is a schedule as a message shows it.
const Example = "15 2 * * *"

// maxText is more than anybody needs to say when.
const maxText = 200

// field is one of the five parts of a schedule.
type field struct {
	name     string
	from, to int
	words    string // that may stand for the numbers
}

var fields = [...]field{
	{"minute", 0, 59, ""},
	{"hour", 0, 23, ""},
	{"day", 1, 31, ""},
	{"month", 1, 12, " or JAN to DEC"},
	{"weekday", 0, 7, " or SUN to SAT"},
}

// refusal says what is wrong with a text, and how it is done.
func refusal(text, why string) error {
	if len(text) > maxText {
		text = text[:maxText] + "..."
	}
	return fmt.Errorf("%q is not a schedule: %s; write minute, hour, day, month and weekday in UTC, as in %q", text, why, Example)
}

// shape finds what is wrong before the parser looks, and is empty if nothing is. The parser is laxer: it takes time
// zones, lists with nothing between the commas, and ranges that begin beyond the end of the field.
func shape(text string) string {
	parts := strings.Fields(text)
	switch {
	case len(parts) == 0:
		return "it is empty"
	case len(text) > maxText:
		return fmt.Sprintf("it has more than %d characters", maxText)
	case strings.Contains(strings.ToUpper(text), "TZ="):
		return "times are in UTC, and a time zone cannot be given"
	case strings.HasPrefix(parts[0], "@"):
		return ""
	case len(parts) > len(fields):
		return fmt.Sprintf("it has %d fields instead of %d, and neither seconds nor years can be given", len(parts), len(fields))
	case len(parts) < len(fields):
		return fmt.Sprintf("it has %d of %d fields", len(parts), len(fields))
	}
	for i, f := range fields {
		if !f.sound(parts[i]) {
			return f.misread(parts[i])
		}
	}
	return ""
}

// explain finds the field that the parser refuses, as its own words are for programmers.
func explain(text string) string {
	parts := strings.Fields(text)
	if strings.HasPrefix(parts[0], "@") {
		return "of the words with @ there are @hourly, @daily, @weekly, @monthly and @yearly"
	}
	for i, f := range fields {
		alone := []string{"*", "*", "*", "*", "*"}
		alone[i] = parts[i]
		if _, err := parser.Parse(strings.Join(alone, " ")); err != nil {
			return f.misread(parts[i])
		}
	}
	return "it is not understood"
}

func (f field) misread(part string) string {
	return fmt.Sprintf("the %s %q is not understood, which can be * or %d to %d%s, a range 1-5, a list 1,3 or a step */2", f.name, part, f.from, f.to, f.words)
}

// sound looks at every item of a list, which is a star, a value or a range, perhaps with a step. Whether the values are
// any good is the parser's business, except that no number may lie above the field.
func (f field) sound(part string) bool {
	for item := range strings.SplitSeq(part, ",") {
		span, step, stepped := strings.Cut(item, "/")
		if stepped && !plain(step) {
			return false
		}
		if span == "*" {
			continue
		}
		for value := range strings.SplitSeq(span, "-") {
			if n, err := strconv.Atoi(value); err == nil && n > f.to || !plain(value) {
				return false
			}
		}
	}
	return true
}

// plain tells whether a value has letters and digits only.
func plain(value string) bool {
	return value != "" && !strings.ContainsFunc(value, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
}
