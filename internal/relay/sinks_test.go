package relay_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"patra"
	"patra/internal/relay"
	"patra/internal/relay/relaytest"
)

// fileSink is a folder with a file of events. It is away when its folder is.
type fileSink struct{ dir string }

func (s fileSink) path() string { return filepath.Join(s.dir, "in", "feed.jsonl") }

func (s fileSink) Open() (relay.Publisher, error) {
	return relay.OpenFile(relay.FileOptions{Path: s.path()})
}

func (s fileSink) Arrived(t testing.TB) (all [][]byte) {
	raw, err := os.ReadFile(s.path())
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(bytes.NewReader(raw))
	for lines.Scan() {
		all = append(all, bytes.Clone(lines.Bytes()))
	}
	return all
}

func (s fileSink) Down(t testing.TB) {
	must(t, os.Rename(filepath.Join(s.dir, "in"), filepath.Join(s.dir, "away")))
}
func (s fileSink) Up(t testing.TB) {
	must(t, os.Rename(filepath.Join(s.dir, "away"), filepath.Join(s.dir, "in")))
}

func (s fileSink) Unwanted() (patra.Event, bool) { return patra.Event{}, false }

func TestFile(t *testing.T) {
	relaytest.Run(t, func(t *testing.T) relaytest.Sink {
		s := fileSink{t.TempDir()}
		must(t, os.Mkdir(filepath.Join(s.dir, "in"), 0o700))
		return s
	})
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestNATS(t *testing.T) {
	relaytest.Run(t, func(t *testing.T) relaytest.Sink { return relaytest.NewNATS(t) })
}

// kafkaSink is a broker in this process. It is away while it answers no request to take something.
type kafkaSink struct {
	broker *kfake.Cluster
	mu     sync.Mutex
	down   bool
}

func newKafka(t testing.TB) *kafkaSink {
	broker, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, "events"))
	must(t, err)
	t.Cleanup(broker.Close)
	s := &kafkaSink{broker: broker}
	broker.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
		broker.KeepControl()
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.down {
			return nil, errors.New("the broker is away"), true
		}
		return nil, nil, false
	})
	return s
}

func (s *kafkaSink) Open() (relay.Publisher, error) {
	return relay.OpenKafka(relay.KafkaOptions{URL: "kafka://" + strings.Join(s.broker.ListenAddrs(), ","), Topic: "events", Timeout: 2 * time.Second})
}

func (s *kafkaSink) Arrived(t testing.TB) (all [][]byte) {
	c, err := kgo.NewClient(kgo.SeedBrokers(s.broker.ListenAddrs()...), kgo.ConsumeTopics("events"))
	must(t, err)
	defer c.Close()
	for {
		ctx, cancel := context.WithTimeout(t.Context(), 700*time.Millisecond)
		got := c.PollFetches(ctx)
		cancel()
		if got.NumRecords() == 0 {
			return all
		}
		got.EachRecord(func(r *kgo.Record) {
			if !strings.HasPrefix(string(r.Key), "demo/work/") {
				t.Errorf("key %q", r.Key)
			}
			all = append(all, r.Value)
		})
	}
}

func (s *kafkaSink) Unwanted() (patra.Event, bool) {
	e := relaytest.Event("large", 1)
	e.Data = json.RawMessage(`"` + strings.Repeat("x", 2<<20) + `"`)
	return e, true
}

func (s *kafkaSink) set(down bool) { s.mu.Lock(); defer s.mu.Unlock(); s.down = down }

func (s *kafkaSink) Down(testing.TB) { s.set(true) }
func (s *kafkaSink) Up(testing.TB)   { s.set(false) }

func TestKafka(t *testing.T) {
	relaytest.Run(t, func(t *testing.T) relaytest.Sink { return newKafka(t) })
}

// hookSink is a web address in this process.
type hookSink struct {
	t    testing.TB
	srv  *httptest.Server
	mu   sync.Mutex
	got  [][]byte
	down bool
}

const hookSecret = "a secret of the receiver"

func newHook(t testing.TB) *hookSink {
	s := &hookSink{t: t}
	s.srv = httptest.NewServer(s)
	t.Cleanup(s.srv.Close)
	return s
}

func (s *hookSink) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	body, err := io.ReadAll(r.Body)
	var events []json.RawMessage
	switch {
	case s.down || err != nil:
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	case relay.Verify(r.Header.Get(relay.SignatureHeader), map[string]string{"k1": hookSecret}, time.Now(), time.Minute, body) != nil:
		s.t.Error("the signature is not right")
		w.WriteHeader(http.StatusUnauthorized)
		return
	case r.Header.Get("Content-Type") != "application/cloudevents-batch+json" || json.Unmarshal(body, &events) != nil || bytes.Contains(body, []byte("unwanted")):
		w.WriteHeader(http.StatusUnprocessableEntity)
		return
	}
	for _, e := range events {
		s.got = append(s.got, bytes.Clone(e))
	}
	w.WriteHeader(http.StatusAccepted)
}

func (s *hookSink) Open() (relay.Publisher, error) {
	return relay.OpenWebhook(relay.WebhookOptions{URL: s.srv.URL + "/in?a=b", Secret: hookSecret, KeyID: "k1", Local: true, Timeout: 5 * time.Second})
}

func (s *hookSink) Arrived(testing.TB) [][]byte { s.mu.Lock(); defer s.mu.Unlock(); return s.got }

func (s *hookSink) set(down bool) { s.mu.Lock(); defer s.mu.Unlock(); s.down = down }

func (s *hookSink) Down(testing.TB) { s.set(true) }
func (s *hookSink) Up(testing.TB)   { s.set(false) }

func (s *hookSink) Unwanted() (patra.Event, bool) { return relaytest.Event("unwanted", 1), true }

func TestWebhook(t *testing.T) {
	relaytest.Run(t, func(t *testing.T) relaytest.Sink { return newHook(t) })
}
