package rawxml

import (
	"bytes"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/htmlindex"
)

// undecoded stands in a decoded text for what is no character in its charset: a byte that UTF-8 never has, so that
// Repair finds it as it finds any other that is no text.
const undecoded = "\xff"

// mostDeclaration is how far from the beginning of a text its declaration ends.
const mostDeclaration = 1024

// Decode is a text in UTF-8, whatever charset its byte order mark names or, without one, its XML declaration. One that
// is in UTF-8 is returned as it is, and so is one that says nothing. The names are those of the WHATWG, by which
// ISO-8859-1 is windows-1252.
func Decode(body []byte) ([]byte, error) {
	switch {
	case has(body, 0, bom):
		return body, nil
	case has(body, 0, "\xff\xfe"):
		return decode16(body[2:], 1), nil
	case has(body, 0, "\xfe\xff"):
		return decode16(body[2:], 0), nil
	case has(body, 0, "<\x00?\x00"):
		return decode16(body, 1), nil
	case has(body, 0, "\x00<\x00?"):
		return decode16(body, 0), nil
	}
	label := declaredCharset(body)
	if label == "" || strings.EqualFold(label, "utf-8") {
		return body, nil
	}
	charset, err := htmlindex.Get(label)
	if err != nil {
		return nil, &Error{Reason: UnknownCharset, Name: label[:min(len(label), mostNamed)]}
	}
	switch name, _ := htmlindex.Name(charset); name {
	case "utf-8", "utf-16le", "utf-16be": // it could be read so far, so it is no UTF-16
		return body, nil
	case "replacement", "x-user-defined":
		return nil, &Error{Reason: UnknownCharset, Name: label[:min(len(label), mostNamed)]}
	}
	text, err := charset.NewDecoder().Bytes(body)
	if err != nil {
		return nil, &Error{Reason: UnknownCharset, Name: label[:min(len(label), mostNamed)]}
	}
	return bytes.ReplaceAll(text, []byte(string(utf8.RuneError)), []byte(undecoded)), nil
}

// decode16 is a text of pairs of bytes, of which the one at high is the higher. A byte that is left over is no
// character.
func decode16(body []byte, high int) []byte {
	text := make([]byte, 0, len(body)/2+len(body)/8)
	for ; len(body) >= 2; body = body[2:] {
		r := rune(body[high])<<8 | rune(body[1-high])
		if utf16.IsSurrogate(r) {
			pair := rune(utf8.RuneError)
			if len(body) >= 4 {
				pair = utf16.DecodeRune(r, rune(body[2+high])<<8|rune(body[3-high]))
			}
			if pair == utf8.RuneError {
				text = append(text, undecoded...)
				continue
			}
			r, body = pair, body[2:]
		}
		text = utf8.AppendRune(text, r)
	}
	if len(body) > 0 {
		text = append(text, undecoded...)
	}
	return text
}

// declaredCharset is the charset that an XML declaration names; empty if there is none.
func declaredCharset(body []byte) string {
	i := spaces(body, 0)
	if !has(body, i, "<?xml") {
		return ""
	}
	head := body[i:min(len(body), i+mostDeclaration)]
	end := bytes.Index(head, []byte("?>"))
	if end < 0 {
		return ""
	}
	_, rest, found := bytes.Cut(head[:end], []byte("encoding"))
	if !found {
		return ""
	}
	rest = bytes.TrimLeft(rest, " \t\r\n=")
	if len(rest) == 0 || rest[0] != '"' && rest[0] != '\'' {
		return ""
	}
	label, _, closed := bytes.Cut(rest[1:], rest[:1])
	if !closed {
		return ""
	}
	return strings.TrimSpace(string(label))
}
