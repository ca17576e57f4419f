package export

import (
	"sync"

	"github.com/klauspost/compress/zstd"
	parquetzstd "github.com/parquet-go/parquet-go/compress/zstd"
)

// zstdCodec packs pages as the library would, with one encoder for all files. The library's own come and go with the garbage
// collector and remember four megabytes each, where a page has a quarter of one: that was most of the memory of an export.
type zstdCodec struct{ parquetzstd.Codec }

// packWindow is how far back the encoder looks. Few pages are larger.
const packWindow = 512 << 10

var pageEncoder = sync.OnceValues(func() (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(packWindow),
		zstd.WithLowerEncoderMem(true), zstd.WithZeroFrames(true), zstd.WithEncoderCRC(false))
})

// Encode implements compress.Codec.
func (*zstdCodec) Encode(dst, src []byte) ([]byte, error) {
	enc, err := pageEncoder()
	if err != nil {
		return nil, err
	}
	return enc.EncodeAll(src, dst[:0]), nil
}
