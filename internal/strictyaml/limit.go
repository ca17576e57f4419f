package strictyaml

import (
	"fmt"

	"github.com/goccy/go-yaml/token"

	"patra"
)

// The limits keep a hostile or mistaken file from eating time and memory. Files that people write stay far below.
const (
	maxBytes = 1 << 20
	// The parser recurses once for each key of a mapping and copies the rest of it each time, so time grows with the
	// square of the tokens: this many take about a second at worst.
	maxTokens = 50_000
	// The parser recurses for each level and stores the full path at each node: a megabyte of "[" would take
	// terabytes, and a stack overflow cannot be recovered from.
	maxDepth = 50
	// A long key is repeated in the path of everything below it.
	maxKey = 256
)

// overLimit looks at the tokens before the parser does.
func overLimit(tokens token.Tokens) *patra.Problem {
	if len(tokens) > maxTokens {
		return tooLarge(tokens[maxTokens], fmt.Sprintf("the file has more than %d parts", maxTokens))
	}
	var d depth
	for i, t := range tokens {
		if d.add(t); d.level() > maxDepth {
			return tooLarge(t, fmt.Sprintf("the file is nested more than %d levels deep", maxDepth))
		}
		if t.Type == token.MappingValueType && i > 0 && len(tokens[i-1].Value) > maxKey {
			return tooLarge(tokens[i-1], fmt.Sprintf("a key has more than %d bytes", maxKey))
		}
	}
	return nil
}

func tooLarge(t *token.Token, text string) *patra.Problem {
	line, col := position(t)
	return &patra.Problem{Code: CodeTooLarge, Line: line, Col: col, Text: text}
}

// depth measures nesting from tokens alone: brackets in flow style, growing columns in block style. It may count a
// level too many, never one too few.
type depth struct {
	columns []int // columns at which the open block levels start
	flow    int
	line    int  // line of the token before
	dash    bool // whether the token before was a "-"
}

func (d *depth) level() int { return len(d.columns) + d.flow }

func (d *depth) add(t *token.Token) {
	switch t.Type {
	case token.CommentType:
		return
	case token.SequenceStartType, token.MappingStartType:
		d.flow++
	case token.SequenceEndType, token.MappingEndType:
		d.flow = max(d.flow-1, 0)
	}
	starts := t.Position.Line != d.line || d.dash || t.Type == token.SequenceEntryType
	if starts && d.flow == 0 {
		for len(d.columns) > 0 && d.columns[len(d.columns)-1] >= t.Position.Column {
			d.columns = d.columns[:len(d.columns)-1]
		}
		d.columns = append(d.columns, t.Position.Column)
	}
	d.line, d.dash = t.Position.Line, t.Type == token.SequenceEntryType
}
