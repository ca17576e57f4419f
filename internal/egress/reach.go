package egress

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
)

// Reach connects to a host by the rules of its client, with encryption if the scheme has it, and says nothing there.
func Reach(ctx context.Context, o Options, scheme string) error {
	if scheme != "https" && !(o.Trusted && scheme == "http") {
		return fmt.Errorf("%w: %s without encryption is not allowed", ErrRefused, o.Host)
	}
	name, port, err := net.SplitHostPort(o.Host)
	if err != nil {
		name, port = o.Host, map[string]string{"https": "443", "http": "80"}[scheme]
	}
	conn, err := dialer(o).DialContext(ctx, "tcp", net.JoinHostPort(name, port))
	if err != nil {
		return err
	}
	if scheme == "http" {
		return conn.Close()
	}
	safe := tls.Client(conn, &tls.Config{ServerName: name, MinVersion: tls.VersionTLS12})
	return errors.Join(safe.HandshakeContext(ctx), conn.Close())
}
