package blob_test

import (
	"crypto/rand"
	"fmt"
	"testing"
)

// A page after the other, into folders that are there, as almost all are, and into folders that are new.
func BenchmarkPut(b *testing.B) {
	for what, folder := range map[string]string{"folders=known": "bodies/%02[1]x", "folders=new": "bodies/%02[1]x/%06[2]x"} {
		b.Run(what, func(b *testing.B) {
			f, data := openFiles(b, b.TempDir()), make([]byte, 20<<10)
			n := 0
			for b.Loop() {
				rand.Read(data)
				if err := f.Put(b.Context(), fmt.Sprintf(folder+"/%[2]d.zst", n%256, n), data); err != nil {
					b.Fatal(err)
				}
				n++
			}
		})
	}
}
