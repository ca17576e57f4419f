package cli

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"patra/internal/store/storetest"
)

// server is a server program of our own, which can be killed and comes back where it was, with what it has on its disk.
type server struct {
	t      *testing.T
	name   string
	port   int
	args   []string
	log    string
	cmd    *exec.Cmd
	stopOf chan error
}

// freePort is a port that nobody has at this moment.
func freePort(t *testing.T) int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func newServer(t *testing.T, name string, port int, args ...string) *server {
	s := &server{t: t, name: name, port: port, args: args, log: filepath.Join(t.TempDir(), filepath.Base(name)+".log")}
	s.up()
	t.Cleanup(func() {
		if s.cmd != nil {
			s.kill()
		}
	})
	return s
}

// up starts the server and waits until it listens.
func (s *server) up() {
	s.t.Helper()
	log, err := os.OpenFile(s.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		s.t.Fatal(err)
	}
	defer log.Close()
	s.cmd, s.stopOf = exec.Command(s.name, s.args...), make(chan error, 1)
	s.cmd.Stdout, s.cmd.Stderr = log, log
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	go func(c *exec.Cmd, ended chan error) { ended <- c.Wait() }(s.cmd, s.stopOf)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", s.port))
		if err == nil {
			c.Close()
			return
		}
		if len(s.stopOf) > 0 || time.Now().After(deadline) {
			said, _ := os.ReadFile(s.log)
			s.t.Fatalf("%s does not start: %v\n%s", s.name, err, said)
		}
	}
}

// kill ends the server as if its machine had gone.
func (s *server) kill() {
	_ = s.cmd.Process.Kill()
	<-s.stopOf
	s.cmd = nil
}

// installed finds a server program; where the tests are told that there is one, it must be there.
func installed(t *testing.T, variable string, names ...string) string {
	if os.Getenv(variable) == "" {
		t.Skipf("it needs a server of its own; scripts/with-mariadb and scripts/with-redis set %s", variable)
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Fatalf("%s is set, and %s is not installed", variable, names[0])
	return ""
}

// ownMariaDB is a MariaDB that nobody else uses. What it has committed is on its disk.
func ownMariaDB(t *testing.T) (*server, storetest.Engine) {
	daemon := installed(t, storetest.ServerVariable, "mariadbd", "/usr/sbin/mariadbd")
	install := installed(t, storetest.ServerVariable, "mariadb-install-db")
	dir, err := os.MkdirTemp("", "patra-fleet") //nolint:usetesting // a short name: that of a socket may not be long
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	who, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(dir, "data")
	if out, err := exec.Command(install, "--no-defaults", "--user="+who.Username, "--datadir="+data, "--auth-root-authentication-method=normal", "--skip-test-db").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	port := freePort(t)
	s := newServer(t, daemon, port, "--no-defaults", "--user="+who.Username, "--datadir="+data, "--socket="+filepath.Join(dir, "s"), "--pid-file="+filepath.Join(dir, "p"),
		"--bind-address=127.0.0.1", fmt.Sprint("--port=", port), "--skip-name-resolve", "--skip-log-bin", "--performance-schema=OFF", "--innodb-flush-log-at-trx-commit=1",
		"--innodb-buffer-pool-size=64M", "--innodb-log-file-size=32M", "--max-connections=200")
	out, err := exec.Command("mariadb", "--no-defaults", "--protocol=tcp", "--host=127.0.0.1", fmt.Sprint("--port=", port), "-uroot", "-e", "CREATE DATABASE fleet").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return s, storetest.Engine{Name: "mysql", URL: func(testing.TB) string { return fmt.Sprintf("mysql://root@127.0.0.1:%d/fleet", port) }}
}

// ownRedis is a Redis that forgets everything when it is killed.
func ownRedis(t *testing.T) *server {
	port := freePort(t)
	return newServer(t, installed(t, "PATRA_TEST_REDIS_URL", "redis-server"), port, "--port", fmt.Sprint(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", t.TempDir())
}

// linesWith counts the lines of a log that have all of these words.
func linesWith(log string, words ...string) (n int) {
	for line := range strings.Lines(log) {
		all := true
		for _, w := range words {
			all = all && strings.Contains(line, w)
		}
		if all {
			n++
		}
	}
	return n
}
