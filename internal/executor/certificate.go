package executor

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"time"
)

// certificateFault says why a certificate is not believed, and what to do about it. Nothing was sent to whoever has shown it.
func certificateFault(err *tls.CertificateVerificationError) string {
	if len(err.UnverifiedCertificates) == 0 {
		return "the provider's certificate is not believed: " + err.Err.Error()
	}
	leaf := err.UnverifiedCertificates[0]
	if bad, ok := errors.AsType[x509.CertificateInvalidError](err.Err); ok && bad.Reason == x509.Expired {
		if time.Now().Before(leaf.NotBefore) {
			return fmt.Sprintf("the provider's certificate is valid from %s on only; look at the clock of this machine, or wait for the provider", stamp(leaf.NotBefore))
		}
		return fmt.Sprintf("the provider's certificate ended at %s; look at the clock of this machine, or wait until the provider has a new one", stamp(leaf.NotAfter))
	}
	if bad, ok := errors.AsType[x509.HostnameError](err.Err); ok {
		return fmt.Sprintf("the certificate is not for %s; somebody else may be answering there: look at the address of the source, and at proxies on the way", bad.Host)
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err.Err); ok {
		return "nobody whom this machine trusts has signed the provider's certificate; look at proxies on the way, or install their authority (SSL_CERT_FILE names a bundle)"
	}
	return "the provider's certificate is not believed: " + err.Err.Error()
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
