package egress_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"patra/internal/egress"
)

func TestOnlyAddressesOfTheOpenInternetArePublic(t *testing.T) {
	for address, want := range map[string]bool{
		"127.0.0.1": false, "127.255.255.254": false, "::1": false, "::ffff:127.0.0.1": false, "::ffff:7f00:1": false,
		"0.0.0.0": false, "0.1.2.3": false, "::": false, "::ffff:0.0.0.0": false,
		"10.0.0.1": false, "10.255.255.255": false, "172.16.0.1": false, "172.31.255.255": false, "192.168.1.1": false, "::ffff:192.168.1.1": false,
		"169.254.169.254": false, "::ffff:169.254.169.254": false, "fe80::1": false, "fe80::1%eth0": false, "fc00::1": false, "fd12:3456::1": false, "fd00:ec2::254": false,
		"100.64.0.1": false, "100.127.255.255": false, "192.0.0.8": false, "198.18.0.1": false, "198.19.255.255": false, "::ffff:100.64.0.1": false, "::ffff:0.1.2.3": false, "::ffff:255.255.255.255": false,
		"64:ff9b::7f00:1": false, "64:ff9b::8.8.8.8": false, "64:ff9b:1::a00:1": false, "2002:7f00:1::": false, "2002:a00:1::1": false,
		"224.0.0.1": false, "239.1.1.1": false, "ff02::1": false, "ff0e::1": false, "240.0.0.1": false, "255.255.255.255": false,
		"8.8.8.8": true, "1.1.1.1": true, "::ffff:8.8.8.8": true, "2606:4700::1111": true, "2001:4860:4860::8888": true,
		"9.255.255.255": true, "11.0.0.0": true, "172.15.255.255": true, "172.32.0.0": true, "192.167.255.255": true, "192.169.0.0": true,
		"100.63.255.255": true, "100.128.0.0": true, "169.253.255.255": true, "169.255.0.0": true, "198.17.255.255": true, "198.20.0.0": true, "223.255.255.254": true, "2003::1": true,
	} {
		if got := egress.Public(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s is public: %v", address, got)
		}
	}
	if egress.Public(netip.Addr{}) {
		t.Error("no address at all is public")
	}
}

func TestNoDisguiseMakesAnAddressPublic(t *testing.T) {
	for _, address := range []string{"64:ff9b::7f00:1%eth0", "2002:7f00:1::%eth0", "fec0::1", "::127.0.0.1", "::ffff:0:127.0.0.1", "2001:0:7f00:1::", "2001:db8::1", "192.0.2.1", "198.51.100.1", "203.0.113.1"} {
		if egress.Public(netip.MustParseAddr(address)) {
			t.Errorf("%s is public", address)
		}
	}
}

// provider is a real server that counts the connections and the requests that reach it.
type provider struct {
	*httptest.Server
	connections, hits atomic.Int64
}

func (p *provider) host() string { return p.Listener.Addr().String() }

func (p *provider) port() string {
	_, port, _ := net.SplitHostPort(p.host())
	return port
}

func newProvider(t *testing.T, secure bool, h http.HandlerFunc) *provider {
	t.Helper()
	p := &provider{}
	p.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.hits.Add(1)
		h(w, r)
	}))
	p.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			p.connections.Add(1)
		}
	}
	if secure {
		p.StartTLS()
	} else {
		p.Start()
	}
	t.Cleanup(p.Close)
	return p
}

func answerOK(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "ok") }

// newClient makes a client that gives up soon, whatever happens.
func newClient(t *testing.T, host string, trusted bool) *http.Client {
	c := egress.NewClient(egress.Options{Host: host, Trusted: trusted, Connect: 2 * time.Second, Headers: 2 * time.Second, Total: 5 * time.Second})
	t.Cleanup(c.CloseIdleConnections)
	return c
}

// get asks and reads the whole answer.
func get(c *http.Client, url string) (status int, body string, err error) {
	resp, err := c.Get(url)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	b, err := egress.ReadBody(resp, 1<<20)
	return resp.StatusCode, string(b), err
}

func TestAnUntrustedClientReachesNoLocalAddress(t *testing.T) {
	p := newProvider(t, true, answerOK)
	for _, name := range []string{"127.0.0.1", "localhost", "0.0.0.0", "[::ffff:127.0.0.1]", "127.1.2.3"} {
		host := name + ":" + p.port()
		if status, _, err := get(newClient(t, host, false), "https://"+host+"/"); err == nil || !strings.Contains(err.Error(), "is not public") {
			t.Errorf("%s: status %d, %v", host, status, err)
		}
	}
	if n := p.connections.Load(); n != 0 {
		t.Errorf("%d connections reached the server", n)
	}
}

func TestAnUntrustedClientSpeaksNoPlainHTTP(t *testing.T) {
	p := newProvider(t, false, answerOK)
	if status, _, err := get(newClient(t, p.host(), false), p.URL); err == nil || !strings.Contains(err.Error(), "without encryption") {
		t.Errorf("status %d, %v", status, err)
	}
	if n := p.connections.Load(); n != 0 {
		t.Errorf("%d connections reached the server", n)
	}
}

func TestATrustedClientReachesExactlyThatHostAndPort(t *testing.T) {
	p, other := newProvider(t, false, answerOK), newProvider(t, false, answerOK)
	c := newClient(t, p.host(), true)
	if status, body, err := get(c, p.URL+"/works?rows=1"); err != nil || status != http.StatusOK || body != "ok" {
		t.Fatalf("status %d, body %q, %v", status, body, err)
	}
	for name, url := range map[string]string{
		"another port":          other.URL,
		"another name for it":   "http://localhost:" + p.port(),
		"no port":               "http://127.0.0.1",
		"a name that ends so":   "http://example.org." + p.host(),
		"user and password":     "http://user:secret@" + p.host(),
		"the host as user":      "http://" + p.host() + "@" + other.host(),
		"another way to say it": "http://[::ffff:127.0.0.1]:" + p.port(),
		"another scheme":        "ftp://" + p.host(),
	} {
		if status, _, err := get(c, url); err == nil || !errors.Is(err, egress.ErrRefused) {
			t.Errorf("%s: status %d, %v", name, status, err)
		} else if strings.Contains(egress.Cause(err).Error(), "secret") {
			t.Errorf("%s: the message tells the password: %v", name, err)
		}
	}
	if p.hits.Load() != 1 || other.connections.Load() != 0 {
		t.Errorf("%d requests at the host, %d connections elsewhere", p.hits.Load(), other.connections.Load())
	}
}

func TestARedirectIsAnAnswerAndNotAnOrder(t *testing.T) {
	other := newProvider(t, false, answerOK)
	for _, status := range []int{301, 302, 303, 307, 308} {
		for _, target := range []string{other.URL + "/", "/elsewhere"} {
			p := newProvider(t, false, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, target, status) })
			got, _, err := get(newClient(t, p.host(), true), p.URL)
			if err != nil || got != status || p.hits.Load() != 1 {
				t.Errorf("%d to %s: status %d after %d requests, %v", status, target, got, p.hits.Load(), err)
			}
		}
	}
	if n := other.connections.Load(); n != 0 {
		t.Errorf("%d redirects were followed", n)
	}
}

// trap is a proxy that nobody may use. The standard library reads the environment once in the life of a process, so
// there is one trap for all runs of the test.
var trap = sync.OnceValue(func() *provider {
	p := &provider{}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		p.hits.Add(1)
		w.WriteHeader(http.StatusTeapot)
	}))
	return p
})

func TestAProxyInTheEnvironmentIsIgnored(t *testing.T) {
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"} {
		t.Setenv(name, trap().URL)
	}
	t.Setenv("NO_PROXY", "")
	t.Setenv("no_proxy", "")
	p := newProvider(t, false, answerOK)
	host := "0.0.0.0:" + p.port() // reaches the server, and is not among the local names that the library never sends to a proxy
	before := trap().hits.Load()
	if status, body, err := get(newClient(t, host, true), "http://"+host); err != nil || status != http.StatusOK || body != "ok" {
		t.Errorf("status %d, body %q, %v", status, body, err)
	}
	if n := trap().hits.Load() - before; n != 0 {
		t.Errorf("%d requests went to the proxy", n)
	}
	// The trap works: a client that does read the environment falls into it.
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment}
	defer transport.CloseIdleConnections()
	if status, _, err := get(&http.Client{Transport: transport}, "http://"+host); err != nil || status != http.StatusTeapot {
		t.Errorf("a client with a proxy gives status %d, %v", status, err)
	}
}

func TestCauseLeavesTheAddressOut(t *testing.T) {
	p := newProvider(t, false, func(w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) })
	_, _, err := get(newClient(t, p.host(), true), p.URL+"/works?api_key=s3cret")
	if err == nil || !strings.Contains(err.Error(), "s3cret") {
		t.Fatalf("the client's own error is %v; without the key in it this proves nothing", err)
	}
	for name, e := range map[string]error{"as it is": err, "wrapped": fmt.Errorf("send: %w", err), "joined": errors.Join(io.ErrNoProgress, err)} {
		if cause := egress.Cause(e); strings.Contains(cause.Error(), "s3cret") || strings.Contains(cause.Error(), p.host()+"/") || !errors.Is(cause, io.EOF) {
			t.Errorf("%s: the cause is %v", name, cause)
		}
	}
	if got := egress.Cause(io.ErrUnexpectedEOF); !errors.Is(got, io.ErrUnexpectedEOF) {
		t.Errorf("an error without an address became %v", got)
	}
	if egress.Cause(nil) != nil {
		t.Error("no error has a cause")
	}
}

func TestAnAnswerThatDoesNotComeIsATimeout(t *testing.T) {
	release := make(chan struct{})
	p := newProvider(t, false, func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	})
	defer close(release)
	c := egress.NewClient(egress.Options{Host: p.host(), Trusted: true, Connect: time.Second, Headers: 10 * time.Millisecond, Total: 5 * time.Second})
	_, _, err := get(c, p.URL)
	if u, ok := errors.AsType[*url.Error](err); !ok || !u.Timeout() || !strings.Contains(err.Error(), "awaiting response headers") {
		t.Errorf("got %v, want a time-out of the headers", err)
	}
}
