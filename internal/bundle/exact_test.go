package bundle_test

import (
	"bytes"
	"slices"
	"testing"

	"patra/internal/bundle"
)

// A bundle is what was written, byte for byte: nothing hides behind its list, between its files or around it.
func TestABundleIsVerifiedToTheLastByte(t *testing.T) {
	k := key(t, 1)
	good := whole(t, k)
	list := func(change func([]byte) []byte) []byte {
		return repacked(t, good, func(all []entry) []entry {
			for i, e := range all {
				if e.header.Name == bundle.ManifestName {
					all[i].data = change(slices.Clone(e.data))
				}
			}
			return all
		})
	}
	for name, data := range map[string][]byte{
		"a blank after the list":       list(func(b []byte) []byte { return append(b, ' ') }),
		"a line break after the list":  list(func(b []byte) []byte { return append(b, '\n') }),
		"a blank before the list":      list(func(b []byte) []byte { return append([]byte{' '}, b...) }),
		"another list after the list":  list(func(b []byte) []byte { return append(b, b...) }),
		"a zero after the list":        list(func(b []byte) []byte { return append(b, 0) }),
		"a blank inside the list":      list(func(b []byte) []byte { return bytes.Replace(b, []byte(`"v":`), []byte(`"v" :`), 1) }),
		"a byte after the archive":     append(slices.Clone(good), 'x'),
		"a byte before the archive":    append([]byte{'x'}, good...),
		"an archive after the archive": append(slices.Clone(good), good...),
		"bytes before the contents":    between(t, good),
	} {
		if bytes.Equal(data, good) {
			t.Errorf("%s: nothing was changed", name)
		}
		if _, err := verify(data, public(k)); err == nil {
			t.Errorf("%s: it is believed", name)
		}
	}
}

// between hides bytes before the table of contents, and corrects where that begins.
func between(t *testing.T, good []byte) []byte {
	t.Helper()
	const tail = 22
	end := slices.Clone(good[len(good)-tail:])
	at := int(end[16]) | int(end[17])<<8 | int(end[18])<<16 | int(end[19])<<24
	data := append(slices.Clone(good[:at]), "hidden"...)
	data = append(data, good[at:len(good)-tail]...)
	at += len("hidden")
	end[16], end[17], end[18], end[19] = byte(at), byte(at>>8), byte(at>>16), byte(at>>24)
	return append(data, end...)
}
