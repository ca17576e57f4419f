package executor_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// authority signs certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// rooted is the one authority that this process trusts. It must be there before anybody looks: a process reads the
// authorities of its machine once.
var rooted = sync.OnceValue(func() authority {
	a := newAuthority()
	dir, err := os.MkdirTemp("", "authority")
	if err != nil {
		panic(err)
	}
	bundle := filepath.Join(dir, "bundle.pem")
	if err := os.WriteFile(bundle, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw}), 0o600); err != nil {
		panic(err)
	}
	os.Setenv("SSL_CERT_FILE", bundle)
	os.Setenv("SSL_CERT_DIR", dir)
	_, err = x509.SystemCertPool() // which reads them now
	os.RemoveAll(dir)
	if err != nil {
		panic(err)
	}
	return a
})

func newAuthority() authority {
	a := authority{}
	a.cert, a.key = signed(nil, &x509.Certificate{Subject: pkix.Name{CommonName: "authority"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign})
	return a
}

// signed makes a certificate and its key; without an authority it signs itself.
func signed(by *authority, c *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	parent, signer := c, key
	if by != nil {
		parent, signer = by.cert, by.key
	}
	c.SerialNumber = big.NewInt(time.Now().UnixNano())
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, signer)
	if err != nil {
		panic(err)
	}
	made, err := x509.ParseCertificate(der)
	if err != nil {
		panic(err)
	}
	return made, key
}

// issue makes the certificate of a server.
func (a authority) issue(t *testing.T, from, to time.Duration, hosts ...string) tls.Certificate {
	t.Helper()
	c := &x509.Certificate{NotBefore: time.Now().Add(from), NotAfter: time.Now().Add(to), ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	for _, h := range hosts {
		if ip := net.ParseIP(h); ip != nil {
			c.IPAddresses = append(c.IPAddresses, ip)
		} else {
			c.DNSNames = append(c.DNSNames, h)
		}
	}
	cert, key := signed(&a, c)
	return tls.Certificate{Certificate: [][]byte{cert.Raw}, PrivateKey: key}
}
