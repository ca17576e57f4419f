package bundle

import (
	"archive/zip"
	"bytes"
	"cmp"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"slices"

	"patra"
)

// Bounds of what is read of a bundle, whatever it says of itself.
const (
	maxFiles    = 5000
	maxFile     = 512 << 20
	maxTotal    = 3 << 30 // below what needs the larger kind of zip
	maxManifest = 4 << 20
	maxRatio    = 200
	freely      = 1 << 20 // files up to this size may be packed as tightly as can be
)

// Verify checks a bundle: that it is nothing else, who signed it, that every file is what was signed, and that it may
// still be used. The list is also given where only the signer or the time is wrong.
func Verify(r io.ReaderAt, size int64, trusted []ed25519.PublicKey, now patra.Instant) (m Manifest, err error) {
	if err := plausible(r, size); err != nil {
		return m, err
	}
	z, err := zip.NewReader(r, size)
	if err != nil {
		return m, fmt.Errorf("%w: %w", ErrHostile, err)
	}
	found := map[string]*zip.File{}
	for _, f := range z.File {
		if err := decent(f); err != nil {
			return m, err
		}
		if found[f.Name] != nil {
			return m, fmt.Errorf("%w: %s is in it twice", ErrHostile, f.Name)
		}
		found[f.Name] = f
	}
	list := found[ManifestName]
	if list == nil {
		return m, fmt.Errorf("%w: it has no %s", ErrHostile, ManifestName)
	}
	data, err := unpack(list, maxManifest)
	if err != nil {
		return m, err
	}
	if m, err = readManifest(data); err != nil {
		return m, err
	}
	if err := m.check(trusted, now); err != nil {
		return m, err
	}
	if err := m.exact(data); err != nil {
		return m, err
	}
	if err := seamless(r, size, z.File); err != nil {
		return m, err
	}
	return m, m.compare(found)
}

// compare sees that the files are those of the list, all of them and no other.
func (m Manifest) compare(found map[string]*zip.File) error {
	total := int64(0)
	for _, want := range m.Files {
		f := found[want.Name]
		if f == nil || want.Name == ManifestName {
			return fmt.Errorf("%w: %s is missing", ErrChanged, want.Name)
		}
		delete(found, want.Name)
		if total += want.Size; want.Size < 0 || want.Size > maxFile || total > maxTotal {
			return fmt.Errorf("%w: its files are larger than a bundle holds", ErrHostile)
		}
		sum, n, err := hash(f, want.Size)
		if err != nil {
			return err
		}
		if sum != want.SHA256 || n != want.Size {
			return fmt.Errorf("%w: %s", ErrChanged, want.Name)
		}
	}
	delete(found, ManifestName)
	for name := range found {
		return fmt.Errorf("%w: %s is not on the list", ErrChanged, name)
	}
	return nil
}

// decent refuses an entry that no bundle has, before anything of it is unpacked.
func decent(f *zip.File) error {
	switch {
	case !names.MatchString(f.Name):
		return fmt.Errorf("%w: it has a file %.80q", ErrHostile, f.Name)
	case !f.Mode().IsRegular():
		return fmt.Errorf("%w: %s is no plain file", ErrHostile, f.Name)
	case f.UncompressedSize64 > maxFile:
		return fmt.Errorf("%w: %s is too large", ErrHostile, f.Name)
	case f.UncompressedSize64 > freely && f.UncompressedSize64 > f.CompressedSize64*maxRatio:
		return fmt.Errorf("%w: %s is packed too tightly", ErrHostile, f.Name)
	}
	return nil
}

// plausible looks at the end of a zip file before anything is made of it: how many entries it says it has, and whether it
// is of the kind that we write.
func plausible(r io.ReaderAt, size int64) error {
	const tail = 22
	if size < tail || size > maxTotal+maxTotal/8 {
		return fmt.Errorf("%w: it has %d bytes", ErrHostile, size)
	}
	end := make([]byte, tail) // we write no comment behind it
	if _, err := r.ReadAt(end, size-tail); err != nil {
		return err
	}
	if !bytes.HasPrefix(end, []byte("PK\x05\x06")) || end[20] != 0 || end[21] != 0 {
		return fmt.Errorf("%w: it does not end like one", ErrHostile)
	}
	entries, folder, offset := binary.LittleEndian.Uint16(end[10:]), binary.LittleEndian.Uint32(end[12:]), binary.LittleEndian.Uint32(end[16:])
	switch {
	case int(entries) > maxFiles:
		return fmt.Errorf("%w: it has %d files", ErrHostile, entries)
	case folder > maxManifest || folder == 0xffff || offset == 0xffffffff: // the signs of the larger kind, whose numbers stand elsewhere
		return fmt.Errorf("%w: its table of contents is too large", ErrHostile)
	}
	return nil
}

// seamless sees that files follow each other from the first byte to the table of contents, and that the table goes up to the
// end: nothing is before them, between them or behind them.
func seamless(r io.ReaderAt, size int64, files []*zip.File) error {
	const local, tail = 30, 22
	files = slices.Clone(files)
	starts := make(map[*zip.File]int64, len(files))
	for _, f := range files {
		at, err := f.DataOffset()
		if err != nil {
			return fmt.Errorf("%w: %s: %w", ErrHostile, f.Name, err)
		}
		starts[f] = at
	}
	slices.SortFunc(files, func(a, b *zip.File) int { return cmp.Compare(starts[a], starts[b]) })
	next := int64(0)
	for _, f := range files {
		head := make([]byte, local)
		if _, err := r.ReadAt(head, next); err != nil {
			return fmt.Errorf("%w: %s: %w", ErrHostile, f.Name, err)
		}
		names := int64(binary.LittleEndian.Uint16(head[26:])) + int64(binary.LittleEndian.Uint16(head[28:]))
		if !bytes.HasPrefix(head, []byte("PK\x03\x04")) || starts[f] != next+local+names {
			return fmt.Errorf("%w: there is something before %s", ErrHostile, f.Name)
		}
		next = starts[f] + int64(f.CompressedSize64)
		if described := f.Flags&8 != 0; described { // the sizes stand behind the file, with a sign before them
			next += 16
		}
	}
	end := make([]byte, tail)
	if _, err := r.ReadAt(end, size-tail); err != nil {
		return err
	}
	folder, offset := int64(binary.LittleEndian.Uint32(end[12:])), int64(binary.LittleEndian.Uint32(end[16:]))
	if offset != next || offset+folder+tail != size {
		return fmt.Errorf("%w: there is something between its files and the end", ErrHostile)
	}
	return nil
}

// unpack reads a small file.
func unpack(f *zip.File, most int64) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrHostile, f.Name, err)
	}
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(data)) > most {
		err = io.ErrShortBuffer
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrHostile, f.Name, err)
	}
	return data, nil
}

// hash reads a file without keeping it, and no more of it than there should be.
func hash(f *zip.File, size int64) (sum string, n int64, err error) {
	r, err := f.Open()
	if err != nil {
		return "", 0, fmt.Errorf("%w: %s: %w", ErrHostile, f.Name, err)
	}
	defer r.Close()
	h := sha256.New()
	if n, err = io.Copy(h, io.LimitReader(r, size+1)); err != nil {
		return "", n, fmt.Errorf("%w: %s: %w", ErrChanged, f.Name, err)
	}
	return hex.EncodeToString(h.Sum(nil)), n, nil
}
