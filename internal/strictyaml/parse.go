package strictyaml

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"patra"
)

// Parse reads data as one YAML document. It fails where there is no document to speak of (SYNTAX, TOO_LARGE,
// MULTIPLE_DOCUMENTS); what is wrong inside a readable document is reported by Document.Decode, with all the rest.
func Parse(file string, data []byte) (doc *Document, err error) {
	// The parser is someone else's code reading untrusted text, and its tree is not always what its types promise:
	// should either panic, that is one unreadable file and not the end of the process.
	defer func() {
		if r := recover(); r != nil {
			doc, err = nil, patra.Problems{{Code: CodeSyntax, File: file, Text: "the file cannot be read as YAML"}}
		}
	}()
	if len(data) > maxBytes {
		text := fmt.Sprintf("the file has %d bytes, and at most %d are read", len(data), maxBytes)
		return nil, patra.Problems{{Code: CodeTooLarge, File: file, Text: text}}
	}
	text, problem := clean(data)
	if problem == nil {
		var tree *ast.File
		if tree, problem = parse(text); problem == nil {
			return build(file, tree)
		}
	}
	problem.File = file
	return nil, patra.Problems{*problem}
}

// clean drops a byte order mark, makes every line end in \n, and refuses what YAML does not allow as a character. The
// parser below miscounts lines and folds wrongly when quoted text spans lines that end in \r\n.
func clean(data []byte) (string, *patra.Problem) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	data = bytes.ReplaceAll(data, []byte("\r"), []byte("\n"))
	line, col := 1, 1
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			return "", &patra.Problem{Code: CodeSyntax, Line: line, Col: col, Text: "the file is not UTF-8 text"}
		case r == '\n':
			line, col = line+1, 0
		case r < ' ' && r != '\t' || r == 0x7f:
			text := fmt.Sprintf("the control character %U is not allowed", r)
			return "", &patra.Problem{Code: CodeSyntax, Line: line, Col: col, Text: text}
		}
		col++
		i += size
	}
	return string(data), nil
}

// parse turns text into the syntax tree, within the limits.
func parse(text string) (*ast.File, *patra.Problem) {
	tokens := lexer.Tokenize(text)
	if problem := overLimit(tokens); problem != nil {
		return nil, problem
	}
	tree, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		text, line, col := located(err)
		return nil, &patra.Problem{Code: CodeSyntax, Line: line, Col: col, Text: text}
	}
	return tree, nil
}

// located takes message and place out of an error of the YAML library, whose own text draws a multi-line excerpt.
func located(err error) (text string, line, col int) {
	found, ok := errors.AsType[yaml.Error](err)
	if !ok {
		return err.Error(), 0, 0
	}
	line, col = position(found.GetToken())
	return found.GetMessage(), line, col
}

// position is where a token starts; columns of block text can come out as 0, which means nothing to a person.
func position(t *token.Token) (line, col int) {
	if t == nil || t.Position == nil {
		return 0, 0
	}
	return t.Position.Line, max(t.Position.Column, 1)
}
