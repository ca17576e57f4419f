package sim

import (
	"io"
	"net/http"
	"net/url"
	"time"
)

// call is one request on its way through a provider.
type call struct {
	*http.Request
	now    time.Time
	fate   fault
	number uint64 // of the request, from 1
	world  *World // as it is when the request comes
	lies   *lies
	did    fault      // what was done to the answer on the way, by whoever made it
	form   url.Values // what the query string and a posted form say together
	posted string     // the posted form as it came
}

// A form may carry thousands of ids, and no more.
const maxForm = 1 << 20

func newCall(r *http.Request, now time.Time) *call {
	c := &call{Request: r, now: now, form: r.URL.Query()}
	if r.Method != http.MethodPost || r.Body == nil {
		return c
	}
	body, _ := io.ReadAll(io.LimitReader(r.Body, maxForm)) // what a broken client did send is answered
	c.posted = string(body)
	posted, _ := url.ParseQuery(c.posted)
	for name, values := range posted {
		c.form[name] = append(c.form[name], values...)
	}
	return c
}

// address is the absolute form of a path at this server, as the client called it.
func (c *call) address(path string) string { return "http://" + c.Host + path }
