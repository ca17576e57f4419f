// Package egress is the guarded way out: the only place where an HTTP client is made.
//
// A client speaks to one host. It follows no redirect, reads no proxy from the environment, refuses plain HTTP and
// every address that is not public, checks the address that is really dialled, and never repeats a request by
// itself. One host and port can be named as trusted, for a mirror or a simulator: there, and only there, plain HTTP
// and a loopback address are allowed. Plain HTTP alone can be allowed for a host too.
package egress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
	"time"
)

// Options say whom a client may speak to, and for how long.
type Options struct {
	Host    string // host[:port] of the source
	Trusted bool   // the user named this very host and port: plain HTTP and local addresses are allowed there
	Plain   bool   // without encryption is allowed there, and nothing else that is not
	Connect time.Duration
	Headers time.Duration // until the answer's headers are there
	Total   time.Duration
}

// ErrRefused means that we may not go there. Trying again changes nothing.
var ErrRefused = errors.New("egress refused")

// maxHeaderBytes bounds the headers of an answer.
const maxHeaderBytes = 256 << 10

// NewClient makes the client of one host.
func NewClient(o Options) *http.Client {
	return &http.Client{
		Timeout:       o.Total,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: guard{host: o.Host, plain: o.Trusted || o.Plain, next: &http.Transport{
			Proxy:                  nil, // a proxy in the environment would see every credential
			DialContext:            dialer(o).DialContext,
			ForceAttemptHTTP2:      true,
			TLSHandshakeTimeout:    o.Connect,
			ResponseHeaderTimeout:  o.Headers,
			MaxResponseHeaderBytes: maxHeaderBytes,
			MaxIdleConnsPerHost:    16,
			IdleConnTimeout:        60 * time.Second,
			DisableCompression:     true, // decoding is ours: it needs limits
		}},
	}
}

// dialer goes to public addresses only, unless somebody named this very one.
func dialer(o Options) *net.Dialer {
	d := &net.Dialer{Timeout: o.Connect, KeepAlive: 30 * time.Second}
	if !o.Trusted {
		d.ControlContext = publicOnly
	}
	return d
}

// guard refuses a request that leaves the permitted host.
type guard struct {
	host  string
	plain bool
	next  http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (g guard) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Host != g.host || req.URL.User != nil {
		return nil, fmt.Errorf("%w: %s is not the host of this source", ErrRefused, req.URL.Host)
	}
	if req.URL.Scheme != "https" && !(g.plain && req.URL.Scheme == "http") {
		return nil, fmt.Errorf("%w: %s without encryption is not allowed", ErrRefused, req.URL.Host)
	}
	return g.next.RoundTrip(req)
}

// CloseIdleConnections lets a client be closed: http.Client asks its transport for this, and a guard is one.
func (g guard) CloseIdleConnections() {
	if c, ok := g.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// publicOnly looks at the address that is really dialled, after every name look-up.
func publicOnly(_ context.Context, _, address string, _ syscall.RawConn) error {
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("egress: %w", err)
	}
	if !Public(ap.Addr()) {
		return fmt.Errorf("%w: the address %s is not public", ErrRefused, ap.Addr())
	}
	return nil
}

// internet6 is all of IPv6 that is handed out to the open internet; everything else there is special.
var internet6 = netip.MustParsePrefix("2000::/3")

// notPublic are ranges that the standard library's predicates do not name.
var notPublic = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),
	netip.MustParsePrefix("100.64.0.0/10"), // carrier-grade NAT
	netip.MustParsePrefix("192.0.0.0/24"),  // protocol assignments
	netip.MustParsePrefix("198.18.0.0/15"), // benchmarks
	netip.MustParsePrefix("240.0.0.0/4"),   // reserved and broadcast
	netip.MustParsePrefix("192.0.2.0/24"),  // documentation, and the two below
	netip.MustParsePrefix("198.51.100.0/24"),
	netip.MustParsePrefix("203.0.113.0/24"),
	netip.MustParsePrefix("2001::/32"),     // Teredo: an IPv4 address in disguise
	netip.MustParsePrefix("2002::/16"),     // 6to4: likewise
	netip.MustParsePrefix("2001:db8::/32"), // documentation
}

// Public reports whether an address lies in the open internet.
func Public(a netip.Addr) bool {
	a = a.Unmap().WithZone("") // a prefix never contains an address with a zone
	if !a.IsGlobalUnicast() || a.IsPrivate() || (a.Is6() && !internet6.Contains(a)) {
		return false
	}
	for _, p := range notPublic {
		if p.Contains(a) {
			return false
		}
	}
	return true
}

// Cause strips the URL from a client's error: it would carry a key in its query into logs and tables.
func Cause(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}

// Unreached reports whether nobody is there to answer: the host refused the connection, or its name has no address.
func Unreached(err error) bool {
	_, unnamed := errors.AsType[*net.DNSError](err)
	return unnamed || errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.EHOSTUNREACH) || errors.Is(err, syscall.ENETUNREACH)
}
