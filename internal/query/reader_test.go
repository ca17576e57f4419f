package query_test

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"patra/internal/query"
)

// reader is a provider: it understands rendered queries by its own means and shares no code with the renderer. It reads
// operators strictly from left to right, so that a missing bracket shows.
type reader struct {
	text string
	rec  query.Record
}

func (r *reader) fail(format string, args ...any) {
	panic(fmt.Sprintf(format, args...) + " before " + r.text)
}

func (r *reader) take(mark string) bool {
	r.text = strings.TrimLeft(r.text, " ")
	rest, ok := strings.CutPrefix(r.text, mark)
	if ok {
		r.text = rest
	}
	return ok
}

func (r *reader) query() bool {
	v := r.operand()
	for r.text != "" && !strings.HasPrefix(r.text, ")") {
		switch {
		case r.take("AND NOT "), r.take("BUT "):
			v = !r.operand() && v
		case r.take("AND "):
			v = r.operand() && v
		case r.take("OR "):
			v = r.operand() || v
		default:
			r.fail("no operator")
		}
	}
	return v
}

func (r *reader) operand() bool {
	switch {
	case r.take("NOT "):
		return !r.operand()
	case r.take("("):
		v := r.query()
		if !r.take(")") {
			r.fail("no )")
		}
		return v
	case r.take("*:*"):
		return true
	case r.take("ABSTRACT:Y"):
		return len(r.rec["abstract"]) > 0
	case r.take("ABSTRACT:N"):
		return len(r.rec["abstract"]) == 0
	}
	name, rest, ok := strings.Cut(r.text, ":")
	if !ok {
		r.fail("no field")
	}
	r.text = rest
	field := strings.ToLower(name)
	if r.take("[") {
		return r.between(field)
	}
	value, quoted := r.value()
	more := r.take("*")
	if !quoted && !more {
		r.fail("a bare word")
	}
	return slices.ContainsFunc(r.rec[field], func(v string) bool {
		if field == "type" {
			return strings.EqualFold(v, value)
		}
		if field == "in" || field == "mesh" {
			return v == value
		}
		return spoken(v, value, more)
	})
}

// value undoes the escapes of the language.
func (r *reader) value() (string, bool) {
	quoted := r.take(`"`)
	var b strings.Builder
	for i := 0; i < len(r.text); i++ {
		switch c := r.text[i]; {
		case c == '\\' && i+1 < len(r.text):
			i++
			b.WriteByte(r.text[i])
		case quoted && c == '"':
			r.text = r.text[i+1:]
			return b.String(), true
		case !quoted && strings.IndexByte(` ()*"`, c) >= 0:
			r.text = r.text[i:]
			return b.String(), false
		default:
			b.WriteByte(c)
		}
	}
	r.fail("the quote is open")
	return "", false
}

// between compares as text, which the formats of the toy allow. Both ends are inclusive.
func (r *reader) between(field string) bool {
	inner, rest, ok := strings.Cut(r.text, "]")
	from, to, ok2 := strings.Cut(inner, " TO ")
	if !ok || !ok2 || from == "" || to == "" {
		r.fail("a broken range")
	}
	r.text = rest
	return slices.ContainsFunc(r.rec[field], func(v string) bool { return inside(v, from, to) })
}

func inside(v, from, to string) bool {
	v = strings.Replace(v, ".000Z", "Z", 1)
	return (from == "*" || v >= from) && (to == "*" || v <= to)
}

// spoken reports whether the words of part stand in all.
func spoken(all, part string, more bool) bool {
	flat := func(s string) string {
		return " " + strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }), " ") + " "
	}
	a, p := flat(all), flat(part)
	if strings.TrimSpace(p) == "" {
		return false
	}
	if more {
		p = strings.TrimRight(p, " ")
	}
	return strings.Contains(a, p)
}

// understand is the provider with a language; dates may come as parameters.
func understand(params map[string][]string, rec query.Record) bool {
	ok := true
	if from, to := params["min"], params["max"]; from != nil || to != nil {
		ok = slices.ContainsFunc(rec["indexed"], func(v string) bool { return inside(v, from[0], to[0]) })
	}
	if q := params["q"]; len(q) > 0 {
		r := &reader{text: q[0], rec: withIn(rec)}
		ok = r.query() && ok
	}
	return ok
}

// withIn lets the toy tell whole values with and without case apart.
func withIn(rec query.Record) query.Record {
	out := query.Record{"in": rec["type"]}
	for k, v := range rec {
		out[k] = v
	}
	return out
}

// understandFilters is the provider with parameters only. Filters of one name are alternatives if they are types, and
// all have to hold otherwise.
func understandFilters(params map[string][]string, rec query.Record) bool {
	ok := true
	if title := params["t"]; title != nil {
		ok = slices.ContainsFunc(rec["title"], func(v string) bool {
			return slices.ContainsFunc(strings.Fields(title[0]), func(word string) bool { return spoken(v, word, false) })
		})
	}
	if params["filter"] == nil {
		return ok
	}
	var types []string
	for _, f := range strings.Split(params["filter"][0], ",") {
		name, v, _ := strings.Cut(f, ":")
		switch name {
		case "type":
			types = append(types, v)
		case "not-type":
			ok = ok && !slices.Contains(rec["type"], v)
		case "abstract":
			ok = ok && (v == "yes") == (len(rec["abstract"]) > 0)
		case "year":
			from, to, _ := strings.Cut(v, "-")
			ok = ok && slices.ContainsFunc(rec["year"], func(y string) bool { return inside(y, from, to) })
		case "since":
			ok = ok && slices.ContainsFunc(rec["indexed"], func(d string) bool { return d >= v })
		default:
			panic("the request has a filter that was never rendered: " + f) // which fails the property
		}
	}
	return ok && (types == nil || slices.ContainsFunc(types, func(v string) bool { return slices.Contains(rec["type"], v) }))
}
