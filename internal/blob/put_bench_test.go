package blob_test

import (
	"crypto/rand"
	"fmt"
	"testing"
)

// A page after the other, each into a folder that is new, as almost all are.
func BenchmarkPut(b *testing.B) {
	f, data := openFiles(b, b.TempDir()), make([]byte, 20<<10)
	n := 0
	for b.Loop() {
		rand.Read(data)
		if err := f.Put(b.Context(), fmt.Sprintf("bodies/%02x/%06x/%d.zst", n%256, n, n), data); err != nil {
			b.Fatal(err)
		}
		n++
	}
}
