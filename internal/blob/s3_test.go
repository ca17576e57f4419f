package blob_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"patra/internal/blob"
	"patra/internal/blob/blobtest"
)

func TestS3(t *testing.T) {
	blobtest.Run(t, func(t *testing.T) (blob.Backend, func() blob.Backend) {
		server := httptest.NewServer(gofakes3.New(s3mem.New(), gofakes3.WithAutoBucket(true)).Server())
		t.Cleanup(server.Close)
		open := func() blob.Backend {
			o, err := blob.ParseS3("s3://patra/some/folder?region=eu&endpoint=" + server.URL)
			if err != nil {
				t.Fatal(err)
			}
			o.Key, o.Secret = "somebody", "whose secret is long enough"
			s, err := blob.OpenS3(o)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		return open(), open
	})
}

func TestMistakesInAnS3Address(t *testing.T) {
	for address, want := range map[string]string{
		"s3://":                                   "write s3://BUCKET",
		"s3://me:secret@bucket":                   "without user or password",
		"s3://bucket":                             `endpoint "" is not the address of a server`,
		"s3://bucket?endpoint=host":               "is not the address of a server",
		"s3://bucket?endpoint=https://h/":         "is not the address of a server",
		"s3://bucket?endpoint=https://h&secret=x": "and not secret",
		"s3://bucket/../x?endpoint=https://h":     "is not the name of a blob",
	} {
		if _, err := blob.ParseS3(address); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", address, err, want)
		}
	}
}
