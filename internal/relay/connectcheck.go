package relay

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"patra"
	"patra/internal/egress"
)

// reachTime is how long a sink has to answer somebody who only looks.
const reachTime = 5 * time.Second

// ReachFile looks whether events could be added to a file, and makes none.
func ReachFile(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err == nil {
		return f.Close()
	}
	if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	probe, err := os.CreateTemp(filepath.Dir(path), ".patra-doctor-*")
	if err != nil {
		if found, ok := errors.AsType[*fs.PathError](err); ok {
			err = found.Err
		}
		return fmt.Errorf("nothing can be written to %s: %w", filepath.Dir(path), err)
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// ReachNATS connects and looks whether a stream takes an event of a type; without one it only connects.
func ReachNATS(ctx context.Context, o NATSOptions, sample patra.EventType) error {
	ctx, cancel := context.WithTimeout(ctx, reachTime)
	defer cancel()
	o.Timeout = reachTime
	s, err := OpenNATS(o)
	if err != nil {
		return err
	}
	defer s.Close()
	if sample == "" {
		return s.conn.FlushWithContext(ctx)
	}
	_, err = s.js.StreamNameBySubject(ctx, s.subject(sample))
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return fmt.Errorf("it is there, but no stream takes %s", s.subject(sample))
	}
	return err
}

// ReachKafka asks a broker for a sign of life.
func ReachKafka(ctx context.Context, o KafkaOptions) error {
	ctx, cancel := context.WithTimeout(ctx, reachTime)
	defer cancel()
	s, err := OpenKafka(o)
	if err != nil {
		return err
	}
	defer s.Close()
	return s.client.Ping(ctx)
}

// ReachWebhook connects, with encryption where there is some, and says nothing.
func ReachWebhook(ctx context.Context, o WebhookOptions) error {
	u, err := url.Parse(o.URL)
	if err != nil || u.Host == "" {
		return errors.New("the address is not a URL")
	}
	ctx, cancel := context.WithTimeout(ctx, reachTime)
	defer cancel()
	return egress.Reach(ctx, egress.Options{Host: u.Host, Trusted: o.Local, Connect: reachTime}, u.Scheme)
}
