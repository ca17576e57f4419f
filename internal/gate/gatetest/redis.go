package gatetest

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// RedisVariable names the Redis server to test with.
const RedisVariable = "PATRA_TEST_REDIS_URL"

// RedisURL is the server at hand, which others use at the same time. A test without one is skipped.
func RedisURL(t testing.TB) string {
	t.Helper()
	url := os.Getenv(RedisVariable)
	if url == "" {
		t.Skip("there is no Redis: run it with scripts/with-redis, as make test does, or name one in " + RedisVariable)
	}
	return url
}

// RedisServer is a server of a test's own, which can die. It keeps nothing on a disk.
type RedisServer struct {
	URL  string
	port string
	dir  string
	cmd  *exec.Cmd
}

// StartRedis starts a server that is stopped with the test. It is skipped where others are that need Redis.
func StartRedis(t testing.TB) *RedisServer {
	t.Helper()
	RedisURL(t)
	const tries = 5
	for try := 1; ; try++ {
		s := &RedisServer{port: freePort(t), dir: t.TempDir()}
		s.URL = "redis://127.0.0.1:" + s.port + "/0"
		err := s.Start(t)
		if err == nil {
			t.Cleanup(s.Kill)
			return s
		}
		if try == tries {
			t.Fatal(err)
		}
	}
}

// Start starts the server, empty, where it was before.
func (s *RedisServer) Start(t testing.TB) error {
	t.Helper()
	s.cmd = exec.Command("redis-server", "--port", s.port, "--bind", "127.0.0.1", "--dir", s.dir, "--save", "", "--appendonly", "no")
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := s.cmd.Start(); err != nil {
		return err
	}
	ready := make(chan bool, 1)
	go func() {
		lines, told := bufio.NewScanner(out), false
		for lines.Scan() {
			if !told && strings.Contains(lines.Text(), "eady to accept connections") {
				told = true
				ready <- true
			}
		}
		if !told {
			ready <- false
		}
	}()
	select {
	case ok := <-ready:
		if ok {
			return nil
		}
	case <-time.After(20 * time.Second):
	}
	s.Kill()
	return fmt.Errorf("redis-server did not start on port %s", s.port)
}

// Kill ends the server at once, with all it knew.
func (s *RedisServer) Kill() {
	if s.cmd != nil {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
		s.cmd = nil
	}
}

func freePort(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

// Save writes what the server knows to its disk, from where it is read at the next start.
func (s *RedisServer) Save(t testing.TB) { s.ask(t, "save") }

// Keys is how many keys the server has.
func (s *RedisServer) Keys(t testing.TB) (n int) {
	if _, err := fmt.Sscan(s.ask(t, "dbsize"), &n); err != nil {
		t.Fatal(err)
	}
	return n
}

func (s *RedisServer) ask(t testing.TB, command string) string {
	t.Helper()
	out, err := exec.Command("redis-cli", "-p", s.port, command).CombinedOutput()
	if err != nil {
		t.Fatalf("redis-cli %s: %v\n%s", command, err, out)
	}
	return string(out)
}
