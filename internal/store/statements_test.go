package store

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/diff"
)

// statementsGolden has the names of all statements, one a line. Where a name is made of what is known only when the
// program runs, such as the name of a table, a * stands for that.
var statementsGolden = filepath.Join("testdata", "statements.golden")

// TestTheNamesOfStatementsStay: metrics and slow-query logs are kept by these names, so none changes when the program
// is arranged in another way. UPDATE=1 writes the file anew.
func TestTheNamesOfStatementsStay(t *testing.T) {
	names := statementNames(t, ".")
	got := []byte(strings.Join(names, "\n") + "\n")
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(statementsGolden, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(statementsGolden)
	if err != nil {
		t.Fatalf("%v. Write it with UPDATE=1 go test -run %s ./internal/store, and read it", err, t.Name())
	}
	if !bytes.Equal(got, want) {
		t.Errorf("statements have other names than before. If that is meant, write them anew with "+
			"UPDATE=1 go test -run %s ./internal/store\n%s", t.Name(), diff.Diff("statements.golden", want, "now", got))
	}
}

// namedTypes are the types whose literals begin with the name of a statement, in lower case and without their package.
var namedTypes = []string{"stmt", "listing"}

// namers finds the names of statements: those that stand in literals, and those that a function is given for a literal.
type namers struct {
	names map[string]bool
	funcs map[string][]namer
}

// namer is a parameter of a function that becomes the name of a statement. form is that name, with a * for the
// parameter.
type namer struct {
	param int
	form  string
}

// statementNames reads the program below a folder, tests and what is only for tests left out.
func statementNames(t *testing.T, root string) []string {
	t.Helper()
	var files []*ast.File
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || strings.HasSuffix(d.Name(), "test")):
			return fs.SkipDir
		case d.IsDir() || path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, name), nil, parser.SkipObjectResolution)
		files = append(files, f)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	// A commit is timed without a literal, by took.
	n := namers{names: map[string]bool{}, funcs: map[string][]namer{"observeDuration": {{0, "*"}}}}
	for again := true; again; { // until no function is found that hands a name on to another
		again = false
		for _, f := range files {
			for _, decl := range f.Decls {
				again = n.read(decl) || again
			}
		}
	}
	return slices.Sorted(maps.Keys(n.names))
}

// read takes the names of one declaration, and tells whether it was found to be a namer just now.
func (n *namers) read(decl ast.Decl) (found bool) {
	var params []string
	own := ""
	if f, ok := decl.(*ast.FuncDecl); ok {
		own = f.Name.Name
		for _, field := range f.Type.Params.List {
			for _, name := range field.Names {
				params = append(params, name.Name)
			}
		}
	}
	take := func(expr ast.Expr, form string) {
		text, given := shape(expr, params)
		text = strings.Replace(form, "*", text, 1)
		if is := (namer{given, text}); given >= 0 && !slices.Contains(n.funcs[own], is) {
			n.funcs[own], found = append(n.funcs[own], is), true
		}
		if text != "*" { // else the name is in another variable, and was found where that is made
			n.names[text] = true
		}
	}
	ast.Inspect(decl, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.CompositeLit:
			for _, lit := range literals(node) {
				if expr := nameIn(lit); expr != nil {
					take(expr, "*")
				}
			}
		case *ast.CallExpr:
			for _, is := range n.funcs[typeName(node.Fun)] {
				if is.param < len(node.Args) {
					take(node.Args[is.param], is.form)
				}
			}
		}
		return true
	})
	return found
}

// literals are the literals of statements that one is, or has as elements that do not repeat their type.
func literals(lit *ast.CompositeLit) (all []*ast.CompositeLit) {
	var elem ast.Expr
	switch is := lit.Type.(type) {
	case *ast.ArrayType:
		elem = is.Elt
	case *ast.MapType:
		elem = is.Value
	default:
		if slices.Contains(namedTypes, strings.ToLower(typeName(lit.Type))) {
			all = append(all, lit)
		}
		return all
	}
	if !slices.Contains(namedTypes, strings.ToLower(typeName(elem))) {
		return nil
	}
	for _, e := range lit.Elts {
		if pair, ok := e.(*ast.KeyValueExpr); ok {
			e = pair.Value
		}
		if inner, ok := e.(*ast.CompositeLit); ok && inner.Type == nil {
			all = append(all, inner)
		}
	}
	return all
}

// nameIn is what a literal says its name is; nil if it says nothing.
func nameIn(lit *ast.CompositeLit) ast.Expr {
	for i, e := range lit.Elts {
		pair, ok := e.(*ast.KeyValueExpr)
		if !ok && i == 0 {
			return e
		}
		if ok && strings.EqualFold(typeName(pair.Key), "name") {
			return pair.Value
		}
	}
	return nil
}

// typeName is the last word of a type or a function, without its package and without what it is a type or function of.
func typeName(expr ast.Expr) string {
	switch e := expr.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.IndexExpr:
		return typeName(e.X)
	case *ast.IndexListExpr:
		return typeName(e.X)
	case *ast.StarExpr:
		return typeName(e.X)
	}
	return ""
}

// shape is a name as it is written, with a * for each part that is no literal, and which of some parameters it is made
// of; -1 is none.
func shape(expr ast.Expr, params []string) (text string, given int) {
	given = -1
	switch e := expr.(type) {
	case *ast.BasicLit:
		if unquoted, err := strconv.Unquote(e.Value); err == nil {
			return unquoted, given
		}
	case *ast.BinaryExpr:
		left, inLeft := shape(e.X, params)
		right, inRight := shape(e.Y, params)
		return left + right, max(inLeft, inRight)
	case *ast.Ident:
		given = slices.Index(params, e.Name)
	}
	return "*", given
}
