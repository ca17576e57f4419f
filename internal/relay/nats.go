package relay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"patra"
)

// structured is the type of an event that is one JSON document.
const structured = "application/cloudevents+json"

// NATS is a sink that is a JetStream stream. The stream must be there, and take the subjects: how long it keeps what it
// gets is its owner's business.
type NATS struct {
	conn    *nats.Conn
	js      jetstream.JetStream
	prefix  string
	timeout time.Duration
}

// NATSOptions say where the server is.
type NATSOptions struct {
	URL     string        // nats://host:4222 or tls://host:4222, several with commas between them; a user may stand before the host
	Secret  string        // the password of that user, or without one a token
	Prefix  string        // of the subjects: patra gives patra.record.upserted
	Timeout time.Duration // for an answer; 0: ten seconds
}

// maxPayload is JetStream's word for a message that the stream does not take because of its size.
const tooLarge jetstream.ErrorCode = 10054

// OpenNATS connects.
func OpenNATS(o NATSOptions) (*NATS, error) {
	if o.Timeout == 0 {
		o.Timeout = 10 * time.Second
	}
	opts := []nats.Option{
		nats.Name("patra relay"), nats.Timeout(o.Timeout), nats.MaxReconnects(-1), nats.ReconnectWait(time.Second),
		// What cannot be sent now fails now. Held back in a buffer, it would arrive when nobody expects it any more.
		nats.ReconnectBufSize(-1),
	}
	address, user, err := splitUser(o.URL)
	if err != nil {
		return nil, err
	}
	switch {
	case user != "":
		opts = append(opts, nats.UserInfo(user, o.Secret))
	case o.Secret != "":
		opts = append(opts, nats.Token(o.Secret))
	}
	conn, err := nats.Connect(address, opts...)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	js, err := jetstream.New(conn)
	if err != nil {
		conn.Close()
		return nil, err
	}
	return &NATS{conn, js, o.Prefix, o.Timeout}, nil
}

// splitUser takes the user out of the first address: what is dialled must not be what is printed.
func splitUser(addresses string) (rest, user string, err error) {
	all := strings.Split(addresses, ",")
	for i, a := range all {
		u, err := url.Parse(strings.TrimSpace(a))
		if err != nil || u.Host == "" {
			return "", "", errors.New("the address is not a URL")
		}
		if u.User != nil {
			user = u.User.Username()
			u.User = nil
		}
		all[i] = u.String()
	}
	return strings.Join(all, ","), user, nil
}

// Publish implements Publisher. An event that the stream has already is acknowledged too: the id of the event is that of
// the message.
func (s *NATS) Publish(ctx context.Context, events []patra.Event) []error {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	errs := make([]error, len(events))
	acks := make([]jetstream.PubAckFuture, len(events))
	for i, e := range events {
		acks[i], errs[i] = s.start(e)
	}
	for i, ack := range acks {
		if ack == nil {
			continue
		}
		select {
		case <-ack.Ok():
		case err := <-ack.Err():
			errs[i] = refusedByNATS(err)
		case <-ctx.Done():
			errs[i] = fmt.Errorf("no answer: %w", ctx.Err())
		}
	}
	return errs
}

func (s *NATS) start(e patra.Event) (jetstream.PubAckFuture, error) {
	body, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	msg := nats.NewMsg(s.subject(e.Type))
	msg.Data = body
	msg.Header.Set("Content-Type", structured)
	ack, err := s.js.PublishMsgAsync(msg, jetstream.WithMsgID(e.ID))
	if err != nil {
		return nil, refusedByNATS(err)
	}
	return ack, nil
}

// subject is where events of a type go.
func (s *NATS) subject(t patra.EventType) string {
	return s.prefix + strings.TrimPrefix(string(t), "patra")
}

func refusedByNATS(err error) error {
	var api *jetstream.APIError
	if errors.Is(err, nats.ErrMaxPayload) || errors.As(err, &api) && api.ErrorCode == tooLarge {
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	return err
}

// Close implements Publisher.
func (s *NATS) Close() error {
	s.conn.Close()
	return nil
}
