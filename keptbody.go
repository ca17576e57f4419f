package patra

import "time"

// StoredBody is what is kept of a body that a provider sent: all of it, by its hash.
type StoredBody struct {
	Body       string `json:"body_sha256"`   // the hash of the bytes as they came, after decompression
	Stored     string `json:"stored_sha256"` // the hash of the bytes as they are kept: another one only where a secret was taken out
	Size       int64  `json:"size"`
	StoredSize int64  `json:"stored_size"` // compressed
	Codec      string `json:"codec"`
	Location   string `json:"location"` // its name where bodies are kept
	Redacted   bool   `json:"redacted,omitempty"`

	Pieces [][]byte `json:"-"` // the body as it is kept, in pieces that can be unpacked one by one

	Keep time.Duration `json:"-"` // how long it is kept after it was last referred to; 0 is for ever
}

// CodecZstd is the only way in which bodies are compressed.
const CodecZstd = "ZSTD"
