package cli

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"syscall"
	"time"

	"patra/internal/config"
	"patra/internal/egress"
	"patra/internal/store"
)

// examinePorts looks whether patra serve could listen where it is told to, or is listening there already.
func examinePorts(ctx context.Context, cfg config.Config) (found []finding) {
	if address, said := cfg.API.Address(); address != "" {
		who := "this machine only"
		if cfg.API.Tokens.On() {
			who = "whoever has a token"
		}
		isOurs := isPatraServer("/healthz", "ok")
		if cfg.API.TLS.Cert != "" {
			isOurs = oursByCertificate(cfg.API.TLS)
		}
		found = append(found, examinePort(ctx, "api", address, "the API is for "+who, said, isOurs))
	}
	if address, said := cfg.Ops.Address(); address != "" {
		found = append(found, examinePort(ctx, "ops", address, "numbers are for those who watch", said, isPatraServer("/metrics", "patra_")))
	}
	if cfg.API.TLS.Cert != "" {
		found = append(found, examineCertificate(cfg.API.TLS, time.Now()))
	}
	return found
}

// otherwise is what is so where an address that nobody wrote down is taken.
var otherwise = map[string]string{"api": "there would be no dashboard", "ops": "numbers would be at another port"}

// examinePort tries to listen. An address that nobody wrote down may be taken.
func examinePort(ctx context.Context, check, address, what string, said bool, isOurs func(context.Context, string) bool) finding {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	switch {
	case err == nil:
		l.Close()
		return passed(check, "%s is free, and %s", address, what)
	case errors.Is(err, syscall.EADDRINUSE) && isOurs(ctx, address):
		return passed(check, "patra serve listens at %s, and %s", address, what)
	case errors.Is(err, syscall.EADDRINUSE) && !said:
		return warn(check, "Write another address to "+check+".listen, or off", "Another program listens at %s, so %s", address, otherwise[check])
	case errors.Is(err, syscall.EADDRINUSE):
		return fail(check, fmt.Sprintf("Write another address to %s.listen, or end that program", check), "Another program listens at %s", address)
	}
	return fail(check, fmt.Sprintf("Write an address of this machine to %s.listen, with a port above 1023", check), "Nobody can listen at %s: %s", address, err)
}

// askTime is how long whoever listens has to answer.
const askTime = 2 * time.Second

// isPatraServer asks whoever listens for something that only we say.
func isPatraServer(path, word string) func(context.Context, string) bool {
	return func(ctx context.Context, address string) bool {
		address = onThisMachine(address)
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+path, nil)
		if err != nil {
			return false
		}
		client := egress.NewClient(egress.Options{Host: address, Trusted: true, Connect: askTime, Headers: askTime, Total: askTime})
		resp, err := client.Do(req)
		if err != nil {
			return false
		}
		defer resp.Body.Close()
		said, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
		return err == nil && resp.StatusCode == http.StatusOK && bytes.Contains(said, []byte(word))
	}
}

// oursByCertificate looks whether whoever listens shows our certificate, or one for the same names: it may have been renewed since.
func oursByCertificate(c config.TLS) func(context.Context, string) bool {
	return func(ctx context.Context, address string) bool {
		pair, err := tls.LoadX509KeyPair(c.Cert, c.Key)
		if err != nil {
			return false
		}
		ctx, cancel := context.WithTimeout(ctx, askTime)
		defer cancel()
		dialer := &tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}} //nolint:gosec // it is compared here, and nothing is said
		conn, err := dialer.DialContext(ctx, "tcp", onThisMachine(address))
		if err != nil {
			return false
		}
		defer conn.Close()
		shown := conn.(*tls.Conn).ConnectionState().PeerCertificates[0]
		return shown.Equal(pair.Leaf) || len(shown.DNSNames) > 0 && slices.Equal(shown.DNSNames, pair.Leaf.DNSNames)
	}
}

// renewBefore is how long before its end a certificate should be renewed.
const renewBefore = 14 * 24 * time.Hour

// examineCertificate looks whether the certificate of the API fits its key, and for how long.
func examineCertificate(c config.TLS, at time.Time) finding {
	pair, err := tls.LoadX509KeyPair(c.Cert, c.Key)
	if err != nil {
		return fail("api", "See that api.tls names a certificate and its key", "The certificate cannot be used: %s", err)
	}
	const next = "Renew the certificate, and start patra serve again"
	switch end := pair.Leaf.NotAfter; {
	case at.After(end):
		return fail("api", next, "The certificate ended on %s", end.UTC().Format(time.DateOnly))
	case at.Add(renewBefore).After(end):
		return warn("api", next, "The certificate ends on %s", end.UTC().Format(time.DateOnly))
	default:
		return passed("api", "The certificate is good until %s", end.UTC().Format(time.DateOnly))
	}
}

// examineTokens looks whether anybody could sign in where tokens are needed.
func examineTokens(ctx context.Context, cfg config.Config, s *store.Store) ([]finding, error) {
	if !cfg.API.Tokens.On() {
		return nil, nil
	}
	all, err := s.Tokens(ctx)
	if err != nil {
		return nil, err
	}
	good := int64(0)
	for _, t := range all {
		if t.Valid(now()) {
			good++
		}
	}
	if good == 0 {
		return []finding{warn("tokens", "patra token create NAME --role admin", "The API wants tokens, and nobody has one")}, nil
	}
	return []finding{passed("tokens", "%s to the API", plural(good, "token"))}, nil
}
