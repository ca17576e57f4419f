package sim

import (
	"bytes"
	"encoding/binary"
	"slices"
	"unicode/utf16"
)

// damage does to a page what repositories do to theirs. All records of it can be had, as they are: what is damaged
// stands around them, or is an element more. JSON gets a byte order mark.
func damage(body []byte, number uint64) []byte {
	if !isXML(body) {
		return append([]byte("\ufeff"), body...)
	}
	const around = "AT&T\v caf\xe9&nbsp;&mdash;&#x1F; p < 0.05 ]]>"
	switch number % 4 {
	case 0:
		return slices.Insert(slices.Clone(body), insideRoot(body), []byte(around)...)
	case 1:
		with := slices.Insert(slices.Clone(body), insideRoot(body), []byte("<!-- as of -- today --></nothing>")...)
		return append(append([]byte("Notice: undefined index\n"), with...), 0)
	case 2:
		return inUTF16(body)
	}
	for _, item := range []string{"<record>", "<PubmedArticle>"} {
		if at := bytes.Index(body, []byte(item)); at >= 0 {
			broken := item + "<header><b></header></i>\v</" + item[1:]
			return slices.Insert(slices.Clone(body), at, []byte(broken)...)
		}
	}
	return slices.Insert(slices.Clone(body), insideRoot(body), []byte(around)...)
}

// ruin is a page of which nothing can be read.
func ruin(body []byte) []byte {
	at := len(body) / 2
	if isXML(body) { // a byte that no text may have would be repaired elsewhere
		at = bytes.LastIndexByte(body, '>')
	}
	return slices.Insert(slices.Clone(body), at, 0)
}

func isXML(body []byte) bool { return len(body) > 0 && body[0] == '<' }

// insideRoot is the place behind the tag of the root.
func insideRoot(body []byte) int {
	at := 0
	for {
		at += bytes.IndexByte(body[at:], '<')
		if body[at+1] != '?' && body[at+1] != '!' {
			return at + bytes.IndexByte(body[at:], '>') + 1
		}
		at++
	}
}

func inUTF16(body []byte) []byte {
	wide := []byte{0xFF, 0xFE}
	for _, unit := range utf16.Encode([]rune(string(body))) {
		wide = binary.LittleEndian.AppendUint16(wide, unit)
	}
	return wide
}
