package query

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// Limits of a query. They are far above what a person or a program would ask, and keep a hostile one cheap.
const (
	maxBytes  = 256 << 10 // of the text form
	maxStored = 4 << 20   // of the JSON form, which is wordier
	maxDepth  = 40        // of nested AND, OR, NOT
	maxNodes  = 5000
	maxValues = 2000    // of one IN
	maxText   = 4 << 10 // of one value
)

// ParseJSON reads a query from its stored form, strictly: what a newer program may have meant by an unknown key is not
// guessed.
func ParseJSON(data []byte) (Node, error) {
	var n Node
	if err := json.Unmarshal(data, &n); err != nil {
		return Node{}, fmt.Errorf("read query: %w", err)
	}
	if err := n.Validate(); err != nil {
		return Node{}, err
	}
	return n, nil
}

// UnmarshalJSON is strict and validates, so that no decoder lets an odd tree in. It also reads a query with its window.
func (n *Node) UnmarshalJSON(data []byte) error {
	if err := checkShape(data); err != nil {
		return err
	}
	type bare Node // without this method; the arguments keep it
	var b bare
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&b); err != nil {
		return err
	}
	if err := Node(b).validate(boundRoom); err != nil {
		return err
	}
	*n = Node(b)
	return nil
}

// checkShape refuses what encoding/json would let pass: too much, too deep, null, a key twice, or a key in another case.
func checkShape(data []byte) error {
	if len(data) > maxStored {
		return fmt.Errorf("a query of %d bytes is over the limit of %d", len(data), maxStored)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	for {
		tok, err := dec.Token()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := checkValue(dec, tok, 0); err != nil {
			return err
		}
	}
}

var keys = map[string]bool{"op": true, "value": true, "args": true, "field": true, "kind": true, "text": true, "match": true,
	"caseSensitive": true, "values": true, "range": true, "from": true, "to": true, "number": true}

func checkValue(dec *json.Decoder, tok json.Token, depth int) error {
	if depth > 2*(maxDepth+boundRoom)+2 { // every level of the tree is an object in an array
		return fmt.Errorf("the query is nested deeper than %d levels", maxDepth)
	}
	if tok == nil {
		return fmt.Errorf("null is not a part of a query")
	}
	delim, ok := tok.(json.Delim)
	if !ok {
		return nil
	}
	seen := map[string]bool{}
	for dec.More() {
		tok, err := dec.Token()
		if err != nil {
			return err
		}
		if delim == '{' {
			key, _ := tok.(string)
			if !keys[key] || seen[key] {
				return fmt.Errorf("the key %q is unknown or given twice", key)
			}
			seen[key] = true
			if tok, err = dec.Token(); err != nil {
				return err
			}
		}
		if err := checkValue(dec, tok, depth+1); err != nil {
			return err
		}
	}
	_, err := dec.Token() // the closing bracket
	return err
}
