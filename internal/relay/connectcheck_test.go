package relay_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"patra"
	"patra/internal/relay"
	"patra/internal/relay/relaytest"
)

// Whoever looks whether a sink is there is told when it is not, and leaves nothing there.
func TestSinksAreReachedWithoutSending(t *testing.T) {
	dir := t.TempDir()
	asked := 0
	web := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer web.Close()
	safe := httptest.NewTLSServer(http.NotFoundHandler()) // of which nobody knows the certificate
	defer safe.Close()
	bus, kafka := relaytest.NewNATS(t), newKafka(t)
	brokers := "kafka://" + strings.Join(kafka.broker.ListenAddrs(), ",")
	for _, c := range []struct {
		name  string
		reach error
		want  string
	}{
		{"a file to come", relay.ReachFile(filepath.Join(dir, "feed.jsonl")), ""},
		{"a file in a folder that is not there", relay.ReachFile(filepath.Join(dir, "nowhere", "feed.jsonl")), "no such file"},
		{"a folder", relay.ReachFile(dir), "is a directory"},
		{"a webhook", relay.ReachWebhook(t.Context(), relay.WebhookOptions{URL: web.URL, Local: true}), ""},
		{"a webhook that may not be asked", relay.ReachWebhook(t.Context(), relay.WebhookOptions{URL: web.URL}), "without encryption"},
		{"a local webhook", relay.ReachWebhook(t.Context(), relay.WebhookOptions{URL: safe.URL}), "not public"},
		{"a stranger's certificate", relay.ReachWebhook(t.Context(), relay.WebhookOptions{URL: safe.URL, Local: true}), "certificate"},
		{"no webhook", relay.ReachWebhook(t.Context(), relay.WebhookOptions{URL: "http://127.0.0.1:1/x", Local: true}), "refused"},
		{"NATS", relay.ReachNATS(t.Context(), relay.NATSOptions{URL: bus.URL(), Prefix: "patra"}, patra.EventUpserted), ""},
		{"NATS without a stream", relay.ReachNATS(t.Context(), relay.NATSOptions{URL: bus.URL(), Prefix: "nobody"}, patra.EventUpserted), "no stream takes nobody.record.upserted"},
		{"NATS, whatever its streams", relay.ReachNATS(t.Context(), relay.NATSOptions{URL: bus.URL(), Prefix: "nobody"}, ""), ""},
		{"no NATS", relay.ReachNATS(t.Context(), relay.NATSOptions{URL: "nats://127.0.0.1:1"}, ""), "connect"},
		{"Kafka", relay.ReachKafka(t.Context(), relay.KafkaOptions{URL: brokers, Topic: "events"}), ""},
		{"no Kafka", relay.ReachKafka(t.Context(), relay.KafkaOptions{URL: "kafka://127.0.0.1:1", Topic: "events"}), "refused"},
	} {
		if c.want == "" && c.reach != nil || c.want != "" && (c.reach == nil || !strings.Contains(c.reach.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, c.reach, c.want)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 || asked > 0 {
		t.Errorf("it left %v and asked %d times, %v", left, asked, err)
	}
}
