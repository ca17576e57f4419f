package relaytest

import (
	"encoding/json"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"patra"
	"patra/internal/relay"
)

// NATS is a server with a stream, in this process.
type NATS struct {
	dir  string
	port int
	srv  *server.Server
}

// NewNATS starts a server that ends with the test. Its stream knows for a tenth of a second only what it has got: whoever
// sends something twice is seen to do so.
func NewNATS(t testing.TB) *NATS {
	s := &NATS{dir: t.TempDir(), port: -1}
	s.Up(t)
	s.stream(t, func(js jetstream.JetStream) {
		_, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "EVENTS", Subjects: []string{"patra.>"}, Storage: jetstream.FileStorage, MaxMsgSize: 64 << 10, Duplicates: 100 * time.Millisecond})
		must(t, err)
	})
	t.Cleanup(func() { s.srv.Shutdown(); s.srv.WaitForShutdown() })
	return s
}

func (s *NATS) stream(t testing.TB, use func(jetstream.JetStream)) {
	t.Helper()
	nc, err := nats.Connect(s.URL())
	must(t, err)
	defer nc.Close()
	js, err := jetstream.New(nc)
	must(t, err)
	use(js)
}

// Up implements Sink.
func (s *NATS) Up(t testing.TB) {
	srv, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: s.port, JetStream: true, StoreDir: s.dir, NoLog: true, NoSigs: true})
	must(t, err)
	go srv.Start()
	if !srv.ReadyForConnections(20 * time.Second) {
		t.Fatal("the NATS server does not start")
	}
	if s.port < 0 { // it comes back where it was
		s.port = srv.Addr().(*net.TCPAddr).Port
	}
	s.srv = srv
}

// Down implements Sink.
func (s *NATS) Down(testing.TB) { s.srv.Shutdown(); s.srv.WaitForShutdown() }

// URL is where the server is.
func (s *NATS) URL() string { return s.srv.ClientURL() }

// Open implements Sink.
func (s *NATS) Open() (relay.Publisher, error) {
	return relay.OpenNATS(relay.NATSOptions{URL: s.URL(), Prefix: "patra", Timeout: 5 * time.Second})
}

// Unwanted implements Sink.
func (s *NATS) Unwanted() (patra.Event, bool) {
	e := Event("large", 1)
	e.Data = json.RawMessage(`"` + strings.Repeat("x", 100<<10) + `"`)
	return e, true
}

// Arrived implements Sink.
func (s *NATS) Arrived(t testing.TB) (all [][]byte) {
	t.Helper()
	s.stream(t, func(js jetstream.JetStream) {
		stream, err := js.Stream(t.Context(), "EVENTS")
		must(t, err)
		info, err := stream.Info(t.Context())
		must(t, err)
		reader, err := stream.OrderedConsumer(t.Context(), jetstream.OrderedConsumerConfig{})
		must(t, err)
		for uint64(len(all)) < info.State.Msgs {
			msg, err := reader.Next(jetstream.FetchMaxWait(20 * time.Second))
			must(t, err)
			all = append(all, msg.Data())
		}
	})
	return all
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
