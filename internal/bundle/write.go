package bundle

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"time"
)

// Writer writes a bundle, file by file.
type Writer struct {
	zip   *zip.Writer
	files []File
	total int64
}

// firstDay is the first day that zip files know.
var firstDay = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// NewWriter begins a bundle.
func NewWriter(w io.Writer) *Writer { return &Writer{zip: zip.NewWriter(w)} }

// Add adds a file. One that could not be checked later is refused now.
func (w *Writer) Add(name string, data []byte) error {
	if !names.MatchString(name) || name == ManifestName {
		return fmt.Errorf("%q has no place in a bundle", name)
	}
	if w.total += int64(len(data)); len(w.files)+2 > maxFiles || int64(len(data)) > maxFile || w.total > maxTotal {
		return fmt.Errorf("this is more than a bundle holds (%d files, %d MiB)", maxFiles, maxTotal>>20)
	}
	if err := w.put(name, data); err != nil {
		return err
	}
	sum := sha256.Sum256(data)
	w.files = append(w.files, File{name, int64(len(data)), hex.EncodeToString(sum[:])})
	return nil
}

func (w *Writer) put(name string, data []byte) error {
	method := zip.Deflate
	if tooDense(data) { // it would be refused for it
		method = zip.Store
	}
	// When is said by the list; without a date there would be a month 0, which some tools refuse.
	head := &zip.FileHeader{Name: name, Method: method, Modified: firstDay}
	file, err := w.zip.CreateHeader(head)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	return err
}

// tooDense reports whether a file packs better than is believed of an honest one.
func tooDense(data []byte) bool {
	if len(data) <= freely {
		return false
	}
	var packed bytes.Buffer
	f, err := flate.NewWriter(&packed, flate.DefaultCompression)
	if err != nil {
		return true
	}
	_, _ = f.Write(data) // to memory
	_ = f.Close()
	return int64(len(data)) > int64(packed.Len())*maxRatio*9/10
}

// Close signs the list, adds it and ends the bundle.
func (w *Writer) Close(m Manifest, key ed25519.PrivateKey) (Manifest, error) {
	m.Files = w.files
	if err := m.sign(key); err != nil {
		return m, err
	}
	if err := m.check([]ed25519.PublicKey{key.Public().(ed25519.PublicKey)}, m.At); err != nil {
		return m, err
	}
	data, err := m.bytes()
	if err != nil {
		return m, err
	}
	if err := w.put(ManifestName, data); err != nil {
		return m, err
	}
	return m, w.zip.Close()
}

// BodyName is the name of the file of a body.
func BodyName(hash string) string { return "bodies/" + hash }
