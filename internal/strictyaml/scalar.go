package strictyaml

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"
)

var (
	// Numbers with a leading zero are left out: they are octal to some readers and decimal to others.
	wholePattern = regexp.MustCompile(`^[-+]?(0|[1-9][0-9_]*|0x[0-9a-fA-F_]+|0o[0-7_]+|0b[01_]+)$`)
	floatPattern = regexp.MustCompile(`^[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?$`)

	durationType = reflect.TypeFor[time.Duration]()
)

// scalar fills a bool, a number or a text.
func (d *decoder) scalar(p place, n *node, dst reflect.Value) {
	want, ok := wanted(dst)
	switch {
	case !ok:
		d.unsupported(p, dst)
	case n.kind != scalar:
		d.misshapen(p, n, want)
	case dst.Type() == durationType:
		d.duration(p, n, dst)
	case dst.Kind() == reflect.String:
		// Any scalar is text as it was written, so that 1.10, 007 and yes stay what the person sees.
		dst.SetString(n.text)
	case n.quoted:
		d.wrong(p, n, want, "remove the quotes")
	case dst.Kind() == reflect.Bool:
		d.bool(p, n, dst)
	case dst.CanFloat():
		d.float(p, n, dst)
	default:
		d.whole(p, n, dst)
	}
}

// wanted names what a scalar field takes; false says that this is no scalar field.
func wanted(dst reflect.Value) (string, bool) {
	switch {
	case dst.Type() == durationType:
		return "a duration", true
	case dst.Kind() == reflect.String:
		return "text", true
	case dst.Kind() == reflect.Bool:
		return "true or false", true
	case dst.CanInt(), dst.CanUint() && dst.Kind() != reflect.Uintptr:
		return "a whole number", true
	case dst.CanFloat():
		return "a number", true
	}
	return "", false
}

// duration guards against a bare time.Duration, which as a number would count nanoseconds.
func (d *decoder) duration(p place, n *node, dst reflect.Value) {
	v, err := time.ParseDuration(n.text)
	if err != nil {
		d.wrong(p, n, "a duration", "write a number with its unit, as in 90s or 10m")
		return
	}
	dst.SetInt(int64(v))
}

func (d *decoder) bool(p place, n *node, dst reflect.Value) {
	v, ok := n.bool()
	if !ok {
		hint := ""
		switch strings.ToLower(n.text) {
		case "yes", "y", "on":
			hint = "write true"
		case "no", "n", "off":
			hint = "write false"
		}
		d.wrong(p, n, "true or false", hint)
		return
	}
	dst.SetBool(v)
}

func (d *decoder) whole(p place, n *node, dst reflect.Value) {
	if !wholePattern.MatchString(n.text) {
		hint := ""
		if trimmed := strings.TrimLeft(n.text, "0"); trimmed != n.text && wholePattern.MatchString(trimmed) {
			hint = "leave out the leading zero"
		}
		d.wrong(p, n, "a whole number", hint)
		return
	}
	bits := dst.Type().Bits()
	if dst.CanInt() {
		v, err := strconv.ParseInt(n.text, 0, bits)
		if err != nil {
			low := int64(math.MinInt64) >> (64 - bits)
			d.number(p, n, err, fmt.Sprintf("a whole number from %d to %d", low, -(low+1)))
			return
		}
		dst.SetInt(v)
		return
	}
	v, err := strconv.ParseUint(strings.TrimPrefix(n.text, "+"), 0, bits)
	if err != nil {
		d.number(p, n, err, fmt.Sprintf("a whole number from 0 to %d", uint64(math.MaxUint64)>>(64-bits)))
		return
	}
	dst.SetUint(v)
}

func (d *decoder) float(p place, n *node, dst reflect.Value) {
	if !floatPattern.MatchString(n.text) {
		d.wrong(p, n, "a number", "")
		return
	}
	v, err := strconv.ParseFloat(n.text, dst.Type().Bits())
	if err != nil {
		d.number(p, n, err, "a number")
		return
	}
	dst.SetFloat(v)
}

// number tells a number that is too large from one that is badly written, such as 1__000.
func (d *decoder) number(p place, n *node, err error, want string) {
	if errors.Is(err, strconv.ErrRange) || strings.HasPrefix(n.text, "-") {
		d.wrong(p, n, want, "")
		return
	}
	d.wrong(p, n, want, "write plain digits")
}

func (n *node) bool() (value, ok bool) {
	switch n.text {
	case "true", "True", "TRUE":
		return true, true
	case "false", "False", "FALSE":
		return false, true
	}
	return false, false
}

// natural is the value for a field of type any: map[string]any, []any, string, bool, int64 (uint64 where that is too
// small), float64 or nil.
func (n *node) natural() any {
	switch n.kind {
	case mapping:
		m := make(map[string]any, len(n.entries))
		for _, e := range n.entries {
			m[e.key] = e.value.natural()
		}
		return m
	case list:
		items := make([]any, len(n.items))
		for i, item := range n.items {
			items[i] = item.natural()
		}
		return items
	case scalar:
		return n.plain()
	}
	return nil
}

func (n *node) plain() any {
	if n.quoted {
		return n.text
	}
	if v, ok := n.bool(); ok {
		return v
	}
	if wholePattern.MatchString(n.text) {
		if v, err := strconv.ParseInt(n.text, 0, 64); err == nil {
			return v
		}
		if v, err := strconv.ParseUint(n.text, 0, 64); err == nil {
			return v
		}
	}
	if floatPattern.MatchString(n.text) && !leadingZero(n.text) {
		if v, err := strconv.ParseFloat(n.text, 64); err == nil {
			return v
		}
	}
	return n.text
}

// leadingZero finds 007 and -01.5, which are codes more often than numbers.
func leadingZero(text string) bool {
	text = strings.TrimLeft(text, "+-")
	return len(text) > 1 && text[0] == '0' && text[1] >= '0' && text[1] <= '9'
}
