package egress

import (
	"io"
	"net/http"
)

// Once marks a request that must reach the provider at most once. The standard transport silently repeats a GET when
// a reused connection breaks; where each request consumes a page, that loses the page. A request with a body that
// cannot be rewound is never repeated, so an empty one does it.
func Once(req *http.Request) {
	req.GetBody = nil
	if req.Body == nil || req.Body == http.NoBody {
		req.Body = io.NopCloser(emptyBody{})
	}
}

type emptyBody struct{}

// Read implements io.Reader.
func (emptyBody) Read([]byte) (int, error) { return 0, io.EOF }
