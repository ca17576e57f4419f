package cli

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"patra"
	"patra/internal/config"
	"patra/internal/executor"
	"patra/internal/schedule"
	"patra/internal/store"
	"patra/internal/store/storetest"
)

// worst is the gravest verdict, and all that is said with it.
func worst(found []finding) (patra.Verdict, string) {
	v, text := patra.VerdictOK, ""
	for _, f := range found {
		if f.Verdict == patra.VerdictFail || f.Verdict == patra.VerdictWarn && v == patra.VerdictOK {
			v = f.Verdict
		}
		text += f.Text + "\n"
		if f.Verdict != patra.VerdictOK && f.Next == "" {
			text += "(and not what to do)\n"
		}
	}
	return v, text
}

// expect looks for a verdict, for words, and that whoever is told of trouble is told what to do.
func expect(t *testing.T, name string, found []finding, want patra.Verdict, words string) {
	t.Helper()
	got, text := worst(found)
	if got != want || !strings.Contains(text, words) || strings.Contains(text, "(and not what to do)") {
		t.Errorf("%s: %s, want %s with %q:\n%s", name, got, want, words, text)
	}
}

func healthy() map[string]string {
	return map[string]string{"transaction_isolation": "READ-COMMITTED", "sql_mode": "STRICT_ALL_TABLES,NO_ZERO_DATE", "time_zone": "+00:00", "innodb_flush_log_at_trx_commit": "1",
		"log_bin": "ON", "sync_binlog": "1", "max_allowed_packet": "67108864", "tidb_txn_mode": "pessimistic"}
}

func TestADoctorKnowsWhatAServerMustBe(t *testing.T) {
	expect(t, "healthy", judgeServer(store.Engine{Kind: store.TiDB}, healthy()), patra.VerdictOK, "")
	for _, c := range []struct {
		kind, name, value string
		want              patra.Verdict
	}{
		{store.MySQL, "transaction_isolation", "REPEATABLE-READ", patra.VerdictFail},
		{store.MariaDB, "sql_mode", "", patra.VerdictFail},
		{store.MariaDB, "time_zone", "Europe/Berlin", patra.VerdictFail},
		{store.MySQL, "innodb_flush_log_at_trx_commit", "2", patra.VerdictWarn},
		{store.TiDB, "innodb_flush_log_at_trx_commit", "0", patra.VerdictOK}, // it has no such log
		{store.MySQL, "sync_binlog", "0", patra.VerdictWarn},
		{store.MySQL, "max_allowed_packet", "1048576", patra.VerdictWarn},
		{store.TiDB, "tidb_txn_mode", "optimistic", patra.VerdictFail},
	} {
		set := healthy()
		set[c.name] = c.value
		expect(t, c.name, judgeServer(store.Engine{Kind: c.kind}, set), c.want, "")
	}
	expect(t, "old", []finding{judgeEngine(store.Engine{Kind: store.MySQL, Version: "5.7.44"})}, patra.VerdictFail, "MySQL 5.7.44 is too old")
	expect(t, "new", []finding{judgeEngine(store.Engine{Kind: store.MariaDB, Version: "11.4.2"})}, patra.VerdictOK, "")
}

func TestADoctorKnowsHowMuchIsEnough(t *testing.T) {
	const gib, many = 1 << 30, 1 << 20
	for _, c := range []struct {
		name string
		room diskSpace
		want patra.Verdict
	}{
		{"much", diskSpace{100 * gib, many, true}, patra.VerdictOK}, {"little", diskSpace{gib, many, true}, patra.VerdictWarn}, {"none", diskSpace{1 << 20, many, true}, patra.VerdictFail},
		{"few files", diskSpace{100 * gib, 50_000, true}, patra.VerdictWarn}, {"no files", diskSpace{100 * gib, 10, true}, patra.VerdictFail}, {"files without a limit", diskSpace{100 * gib, 0, false}, patra.VerdictOK},
	} {
		expect(t, c.name, judgeRoom("disk", "the store", c.room), c.want, "")
	}
	expect(t, "a small log", judgeWAL(4<<20), patra.VerdictOK, "")
	expect(t, "a large log", judgeWAL(2<<30), patra.VerdictWarn, "2.0 GiB")
	expect(t, "files for everybody", []finding{judgeLimit(1024, 4)}, patra.VerdictOK, "")
	expect(t, "too few files", []finding{judgeLimit(256, 4)}, patra.VerdictWarn, "256 files")
	expect(t, "too few for many workers", []finding{judgeLimit(1024, 400)}, patra.VerdictWarn, "400 workers")
	expect(t, "nobody can tell", judgeNTP(false, false), patra.VerdictOK, "")
	expect(t, "nobody does", judgeNTP(false, true), patra.VerdictWarn, "")
	expect(t, "somebody does", judgeNTP(true, true), patra.VerdictOK, "keeps")
}

func TestADoctorMeasuresClocks(t *testing.T) {
	for _, c := range []struct {
		skew, roundTrip time.Duration
		want            patra.Verdict
	}{
		{0, time.Millisecond, patra.VerdictOK}, {900 * time.Millisecond, time.Millisecond, patra.VerdictOK}, {-1100 * time.Millisecond, time.Millisecond, patra.VerdictWarn}, {2 * time.Second, time.Millisecond, patra.VerdictWarn},
		{2 * time.Second, 4 * time.Second, patra.VerdictOK}, // it may all have been the way
		{31 * time.Second, time.Millisecond, patra.VerdictFail}, {-time.Hour, time.Second, patra.VerdictFail}, {31 * time.Second, 4 * time.Second, patra.VerdictWarn},
	} {
		expect(t, fmt.Sprint(c.skew, c.roundTrip), []finding{judgeClock(c.skew, c.roundTrip)}, c.want, "")
	}
	s := storetest.Engines()[0].Open(t, store.WithClock(func() time.Time { return time.Now().Add(-time.Minute) }))
	expect(t, "a database that is late", []finding{examineClock(t.Context(), s)}, patra.VerdictFail, "ahead of")
	s = storetest.Engines()[0].Open(t)
	expect(t, "a database in time", []finding{examineClock(t.Context(), s)}, patra.VerdictOK, "")
}

func TestADoctorSeesWhoMayRead(t *testing.T) {
	file := protectedFile{"x", "the store", false}
	key := protectedFile{"k", "the key", true}
	expect(t, "mine", judgeMode(file, 0o600), patra.VerdictOK, "")
	expect(t, "my group's", judgeMode(file, 0o660), patra.VerdictOK, "")
	expect(t, "everybody's", judgeMode(file, 0o644), patra.VerdictWarn, "mode 0644")
	expect(t, "a key for everybody", judgeMode(key, 0o604), patra.VerdictFail, "")
	for text, want := range map[string]bool{"store: {url: \"mysql://u:hunter2@h/db\"}": true, "store: {url: \"mysql://u:${env:DB_PASSWORD}@h/db\"}": false, "url: https://example.org:443/x@y": false} {
		path := filepath.Join(t.TempDir(), "patra.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if namesPassword(path) != want {
			t.Errorf("%s: %t", text, !want)
		}
	}
}

func TestADoctorKnowsWhenSchedulesFire(t *testing.T) {
	cron, err := schedule.Parse("0 2 * * *")
	if err != nil {
		t.Fatal(err)
	}
	daily, noon := config.Schedule{Name: "nightly", Cron: cron}, patra.Date(2026, time.June, 2)+12*patra.Hour
	at := func(i patra.Instant) patra.ScheduleState { return patra.ScheduleState{Fired: &i} }
	expect(t, "never yet", []finding{judgeSchedule(daily, patra.ScheduleState{}, noon)}, patra.VerdictOK, "next at 2026-06-03 02:00:00")
	expect(t, "tonight", []finding{judgeSchedule(daily, at(noon-10*patra.Hour), noon)}, patra.VerdictOK, "next at")
	expect(t, "a night ago", []finding{judgeSchedule(daily, at(noon-34*patra.Hour), noon)}, patra.VerdictWarn, "was due at 2026-06-02 02:00:00")
	expect(t, "due just now", []finding{judgeSchedule(daily, at(noon-34*patra.Hour), noon-10*patra.Hour+patra.Second)}, patra.VerdictOK, "")
	refused := patra.ScheduleState{Name: "nightly", Source: "demo", Operation: patra.Update, Refused: 3, Why: "the secret key is not set"}
	expect(t, "refused", []finding{judgeSchedule(daily, refused, noon)}, patra.VerdictWarn, "refused 3 times in a row: the secret key is not set")
	daily.Paused = true
	expect(t, "paused", []finding{judgeSchedule(daily, at(0), noon)}, patra.VerdictOK, "paused")
}

func TestADoctorSaysWhereARequestGotStuck(t *testing.T) {
	apart := func(d time.Duration) *time.Duration { return &d }
	for _, c := range []struct {
		name  string
		got   executor.ReachabilityResult
		err   error
		want  patra.Verdict
		words string
	}{
		{"well", executor.ReachabilityResult{Status: 200, Ahead: apart(0)}, nil, patra.VerdictOK, "status 200"},
		{"refused", executor.ReachabilityResult{Status: 403}, &patra.Fault{Text: "no"}, patra.VerdictFail, "status 403"},
		{"no name", executor.ReachabilityResult{}, &patra.Fault{Text: "x", Err: &net.DNSError{Name: "x"}}, patra.VerdictFail, "(DNS)"},
		{"no certificate", executor.ReachabilityResult{}, &patra.Fault{Text: "x", Err: &tls.CertificateVerificationError{Err: errors.New("expired")}}, patra.VerdictFail, "(TLS)"},
		{"no way", executor.ReachabilityResult{}, &patra.Fault{Text: "connection refused"}, patra.VerdictFail, "no answer"},
		{"held back", executor.ReachabilityResult{}, patra.Conflict("paused"), patra.VerdictWarn, "was not asked"},
		{"a clock that is off", executor.ReachabilityResult{Status: 200, Ahead: apart(5 * time.Second)}, nil, patra.VerdictWarn, "ahead of the clock of x"},
		{"a clock that is wrong", executor.ReachabilityResult{Status: 200, Ahead: apart(-time.Hour)}, nil, patra.VerdictFail, "behind the clock of x"},
	} {
		expect(t, c.name, judgeProvider("x", c.got, c.err), c.want, c.words)
	}
}

func TestADoctorKnowsWhoListens(t *testing.T) {
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	we := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") }))
	defer we.Close()
	address := func(s *httptest.Server) string { return s.Listener.Addr().String() }
	ask := isPatraServer("/healthz", "ok")
	for _, c := range []struct {
		name, address string
		said          bool
		want          patra.Verdict
		words         string
	}{
		{"free", "127.0.0.1:0", true, patra.VerdictOK, "is free"}, {"ours", address(we), true, patra.VerdictOK, "patra serve listens"},
		{"taken", address(other), true, patra.VerdictFail, "Another program"}, {"taken, and nobody minds", address(other), false, patra.VerdictWarn, "no dashboard"},
		{"not of this machine", "192.0.2.1:8080", true, patra.VerdictFail, "Nobody can listen"},
	} {
		expect(t, c.name, []finding{examinePort(t.Context(), "api", c.address, "for all", c.said, ask)}, c.want, c.words)
	}
}

// What is off is not tried, and a server that speaks TLS is known by its certificate, also by the one before.
func TestADoctorKnowsPortsThatAreOffOrSafe(t *testing.T) {
	for _, f := range examinePorts(t.Context(), config.Config{API: config.API{Listen: config.ListenOff}, Ops: config.Ops{Listen: config.ListenOff}}) {
		t.Errorf("off: %+v", f)
	}
	end := time.Now().Add(365 * 24 * time.Hour)
	made := certificateUntil(t, end)
	pair, err := tls.LoadX509KeyPair(made.Cert, made.Key)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	server.StartTLS()
	defer server.Close()
	for _, c := range []struct {
		name string
		tls  config.TLS
		want patra.Verdict
	}{{"the same", made, patra.VerdictOK}, {"renewed", certificateUntil(t, end.Add(time.Hour)), patra.VerdictOK}, {"none", config.TLS{}, patra.VerdictFail}} {
		found := examinePorts(t.Context(), config.Config{API: config.API{Listen: server.Listener.Addr().String(), TLS: c.tls}, Ops: config.Ops{Listen: config.ListenOff}})
		if len(found) == 0 || found[0].Verdict != c.want {
			t.Errorf("%s: %+v", c.name, found)
		}
	}
}

func TestADoctorReadsCertificates(t *testing.T) {
	end := time.Date(2026, 6, 30, 0, 0, 0, 0, time.UTC)
	files := certificateUntil(t, end)
	for before, want := range map[time.Duration]patra.Verdict{60 * 24 * time.Hour: patra.VerdictOK, 5 * 24 * time.Hour: patra.VerdictWarn, -time.Hour: patra.VerdictFail} {
		expect(t, before.String(), []finding{examineCertificate(files, end.Add(-before))}, want, "2026-06-30")
	}
	files.Key = files.Cert
	expect(t, "no key", []finding{examineCertificate(files, end.Add(-time.Hour))}, patra.VerdictFail, "cannot be used")
}

func certificateUntil(t *testing.T, end time.Time) config.TLS {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	made := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: end.AddDate(-1, 0, 0), NotAfter: end, DNSNames: []string{"patra.example.org"}}
	cert, err := x509.CreateCertificate(rand.Reader, made, made, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	c := config.TLS{Cert: filepath.Join(t.TempDir(), "cert.pem"), Key: filepath.Join(t.TempDir(), "key.pem")}
	for path, block := range map[string]*pem.Block{c.Cert: {Type: "CERTIFICATE", Bytes: cert}, c.Key: {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// A place that loses or changes what it is given is found out.
func TestADoctorTriesPlaces(t *testing.T) {
	a := &app{}
	dir := t.TempDir()
	cfg := config.Default()
	cfg.Store.URL = "sqlite:" + filepath.Join(dir, "patra.db")
	look := func(url string) []finding {
		return a.examinePlace(t.Context(), cfg, "evidence", url, "evidence", "", "")
	}
	expect(t, "to come", look(""), patra.VerdictOK, "made when it is needed")
	if _, err := os.Stat(filepath.Join(dir, "evidence")); err == nil {
		t.Error("looking made a folder")
	}
	expect(t, "there", look("file:"+dir), patra.VerdictOK, "takes, shows and forgets")
	if left, err := filepath.Glob(filepath.Join(dir, "doctor", "*")); err != nil || len(left) > 0 {
		t.Errorf("it left %v, %v", left, err)
	}
	in := filepath.Join(dir, "file")
	if err := os.WriteFile(in, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	expect(t, "a file", look("file:"+in), patra.VerdictFail, "not writable")
	expect(t, "below a file", look("file:"+in+"/x"), patra.VerdictFail, "")
}

// A look at a large file ends in time, and says that there is more to be looked at.
func TestADoctorDoesNotReadForHours(t *testing.T) {
	s := storetest.Engines()[0].Open(t)
	was := quickTime
	t.Cleanup(func() { quickTime = was })
	quickTime = time.Nanosecond
	expect(t, "too large", []finding{examineIntegrity(t.Context(), s, false)}, patra.VerdictOK, "--deep reads all of it")
	expect(t, "deep", []finding{examineIntegrity(t.Context(), s, true)}, patra.VerdictOK, "nothing wrong")
}

// On a real server the settings come from the connection itself. The one of the tests does not write each transaction to
// its disk, and is told so.
func TestADoctorAsksAServer(t *testing.T) {
	engines := storetest.Engines()
	if len(engines) < 2 {
		t.Skip("there is no database server; see scripts/with-mariadb")
	}
	s := engines[1].Open(t)
	e, err := s.Engine(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found := examineServer(t.Context(), s, e)
	if e.Kind == store.TiDB {
		expect(t, e.String(), found, patra.VerdictOK, "")
		return
	}
	expect(t, e.String(), found, patra.VerdictWarn, "innodb_flush_log_at_trx_commit is 0")
}

// Scripts read these names.
func TestAFindingHasItsNames(t *testing.T) {
	var names []string
	for f := range reflect.TypeFor[finding]().Fields() {
		names = append(names, f.Tag.Get("json"))
	}
	if got := strings.Join(names, " "); got != "check verdict text next,omitempty rows,omitempty damage" {
		t.Errorf("a finding has %s", got)
	}
}

// A file that is spoiled from its first pages on cannot even be opened. That is damage, and doctor does not send to doctor.
func TestADoctorFindsAFileThatIsSpoiled(t *testing.T) {
	t.Parallel()
	s := newScene(t, storetest.Engines()[0], byToken)
	if out, err := s.patra("backup", filepath.Join(t.TempDir(), "b.db")).CombinedOutput(); err != nil { // so that there are tables
		t.Fatalf("%v\n%s", err, out)
	}
	path := strings.TrimPrefix(s.url, "sqlite:")
	for _, end := range []string{"-wal", "-shm"} {
		_ = os.Remove(path + end)
	}
	body, err := os.ReadFile(path)
	if err != nil || len(body) < 4096 {
		t.Fatal(len(body), err)
	}
	for i := 100; i < len(body); i++ { // the header stays: it is a file of the engine
		body[i] = 0xa5
	}
	if err := os.WriteFile(path, body, 0o600); err != nil {
		t.Fatal(err)
	}
	c := s.patra("doctor", "-o", "json")
	out, _ := c.CombinedOutput()
	if c.ProcessState.ExitCode() != exitFailed || !strings.Contains(string(out), "put back a backup") || strings.Contains(string(out), "See patra doctor") {
		t.Errorf("%s\n%s", c.ProcessState, out)
	}
}
