package gate

import (
	"bytes"
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	chance "math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/redis/go-redis/v9/maintnotifications"

	"patra"
)

const (
	// redisTimeout is how long Redis may take for one answer. Waiting longer for it than the store would take is no gain.
	redisTimeout = 500 * time.Millisecond
	// redisKeeps is how long a state is kept after its last change. Nobody depends on it: a state that is gone is a state
	// that was lost.
	redisKeeps = 3 * 24 * time.Hour
	// redisTries is how often a change is tried when others come in between, and redisRest how long one who tried some
	// times waits at most before the next try.
	redisTries = 60
	redisRest  = 4 * time.Millisecond
	// redisPrefix begins all our keys. What follows is the name of a loan, which no other store has.
	redisPrefix = "patra:gate:"
)

//go:embed turn.lua
var turnText string

// Redis keeps rows in a Redis server, by the server's clock. By themselves they are worth nothing: a server that forgets
// permits everything once more. See Lent.
type Redis struct {
	client *redis.Client
	script *redis.Script
	clock  func() time.Time
	hide   *strings.Replacer
}

// RedisOption changes how rows in Redis behave.
type RedisOption func(*Redis, *redis.Options)

// WithClock replaces the server's clock. It is for tests that live in simulated time, where answers may take any time.
func WithClock(now func() time.Time) RedisOption {
	return func(r *Redis, o *redis.Options) {
		r.clock = now
		o.ReadTimeout, o.WriteTimeout, o.DialTimeout, o.ConnMaxIdleTime = -2, -2, time.Hour, -1
	}
}

// OpenRedis prepares rows in the server at redis://user:password@host:6379/0, or rediss:// for TLS. It does not connect:
// a server that is away is a reason to use the store and none to stop.
func OpenRedis(rawURL string, opts ...RedisOption) (*Redis, error) {
	o, err := redis.ParseURL(rawURL)
	if err != nil { // which may repeat the URL
		return nil, errors.New("gate.redis.url: not a URL of a Redis server; write redis://user:password@host:6379/0")
	}
	logging.Disable() // what is wrong is said in errors, and once
	o.MaxRetries, o.DialerRetries = -1, 1
	o.DialTimeout, o.ReadTimeout, o.WriteTimeout, o.PoolTimeout = redisTimeout, redisTimeout, redisTimeout, redisTimeout
	o.Protocol, o.DisableIdentity, o.ContextTimeoutEnabled = 2, true, true
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	r := &Redis{script: redis.NewScript(turnText), hide: hider(o.Password)}
	for _, opt := range opts {
		opt(r, o)
	}
	r.client = redis.NewClient(o)
	return r, nil
}

// hider takes a password out of messages: some servers repeat what they did not understand.
func hider(password string) *strings.Replacer {
	if password == "" {
		return strings.NewReplacer()
	}
	return strings.NewReplacer(password, "***")
}

// Close closes all connections.
func (r *Redis) Close() error { return r.client.Close() }

// UpdateGateState implements Rows: it looks, and sets what turn makes of it unless somebody was faster; then turn is asked again.
func (r *Redis) UpdateGateState(ctx context.Context, key string, turn func(patra.Instant, time.Duration, patra.RateState) patra.RateState) error {
	got, err := r.ask(ctx, key, "", nil)
	if err != nil {
		return err
	}
	for try := 1; ; try++ {
		was, err := got.read()
		if err != nil {
			return err
		}
		is, err := json.Marshal(keptOf(turn(got.now, got.took, was)))
		if err != nil || bytes.Equal(is, got.state) {
			return err
		}
		if got, err = r.ask(ctx, key, got.version, is); err != nil || got.set {
			return err
		}
		if try == redisTries {
			return errors.New("the gate in Redis: others were faster too often")
		}
		if err := r.rest(ctx, try); err != nil {
			return err
		}
	}
}

// rest lets others go first for a moment, when there are many.
func (r *Redis) rest(ctx context.Context, try int) error {
	const few = 3
	if try <= few {
		return nil
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(chance.N(redisRest)):
		return nil
	}
}

// GateState implements Rows.
func (r *Redis) GateState(ctx context.Context, key string) (patra.RateState, patra.Instant, error) {
	got, err := r.ask(ctx, key, "", nil)
	if err != nil {
		return patra.RateState{}, 0, err
	}
	is, err := got.read()
	return is, got.now, err
}

// reply is what the script answers.
type reply struct {
	now     patra.Instant
	took    time.Duration // to be told
	version string
	state   []byte
	set     bool
}

// ask runs the script: to look, or to replace a version with a state.
func (r *Redis) ask(ctx context.Context, key, version string, state []byte) (reply, error) {
	clock := ""
	if r.clock != nil {
		clock = strconv.FormatInt(r.clock().UnixMicro(), 10)
	}
	asked := time.Now()
	all, err := r.script.Run(ctx, r.client, []string{redisPrefix + key}, clock, version, rand.Text(), state, redisKeeps.Milliseconds()).Slice()
	if err != nil {
		return reply{}, r.failed(err)
	}
	got := reply{took: time.Since(asked)}
	const answers = 4
	if len(all) != answers {
		return got, errors.New("the gate in Redis: the script does not answer as it should")
	}
	now, _ := all[0].(string)
	text, _ := all[2].(string)
	set, _ := all[3].(int64)
	got.version, _ = all[1].(string)
	us, err := strconv.ParseInt(now, 10, 64)
	if err != nil || got.version == "" {
		return got, errors.New("the gate in Redis: the script does not answer as it should")
	}
	got.now, got.state, got.set = patra.Instant(us), []byte(text), set == 1
	return got, nil
}

func (r *Redis) failed(err error) error {
	return fmt.Errorf("the gate in Redis: %s", r.hide.Replace(err.Error()))
}

// read gives the state that was told; the zero state where there is none.
func (t reply) read() (patra.RateState, error) {
	var k redisState
	if len(t.state) == 0 {
		return patra.RateState{}, nil
	}
	if err := json.Unmarshal(t.state, &k); err != nil {
		return patra.RateState{}, fmt.Errorf("the gate in Redis: a state cannot be read: %w", err)
	}
	return k.state(), nil
}

// redisState is a state as Redis has it. Its moments are numbers, as in the store.
type redisState struct {
	Limit    int64           `json:"limit"`
	Burst    int             `json:"burst"`
	Arrival  int64           `json:"arrival"`
	Cooldown int64           `json:"cooldown"`
	Rate     int64           `json:"rate,omitempty"`
	Ceiling  int64           `json:"ceiling,omitempty"`
	Adapted  int64           `json:"adapted,omitempty"`
	Refused  int64           `json:"refused,omitempty"`
	Notes    patra.RateNotes `json:"notes,omitzero"`
}

func keptOf(s patra.RateState) redisState {
	return redisState{s.Limit, s.Burst, int64(s.Arrival), int64(s.Cooldown), s.Tempo.Rate, s.Tempo.Ceiling, int64(s.Tempo.AdaptedAt), int64(s.Tempo.RefusedAt), s.Notes()}
}

func (k redisState) state() patra.RateState {
	is := patra.RateState{Limit: k.Limit, Burst: k.Burst, Arrival: patra.Instant(k.Arrival), Cooldown: patra.Instant(k.Cooldown),
		Tempo: patra.AdaptiveRate{Rate: k.Rate, Ceiling: k.Ceiling, AdaptedAt: patra.Instant(k.Adapted), RefusedAt: patra.Instant(k.Refused)}}
	is.SetNotes(k.Notes)
	return is
}

// RedisHealth is what a server says about itself. What it does not want to say is empty.
type RedisHealth struct{ Version, Eviction string }

// Health asks the server how it is, by a turn and by its own words.
func (r *Redis) Health(ctx context.Context) (h RedisHealth, err error) {
	if _, _, err := r.GateState(ctx, "probe"); err != nil {
		return h, err
	}
	server, _ := r.client.Info(ctx, "server").Result()
	memory, _ := r.client.Info(ctx, "memory").Result()
	return RedisHealth{infoOf(server, "redis_version"), infoOf(memory, "maxmemory_policy")}, nil
}

func infoOf(text, name string) string {
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
