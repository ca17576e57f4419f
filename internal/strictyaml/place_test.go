package strictyaml_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"patra/internal/strictyaml"
)

// writer writes random YAML in every style and remembers where it put what.
type writer struct {
	t         *rapid.T
	b         strings.Builder
	line, col int
	nl        string
	want      map[string][2]int
}

func (w *writer) put(s string) {
	for _, r := range s {
		if r == '\n' {
			w.b.WriteString(w.nl)
			w.line, w.col = w.line+1, 1
			continue
		}
		w.b.WriteRune(r)
		w.col++
	}
}

func (w *writer) pick(name string, of ...string) string { return rapid.SampledFrom(of).Draw(w.t, name) }

func (w *writer) note(path string) { w.want[path] = [2]int{w.line, w.col} }

// filler is what may stand between two lines.
func (w *writer) filler() { w.put(w.pick("filler", "", "", "", "\n", "# note: [x\n", "\n  # é\n\n")) }

func (w *writer) key(i int) (written, key string) {
	key = fmt.Sprintf("k%d", i)
	switch w.pick("key", "plain", "plain", "single", "double", "accent", "spaced") {
	case "single":
		return "'" + key + "'", key
	case "double":
		return `"` + key + `"`, key
	case "accent":
		return "é" + key, "é" + key
	case "spaced":
		return "a " + key, "a " + key
	}
	return key, key
}

// scalar writes a value on the current line, in block style perhaps over several lines below.
func (w *writer) scalar(path, indent string, flow bool) {
	w.note(path)
	in := "\n" + indent + "  "
	styles := []string{"7", "word", "two words", "'single'", `"dou\"ble"`, "日本", "'it''s'", `"a` + in + `b"`, "'a" + in + "b'"}
	if !flow {
		styles = append(styles, "|"+in+"one"+in+"two", ">-"+in+"one"+"\n"+in+"two", "plain"+in+"more", "|2"+in+"x", "word # note")
	}
	w.put(w.pick("scalar", styles...))
}

func (w *writer) flow(path, indent string, depth int) {
	gap := func() { w.put(w.pick("gap", "", " ", "\n"+indent+"  ")) }
	switch w.pick("flow", "scalar", "mapping", "list") {
	case "mapping":
		if depth == 0 {
			w.scalar(path, indent, true)
			return
		}
		w.put("{")
		for i := range rapid.IntRange(0, 3).Draw(w.t, "n") {
			gap()
			written, key := w.key(i)
			child := strictyaml.Join(path, key)
			w.note(child)
			w.put(written + ": ")
			w.flow(child, indent, depth-1)
			w.put(",")
		}
		w.put("}")
	case "list":
		if depth == 0 {
			w.scalar(path, indent, true)
			return
		}
		w.put("[")
		for i := range rapid.IntRange(0, 3).Draw(w.t, "n") {
			gap()
			child := strictyaml.Index(path, i)
			w.note(child)
			w.flow(child, indent, depth-1)
			w.put(",")
		}
		w.put("]")
	default:
		w.scalar(path, indent, true)
	}
}

// mapping writes block keys; the first may stand on a line that has begun.
func (w *writer) mapping(path, indent string, depth int, begun bool) {
	for i := range rapid.IntRange(1, 3).Draw(w.t, "n") {
		if i > 0 || !begun {
			w.filler()
			w.put(indent)
		}
		written, key := w.key(i)
		child := strictyaml.Join(path, key)
		w.note(child)
		w.put(written + ":")
		switch style := w.pick("value", "scalar", "below", "flow", "mapping", "list", "nothing"); {
		case style == "nothing":
			w.put("\n")
		case style == "scalar" || depth == 0:
			w.put(w.pick("gap", " ", "   "))
			w.scalar(child, indent, false)
			w.put("\n")
		case style == "below":
			w.put("\n" + indent + "  ")
			w.scalar(child, indent, false)
			w.put("\n")
		case style == "flow":
			w.put(" ")
			w.flow(child, indent, depth)
			w.put("\n")
		case style == "mapping":
			w.put("\n")
			w.mapping(child, indent+"  ", depth-1, false)
		case style == "list":
			w.put("\n")
			w.list(child, indent+w.pick("indent", "", "  "), depth-1)
		}
	}
}

func (w *writer) list(path, indent string, depth int) {
	for i := range rapid.IntRange(1, 3).Draw(w.t, "n") {
		w.filler()
		w.put(indent + "-")
		child := strictyaml.Index(path, i)
		switch style := w.pick("item", "scalar", "flow", "mapping"); {
		case style == "mapping" && depth > 0:
			w.put(" ")
			w.note(child)
			w.mapping(child, indent+"  ", depth-1, true)
		case style == "flow":
			w.put(" ")
			w.note(child)
			w.flow(child, indent, depth)
			w.put("\n")
		default:
			w.put(" ")
			w.scalar(child, indent, false)
			w.put("\n")
		}
	}
}

// Every key and every value is found at the line and column where it was written, in whatever style.
func TestPlacesAreWhereTheyWereWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &writer{t: t, line: 1, col: 1, want: map[string][2]int{}}
		w.nl = w.pick("newline", "\n", "\n", "\r\n")
		w.filler()
		w.mapping("", "", 3, false)
		doc, err := strictyaml.Parse("s.yaml", []byte(w.b.String()))
		if err != nil {
			t.Fatalf("%v\n%s", err, w.b.String())
		}
		for path, want := range w.want {
			if line, col := doc.At(path); line != want[0] || col != want[1] {
				t.Fatalf("%s: got %d:%d, want %d:%d in\n%s", path, line, col, want[0], want[1], w.b.String())
			}
		}
	})
}
