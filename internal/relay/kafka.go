package relay

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/plain"

	"patra"
)

// Kafka is a sink that is a topic. The key of a message is the subject of the event, so that one partition has all events
// of a record. An event counts as taken when all replicas that are in step have it.
type Kafka struct {
	client  *kgo.Client
	timeout time.Duration
}

// KafkaOptions say where the brokers are.
type KafkaOptions struct {
	URL     string        // kafka://host:9092, several hosts with commas between them; kafkas:// with encryption; a user may stand before the first
	Secret  string        // the password of that user
	Topic   string        // which must be there
	Timeout time.Duration // for an answer; 0: thirty seconds
}

// OpenKafka makes a producer. It does not dial before there is something to send.
func OpenKafka(o KafkaOptions) (*Kafka, error) {
	u, err := url.Parse(o.URL)
	if err != nil || u.Host == "" {
		return nil, errors.New("the address is not a URL")
	}
	if o.Timeout == 0 {
		o.Timeout = 30 * time.Second
	}
	opts := []kgo.Opt{
		kgo.SeedBrokers(strings.Split(u.Host, ",")...), kgo.ClientID("patra-relay"), kgo.DefaultProduceTopic(o.Topic),
		kgo.RequiredAcks(kgo.AllISRAcks()), kgo.ProducerLinger(0), // the producer is idempotent unless it is told not to be
		kgo.RecordDeliveryTimeout(o.Timeout), kgo.ProduceRequestTimeout(o.Timeout),
		kgo.ProducerBatchMaxBytes(1 << 20), // what brokers accept unless they are told otherwise
		kgo.UnknownTopicRetries(3),
		// An event whose outcome is not known counts as failed when its time is up, and is sent again: readers know it by its
		// id. Otherwise a broker that is away would keep us for ever, and past our lease.
		kgo.AllowIdempotentProduceCancellation(),
	}
	if u.Scheme == "kafkas" {
		opts = append(opts, kgo.DialTLSConfig(&tls.Config{MinVersion: tls.VersionTLS12}))
	}
	if u.User != nil {
		opts = append(opts, kgo.SASL(plain.Auth{User: u.User.Username(), Pass: o.Secret}.AsMechanism()))
	}
	client, err := kgo.NewClient(opts...)
	if err != nil {
		return nil, err
	}
	return &Kafka{client, o.Timeout}, nil
}

// Publish implements Publisher.
func (s *Kafka) Publish(ctx context.Context, events []patra.Event) []error {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	errs := make([]error, len(events))
	at := map[*kgo.Record]int{}
	records := make([]*kgo.Record, 0, len(events))
	for i, e := range events {
		body, err := json.Marshal(e)
		if err != nil {
			errs[i] = err
			continue
		}
		r := &kgo.Record{Key: []byte(e.Subject), Value: body, Headers: []kgo.RecordHeader{{Key: "content-type", Value: []byte(structured)}}}
		at[r], records = i, append(records, r)
	}
	for _, res := range s.client.ProduceSync(ctx, records...) {
		errs[at[res.Record]] = refusedByKafka(res.Err)
	}
	return errs
}

func refusedByKafka(err error) error {
	if errors.Is(err, kerr.MessageTooLarge) || errors.Is(err, kerr.RecordListTooLarge) || errors.Is(err, kerr.InvalidRecord) {
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	return err
}

// Close implements Publisher.
func (s *Kafka) Close() error {
	s.client.Close()
	return nil
}
