package source

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"patra"
)

// linesSplitter reads one JSON value a line.
type linesSplitter struct{}

func (linesSplitter) split(body []byte) (parts, error) {
	var items [][]byte
	for line := range bytes.Lines(body) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		if err := wholeJSON(line); err != nil {
			return parts{}, err
		}
		items = append(items, line)
	}
	return parts{items: items, around: map[string]any{}}, nil
}

// csvSplitter reads a table with a header line. An item is the row as a JSON object of texts.
type csvSplitter struct{ comma rune }

func (c csvSplitter) split(body []byte) (parts, error) {
	if strings.HasPrefix(strings.TrimSpace(string(body[:min(len(body), 64)])), "<") {
		return parts{}, webPage()
	}
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))))
	if c.comma != 0 {
		r.Comma = c.comma
	}
	header, err := r.Read()
	if errors.Is(err, io.EOF) {
		return parts{}, &patra.Fault{Level: patra.LevelRetry, Code: patra.CodeBadBody, Text: "the body is empty"}
	}
	var items [][]byte
	for err == nil {
		var row []string
		if row, err = r.Read(); err == nil {
			object := make(map[string]string, len(row))
			for i, cell := range row {
				object[header[i]] = cell
			}
			var item []byte
			if item, err = json.Marshal(object); err == nil {
				items = append(items, item)
			}
		}
	}
	if !errors.Is(err, io.EOF) {
		return parts{}, notWhole(err)
	}
	return parts{items: items, around: map[string]any{}}, nil
}
