package cli

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"patra"
	"patra/internal/api"
)

// certificate makes one for this machine, in two files.
func certificate(t *testing.T, dir string) (cert, key string, pool *x509.CertPool) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(err)
	form := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign}
	signed, err := x509.CreateCertificate(rand.Reader, form, form, &private.PublicKey, private)
	must(err)
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	must(err)
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	must(os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed}), 0o600))
	must(os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600))
	pool = x509.NewCertPool()
	parsed, err := x509.ParseCertificate(signed)
	must(err)
	pool.AddCert(parsed)
	return cert, key, pool
}

// lines is what a server says, for somebody who waits for it.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
	said chan struct{}
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case l.said <- struct{}{}:
	default:
	}
	return l.text.Write(b)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// With a certificate the server is reached over TLS 1.2 or newer and in no other way, tells browsers to stay with it, and gives
// them a cookie that they never send in the clear.
func TestTheServerSpeaksTLS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cert, key, pool := certificate(t, dir)
	settings := filepath.Join(dir, "patra.yaml")
	text := "store: {url: 'sqlite:" + filepath.Join(dir, "patra.db") + "'}\napi: {listen: '127.0.0.1:0', tokens: on, tls: {cert: '" + cert + "', key: '" + key + "'}}\n"
	if err := os.WriteFile(settings, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	out, ended := &lines{said: make(chan struct{}, 1)}, make(chan int, 1)
	go func() {
		ended <- run(ctx, []string{"--config", settings, "serve", "--role", "api"}, nil, out, out)
	}()
	t.Cleanup(func() { stop(); <-ended })
	for !strings.Contains(out.String(), "Serving") {
		select {
		case <-out.said:
		case code := <-ended:
			ended <- code
			t.Fatalf("it ended with %d: %s", code, out)
		case <-time.After(time.Minute):
			t.Fatalf("it said nothing: %s", out)
		}
	}
	_, after, found := strings.Cut(out.String(), "https://")
	address, _, _ := strings.Cut(after, "/")
	if !found {
		t.Fatal(out)
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, ServerName: "localhost"}}, Timeout: time.Minute}
	send := func(method, url, body string) (*http.Response, string, error) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if body != "" {
			req.Header.Set("Content-Type", "application/json")
		}
		res, err := client.Do(req)
		if err != nil {
			return nil, "", err
		}
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		return res, string(b), err
	}
	res, body, err := send("GET", "https://"+address+"/healthz", "")
	if err != nil || res.StatusCode != http.StatusOK || body != "ok\n" || res.TLS.Version != tls.VersionTLS13 {
		t.Fatal(res, body, err)
	}
	if hsts := res.Header.Get("Strict-Transport-Security"); hsts != "max-age=31536000" {
		t.Errorf("browsers are told %q", hsts)
	}

	res, body, err = send("GET", "http://"+address+"/healthz", "")
	if err == nil && (res.StatusCode != http.StatusBadRequest || strings.HasPrefix(body, "ok")) {
		t.Errorf("in the clear we are told %d %s", res.StatusCode, body)
	}

	dial := func(version uint16) (uint16, error) {
		c, err := (&tls.Dialer{Config: &tls.Config{RootCAs: pool, ServerName: "localhost", MinVersion: tls.VersionTLS10, MaxVersion: version}}).DialContext(t.Context(), "tcp", address)
		if err != nil {
			return 0, err
		}
		defer c.Close()
		return c.(*tls.Conn).ConnectionState().Version, nil
	}
	for version, good := range map[uint16]bool{tls.VersionTLS10: false, tls.VersionTLS11: false, tls.VersionTLS12: true, tls.VersionTLS13: true} {
		if got, err := dial(version); (err == nil) != good || good && got != version {
			t.Errorf("with %s at most: %s, %v", tls.VersionName(version), tls.VersionName(got), err)
		}
	}

	a := &app{stdout: io.Discard, stderr: io.Discard, configPath: settings}
	s, err := a.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	k, err := api.Issue(t.Context(), s, now(), api.TokenRequest{Name: "ada", Rank: patra.Viewer, Days: 1}, "test")
	if err != nil {
		t.Fatal(err)
	}
	res, body, err = send("POST", "https://"+address+api.Prefix+"/session", `{"token":"`+k.Secret+`"}`)
	if err != nil || res.StatusCode != http.StatusNoContent || len(res.Cookies()) != 1 {
		t.Fatal(res, body, err)
	}
	if c := res.Cookies()[0]; c.Name != "__Host-patra" || !c.Secure || !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || c.Domain != "" {
		t.Errorf("the cookie is %s", c)
	}
}
