package cli

import (
	"context"
	"fmt"

	"patra"
	"patra/internal/config"
	"patra/internal/relay"
)

// examineSinks connects to every sink, and sends nothing.
func (a *app) examineSinks(ctx context.Context, cfg config.Config) (found []finding) {
	a.credentials()
	for _, c := range cfg.Sinks {
		if err := a.reachSink(ctx, c); err != nil {
			found = append(found, fail("sinks", fmt.Sprintf("See to %s; events wait for it, and patra relay status tells how many", c.Name), "%s (%s) cannot be reached: %s", c.Name, c.Type, err))
			continue
		}
		found = append(found, passed("sinks", "%s (%s) is there", c.Name, c.Type))
	}
	return found
}

func (a *app) reachSink(ctx context.Context, c config.Sink) error {
	secret := ""
	if c.Secret != "" {
		var err error
		if secret, err = a.secretOf(c.Secret); err != nil {
			return err
		}
	}
	switch c.Type {
	case config.SinkFile:
		return relay.ReachFile(c.Path())
	case config.SinkNATS:
		sample := patra.EventUpserted
		if len(c.Events) > 0 {
			sample = "" // which subjects it takes is not for us to guess
		}
		return relay.ReachNATS(ctx, relay.NATSOptions{URL: c.URL, Secret: secret, Prefix: c.Topic}, sample)
	case config.SinkKafka:
		return relay.ReachKafka(ctx, relay.KafkaOptions{URL: c.URL, Secret: secret, Topic: c.Topic})
	}
	return relay.ReachWebhook(ctx, relay.WebhookOptions{URL: c.URL, Secret: secret, KeyID: c.KeyID, Local: c.Local})
}
