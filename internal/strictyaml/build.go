package strictyaml

import (
	"fmt"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"patra"
)

// builder turns the library's syntax tree into nodes and notes what is wrong whatever the target.
type builder struct {
	doc *Document
}

// build makes the document of the one document in tree.
func build(file string, tree *ast.File) (*Document, error) {
	b := builder{doc: &Document{file: file}}
	if problem := b.single(tree.Docs); problem != nil {
		problem.File = file
		return nil, patra.Problems{*problem}
	}
	if len(tree.Docs) == 1 && tree.Docs[0].Body != nil {
		root := b.node("", tree.Docs[0].Body)
		if root.kind != null {
			b.doc.root = root
		}
	}
	return b.doc, nil
}

// single refuses directives, which would change how the rest is to be read, and more than one document.
func (b *builder) single(docs []*ast.DocumentNode) *patra.Problem {
	for _, d := range docs {
		if found, ok := d.Body.(*ast.DirectiveNode); ok {
			line, col := position(found.GetToken())
			return &patra.Problem{
				Code: CodeSyntax, Line: line, Col: col,
				Text: "directives such as %YAML are not used here", Hint: "remove this line",
			}
		}
	}
	if len(docs) < 2 {
		return nil
	}
	second := docs[1].Start
	if second == nil && docs[1].Body != nil {
		second = docs[1].Body.GetToken()
	}
	line, col := position(second)
	return &patra.Problem{
		Code: CodeMultipleDocuments, Line: line, Col: col,
		Text: "a second document starts here, and one file holds one document", Hint: `remove the "---"`,
	}
}

// flaw notes a problem at a token.
func (b *builder) flaw(path string, t *token.Token, code, text, hint string) {
	line, col := position(t)
	b.doc.flaws = append(b.doc.flaws, patra.Problem{
		Code: code, File: b.doc.file, Line: line, Col: col, Path: path, Text: text, Hint: hint,
	})
}

// node builds the value at path. An anchored or tagged value is read all the same, so that one mistake gives one
// problem.
func (b *builder) node(path string, raw ast.Node) *node {
	switch x := raw.(type) {
	case *ast.AnchorNode:
		b.anchor(path, x)
		return b.inner(path, x.Value, x)
	case *ast.AliasNode:
		b.alias(path, x)
		return b.inner(path, nil, x)
	case *ast.TagNode:
		b.tag(path, x)
		return b.inner(path, x.Value, x)
	case *ast.MappingNode:
		return b.mapping(path, x, x.Values)
	case *ast.MappingValueNode:
		return b.mapping(path, x, []*ast.MappingValueNode{x})
	case *ast.SequenceNode:
		n := newNode(list, x)
		for i, v := range x.Values {
			n.items = append(n.items, b.node(Index(path, i), v))
		}
		return n
	case nil:
		return &node{kind: null}
	case *ast.NullNode:
		return newNode(null, x)
	case *ast.LiteralNode:
		n := newNode(scalar, x)
		n.quoted = true
		if x.Value != nil {
			n.text = x.Value.Value
		}
		return n
	case *ast.StringNode:
		n := newNode(scalar, x)
		n.text, n.quoted = x.Value, x.Token.Type != token.StringType
		return n
	case ast.ScalarNode:
		// Numbers and the like keep the text as it was written: 1.10 in a text field is not 1.1.
		n := newNode(scalar, x)
		n.text = x.GetToken().Value
		return n
	}
	b.flaw(path, raw.GetToken(), CodeSyntax, "this cannot be a value", "")
	return newNode(unread, raw)
}

// inner builds what stands behind an anchor or a tag, or nothing more to be said when nothing does.
func (b *builder) inner(path string, value, outer ast.Node) *node {
	if value == nil {
		return newNode(unread, outer)
	}
	return b.node(path, value)
}

func (b *builder) mapping(path string, raw ast.Node, values []*ast.MappingValueNode) *node {
	n := newNode(mapping, raw)
	first := map[string]int{}
	for i, v := range values {
		e, ok := b.entry(path, v)
		if i == 0 && raw.GetToken().Type != token.MappingStartType {
			// The library places a block mapping at its first colon.
			n.line, n.col = e.line, e.col
		}
		if !ok {
			continue
		}
		if line, twice := first[e.key]; twice {
			text := fmt.Sprintf("the key %s is given twice, first on line %d", quote(e.key), line)
			b.flaw(Join(path, e.key), v.Key.GetToken(), CodeDuplicateKey, text, "keep one of the two")
			continue
		}
		first[e.key] = e.line
		n.entries = append(n.entries, e)
	}
	return n
}

// entry builds one key with its value. Below a bad key nothing is read: a merge key and the alias after it are one
// mistake.
func (b *builder) entry(path string, v *ast.MappingValueNode) (entry, bool) {
	key, ok := b.key(path, v.Key)
	e := entry{key: key}
	e.line, e.col = position(v.Key.GetToken())
	if ok {
		e.value = b.node(Join(path, key), v.Value)
	}
	return e, ok
}

// key gives the text of a key; false says that the key is a problem already.
func (b *builder) key(path string, raw ast.MapKeyNode) (string, bool) {
	switch x := raw.(type) {
	case *ast.StringNode:
		return x.Value, true
	case *ast.MergeKeyNode:
		b.flaw(path, x.GetToken(), CodeAlias, `the merge key "<<" is not used here`, "write the keys out")
	case *ast.AnchorNode:
		b.anchor(path, x)
	case *ast.AliasNode:
		b.alias(path, x)
	case *ast.TagNode:
		b.tag(path, x)
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NullNode, *ast.InfinityNode, *ast.NanNode:
		return raw.GetToken().Value, true
	default:
		b.flaw(path, raw.GetToken(), CodeSyntax, "a key must be a single word or text", "write it as `key: value`")
	}
	return "", false
}

func (b *builder) anchor(path string, x *ast.AnchorNode) {
	text := fmt.Sprintf("the anchor %s is not used here", quote("&"+name(x.Name)))
	b.flaw(path, x.GetToken(), CodeAlias, text, "remove it, and write the value out where it is needed")
}

func (b *builder) alias(path string, x *ast.AliasNode) {
	text := fmt.Sprintf("the alias %s is not used here", quote("*"+name(x.Value)))
	b.flaw(path, x.GetToken(), CodeAlias, text, "write the value out")
}

func (b *builder) tag(path string, x *ast.TagNode) {
	text := fmt.Sprintf("the tag %s is not used here", quote(x.Start.Value))
	b.flaw(path, x.GetToken(), CodeTag, text, "remove it, and put text in quotes")
}

func name(n ast.Node) string {
	if n == nil || n.GetToken() == nil {
		return ""
	}
	return n.GetToken().Value
}

func newNode(k kind, raw ast.Node) *node {
	n := &node{kind: k, raw: raw}
	n.line, n.col = position(raw.GetToken())
	return n
}
