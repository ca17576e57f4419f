package cli

import (
	"bytes"
	"debug/elf"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	natsserver "github.com/nats-io/nats-server/v2/server"

	"patra/internal/config"
)

const deployFolder = "../../deploy"

// imageUser is the user of the image.
const imageUser = 65532

func deployed(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(deployFolder, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// parses reports what is wrong with a command line of ours: the command must be there, and know its flags and words.
func parses(args []string) error {
	root := (&app{stdout: io.Discard, stderr: io.Discard}).root()
	c, rest, err := root.Find(args)
	if err != nil {
		return err
	}
	if c == root {
		return fmt.Errorf("no command in %q", args)
	}
	if err := c.ParseFlags(rest); err != nil {
		return err
	}
	if err := c.ValidateArgs(c.Flags().Args()); err != nil {
		return err
	}
	if roles, err := c.Flags().GetStringSlice("role"); err == nil {
		for _, r := range roles {
			if !slices.Contains(allRoles, r) {
				return fmt.Errorf("no role %q", r)
			}
		}
	}
	return nil
}

// known reports whether a variable is one of ours that means something.
func known(name, value string) error {
	_, err := config.Load(filepath.Join(os.TempDir(), "there-is-no-such-file.yaml"), false, []string{name + "=" + value})
	return err
}

// composed is what a test wants to know of a compose file.
type composed struct {
	Services map[string]struct {
		Image       string         `yaml:"image"`
		Build       map[string]any `yaml:"build"`
		Command     []string       `yaml:"command"`
		Environment map[string]any `yaml:"environment"`
		ReadOnly    bool           `yaml:"read_only"`
		CapDrop     []string       `yaml:"cap_drop"`
		SecurityOpt []string       `yaml:"security_opt"`
		User        string         `yaml:"user"`
		Ports       []string       `yaml:"ports"`
		Volumes     []string       `yaml:"volumes"`
		Secrets     []string       `yaml:"secrets"`
		Networks    []string       `yaml:"networks"`
		Grace       string         `yaml:"stop_grace_period"`
		Deploy      struct {
			Replicas string `yaml:"replicas"`
		} `yaml:"deploy"`
		Healthcheck struct {
			Test    []string `yaml:"test"`
			Disable bool     `yaml:"disable"`
		} `yaml:"healthcheck"`
		DependsOn map[string]any `yaml:"depends_on"`
	} `yaml:"services"`
	Volumes, Networks map[string]any
	Secrets           map[string]struct {
		File string `yaml:"file"`
	} `yaml:"secrets"`
}

// drain is the longest that a process may take to stop: the grace of pages in flight, and the time to give tasks back.
const drainLongest = 30 * time.Second

// TestCompose: what the compose file says of us is understood by us, and every container is as confined as it is said to be.
func TestCompose(t *testing.T) {
	var c composed
	if err := yaml.UnmarshalWithOptions([]byte(deployed(t, "compose.yaml")), &c, yaml.AllowDuplicateMapKey()); err != nil { // what is merged may be said otherwise
		t.Fatal(err)
	}
	pinned := regexp.MustCompile(`^[a-z0-9./-]+:v?\d+\.\d+\.\d+(-[a-z0-9]+)?$`)
	roles, built := map[string]int{}, []string{}
	for name, s := range c.Services {
		if s.Build != nil {
			built = append(built, name)
		}
		ours := s.Image == "${PATRA_IMAGE:-patra:local}"
		if !ours && !pinned.MatchString(s.Image) {
			t.Errorf("%s: the image %s is not pinned", name, s.Image)
		}
		if !s.ReadOnly || !slices.Equal(s.CapDrop, []string{"ALL"}) || !slices.Contains(s.SecurityOpt, "no-new-privileges:true") {
			t.Errorf("%s is not confined", name)
		}
		for _, p := range s.Ports {
			if !strings.HasPrefix(p, "127.0.0.1:") {
				t.Errorf("%s is published as %s", name, p)
			}
		}
		for key, v := range s.Environment {
			if strings.Contains(key, "PASSWORD") && !strings.HasSuffix(key, "_FILE") {
				t.Errorf("%s has a password in %s, or draws one and writes it into its log", name, key)
			}
			if value := fmt.Sprint(v); ours && strings.HasPrefix(key, "PATRA_") {
				if err := known(key, value); err != nil && key != "PATRA_CONFIG" {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
		for _, secret := range s.Secrets {
			if c.Secrets[secret].File == "" {
				t.Errorf("%s: nobody says where the secret %s is", name, secret)
			}
		}
		for other := range s.DependsOn {
			if _, ok := c.Services[other]; !ok {
				t.Errorf("%s waits for %s, which is not there", name, other)
			}
		}
		if !ours {
			continue
		}
		if err := parses(s.Command); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if s.User != fmt.Sprintf("%d:%d", imageUser, imageUser) {
			t.Errorf("%s runs as %q", name, s.User)
		}
		if grace, err := time.ParseDuration(s.Grace); err != nil || grace <= drainLongest {
			t.Errorf("%s has %s to drain, %v", name, s.Grace, err)
		}
		if !s.Healthcheck.Disable && (len(s.Healthcheck.Test) < 3 || s.Healthcheck.Test[1] != "/patra" || parses(s.Healthcheck.Test[2:]) != nil) {
			t.Errorf("%s: nobody understands %q", name, s.Healthcheck.Test)
		}
		if len(s.Command) == 3 {
			many := 1
			if s.Deploy.Replicas != "" { // a number that .env can change, as one of a command line is forgotten by the next
				if _, err := fmt.Sscanf(s.Deploy.Replicas, "${EXECUTORS:-%d}", &many); err != nil {
					t.Errorf("%s: %s, %v", name, s.Deploy.Replicas, err)
				}
			}
			roles[s.Command[2]] += many
		}
	}
	if !slices.Equal(built, []string{"migrate"}) { // everybody waits for it
		t.Errorf("the image is built for each of %q", built)
	}
	if want := map[string]int{rolePlanner: 1, roleExecutor: 3, roleRelay: 1, roleAPI: 1}; !mapsEqual(roles, want) {
		t.Errorf("the roles are %v", roles)
	}
}

// What compose asks for is asked for once: its value is in the file that every command reads, as the documents say, and that file
// gets neither into the image nor into the history.
func TestComposeAsksOnce(t *testing.T) {
	docs, err := os.ReadFile("../../docs/deploying.md")
	if err != nil {
		t.Fatal(err)
	}
	text := deployed(t, "compose.yaml")
	for _, m := range regexp.MustCompile(`\$\{(\w+):\?`).FindAllStringSubmatch(text, -1) {
		for name, said := range map[string]string{"docs/deploying.md": string(docs), "compose.yaml": text} {
			if !regexp.MustCompile(`(?m)echo ` + m[1] + `=\S+ > deploy/\.env`).MatchString(said) {
				t.Errorf("%s does not say how %s is kept", name, m[1])
			}
		}
	}
	for _, line := range regexp.MustCompile(`(?m)^.*\bdocker compose .*$`).FindAllString(string(docs)+text+deployed(t, "patra.yaml"), -1) {
		for _, command := range strings.Split(line, "docker compose ")[1:] {
			if !strings.HasPrefix(command, "-f deploy/compose.yaml ") {
				t.Errorf("there is no compose file where people are: %s", line)
			}
		}
	}
	for _, name := range []string{".dockerignore", ".gitignore"} {
		ignored, err := os.ReadFile(filepath.Join("../..", name))
		if err != nil || !regexp.MustCompile(`(?m)^/?deploy/\.env$`).Match(ignored) || !regexp.MustCompile(`(?m)^/?deploy/secrets/?$`).Match(ignored) {
			t.Errorf("%s lets settings or passwords of a machine through, %v", name, err)
		}
	}
}

// What Prometheus is told to read as rules are rules: their tests are in the same folder, and it ends when it meets one.
func TestComposePrometheus(t *testing.T) {
	var settings struct {
		RuleFiles []string `yaml:"rule_files"`
	}
	if err := yaml.Unmarshal([]byte(deployed(t, "compose-prometheus.yml")), &settings); err != nil {
		t.Fatal(err)
	}
	for _, pattern := range settings.RuleFiles {
		files, err := filepath.Glob(filepath.Join(deployFolder, "prometheus", strings.TrimPrefix(pattern, "/etc/prometheus/rules/")))
		if err != nil || len(files) == 0 {
			t.Errorf("%s names nothing, %v", pattern, err)
		}
		for _, file := range files {
			var rules map[string]any
			if err := yaml.Unmarshal([]byte(deployed(t, filepath.Join("prometheus", filepath.Base(file)))), &rules); err != nil {
				t.Fatal(err)
			}
			if len(rules) != 1 || rules["groups"] == nil {
				t.Errorf("%s is read as rules, and has others", filepath.Base(file))
			}
		}
	}
}

// The settings that the command of NATS writes are settings of NATS, with a password and a place for streams.
func TestComposeNATS(t *testing.T) {
	var c composed
	if err := yaml.UnmarshalWithOptions([]byte(deployed(t, "compose.yaml")), &c, yaml.AllowDuplicateMapKey()); err != nil {
		t.Fatal(err)
	}
	text := c.Services["nats"].Command[2]
	_, text, _ = strings.Cut(text, "<<SETTINGS\n")
	text, _, _ = strings.Cut(text, "SETTINGS\n")
	file := filepath.Join(t.TempDir(), "nats.conf")
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(text, "$$(cat /run/secrets/nats_password)", "drawn")), 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := natsserver.ProcessConfigFile(file)
	if err != nil || !o.JetStream || o.StoreDir != "/data" || o.Username != "patra" || o.Password != "drawn" || o.HTTPHost != "127.0.0.1" {
		t.Errorf("%+v, %v", o, err)
	}
}

func mapsEqual(a, b map[string]int) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return bytes.Equal(x, y)
}

// The settings of the fleet are settings, with the passwords that the script draws.
func TestComposeSettings(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "secrets.sh")
	if err := os.WriteFile(script, []byte(deployed(t, "secrets.sh")), 0o700); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time nothing changes
		if out, err := exec.Command("sh", script).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	var composed composed
	if err := yaml.UnmarshalWithOptions([]byte(deployed(t, "compose.yaml")), &composed, yaml.AllowDuplicateMapKey()); err != nil {
		t.Fatal(err)
	}
	for name, secret := range composed.Secrets {
		if _, err := os.Stat(filepath.Join(dir, secret.File)); err != nil {
			t.Errorf("nobody draws %s: %v", name, err)
		}
	}
	text := strings.ReplaceAll(deployed(t, "patra.yaml"), "/run/secrets", filepath.Join(dir, "secrets"))
	file := filepath.Join(dir, "patra.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(file, true, []string{"CONTACT=me@example.org", "PATRA_OPS_LISTEN=127.0.0.1:9090"})
	if err != nil {
		t.Fatal(err)
	}
	password, err := os.ReadFile(filepath.Join(dir, "secrets", "database_password"))
	if err != nil || len(password) != 48 || c.Store.URL != fmt.Sprintf("mysql://patra:%s@database:3306/patra", password) {
		t.Errorf("%q, %v, %s", password, err, c.Store.URL)
	}
	if strings.Contains(fmt.Sprintf("%+v", c.Redacted()), string(password)) {
		t.Error("the password is shown")
	}
	if err := os.Chmod(filepath.Join(dir, "secrets", "database_password"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := config.Load(file, true, []string{"CONTACT=x"}); err == nil || !strings.Contains(err.Error(), "everybody on this machine may read") {
		t.Errorf("a password that everybody can read: %v", err)
	}
}

// TestDockerfile: what the file names is there, it builds as we build, and what it runs are commands of ours.
func TestDockerfile(t *testing.T) {
	text := deployed(t, "Dockerfile")
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	for _, both := range []string{"npm ci --no-audit --no-fund", "npm run --silent build", `go build -trimpath -ldflags "-s -w -X main.version=$`} {
		shared := strings.ReplaceAll(string(makefile), "$(GO) ", "go ")
		if !strings.Contains(text, strings.TrimSuffix(both, "$")) || !strings.Contains(shared, strings.TrimSuffix(both, "$")) {
			t.Errorf("the Dockerfile and the Makefile do not both say %s", both)
		}
	}
	if !strings.Contains(text, "CGO_ENABLED=0 go build") || !strings.Contains(text, "\nFROM scratch\n") || !strings.Contains(text, fmt.Sprintf("\nUSER %d:%d\n", imageUser, imageUser)) {
		t.Error("the program of the image is not static, alone, and without rights")
	}
	for _, m := range regexp.MustCompile(`(?m)^FROM (\S+)`).FindAllStringSubmatch(text, -1) {
		if m[1] != "scratch" && !regexp.MustCompile(`^\w+:\d+\.\d+\.\d+-`).MatchString(m[1]) {
			t.Errorf("%s is not pinned", m[1])
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^COPY ([^-\n].*)$`).FindAllStringSubmatch(text, -1) {
		words := strings.Fields(m[1])
		for _, from := range words[:len(words)-1] {
			if _, err := os.Stat(filepath.Join("../..", from)); err != nil {
				t.Errorf("COPY %s: %v", from, err)
			}
		}
	}
	for _, m := range regexp.MustCompile(`(?m)(?:CMD|ENTRYPOINT) (\[.*\])$`).FindAllStringSubmatch(text, -1) {
		var words []string
		if err := json.Unmarshal([]byte(m[1]), &words); err != nil {
			t.Fatal(err)
		}
		if words[0] == "/patra" {
			words = words[1:]
		}
		if len(words) > 0 {
			if err := parses(words); err != nil {
				t.Errorf("%s: %v", m[1], err)
			}
		}
	}
	set := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^ENV (\w+)=(\S+)$`).FindAllStringSubmatch(text, -1) {
		set[m[1]] = m[2]
		if err := known(m[1], m[2]); err != nil {
			t.Error(err)
		}
	}
	if volume := regexp.MustCompile(`(?m)^VOLUME \["(\S+)"\]$`).FindStringSubmatch(text); volume == nil || set["TMPDIR"] != volume[1] {
		t.Errorf("there is no /tmp in the image, and what is made for a moment is made in %q", set["TMPDIR"])
	}
	if strings.Index(text, "ARG VERSION") < strings.Index(text, "go mod download") {
		t.Error("with every version everything is fetched anew")
	}
	goMod, err := os.ReadFile("../../go.mod")
	wants := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(string(goMod))
	if err != nil || wants == nil || !strings.Contains(text, "FROM golang:"+wants[1]+".") {
		t.Errorf("the image is built with another Go than %v, %v", wants, err)
	}
}

// rootfs is what the image has: the program, certificates, and one folder that its user may write to.
func rootfs(t *testing.T) string {
	if os.Geteuid() != 0 {
		t.Skip("only root can enter a folder as if it were the whole machine")
	}
	program, err := exec.LookPath("patra")
	if err != nil {
		t.Fatal(err)
	}
	if !static(t, program) {
		t.Skip("the program under test is not static, as it was built with cgo; the image has nothing else in it")
	}
	dir, err := os.MkdirTemp("", "patra-image") //nolint:usetesting // the folders above it must be open to everybody
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	for _, d := range []string{"", "etc/ssl/certs", "var/lib/patra"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	from, err := os.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	to, err := os.OpenFile(filepath.Join(dir, "patra"), os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(to, from); err != nil {
		t.Fatal(err)
	}
	to.Close()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(filepath.Join(dir, "var/lib/patra"), imageUser, imageUser); err != nil {
		t.Fatal(err)
	}
	return dir
}

// static reports whether a program needs no other.
func static(t *testing.T, program string) bool {
	f, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return !slices.ContainsFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP })
}

// inside is a command in the image, as its user.
func inside(t *testing.T, dir string, args ...string) *exec.Cmd {
	c := exec.CommandContext(t.Context(), "/patra", args...)
	c.Dir = "/var/lib/patra"
	c.SysProcAttr = &syscall.SysProcAttr{Chroot: dir, Credential: &syscall.Credential{Uid: imageUser, Gid: imageUser}}
	c.Env = []string{"PATRA_OPS_LISTEN=127.0.0.1:" + fmt.Sprint(freePort(t)), "PATRA_API_LISTEN=off"}
	return c
}

// TestTheImage: with the program and certificates alone, as a user without a name and nowhere to write but its folder, it
// serves, says that it is well, drains, and believes the certificates that are there.
func TestTheImage(t *testing.T) {
	t.Parallel()
	dir := rootfs(t)
	if out, err := inside(t, dir, "version").CombinedOutput(); err != nil || !bytes.HasPrefix(out, []byte("patra ")) {
		t.Fatalf("%v\n%s", err, out)
	}
	serve := inside(t, dir, "serve")
	serve.Env = append(serve.Env, "PATRA_API_LISTEN=0.0.0.0:0", "PATRA_API_TOKENS=on", "PATRA_API_PROXY=true")
	said := &lockedBuffer{}
	serve.Stdout, serve.Stderr = said, said
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	defer serve.Process.Kill()
	for deadline := time.Now().Add(30 * time.Second); !bytes.Contains(said.copy(), []byte("Serving ")); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it does not serve\n%s", said.tail())
		}
	}
	if !bytes.Contains(said.copy(), []byte("The dashboard is at http://localhost:")) {
		t.Errorf("it names an address where nobody can find it\n%s", said.tail())
	}
	health := inside(t, dir, "health")
	health.Env = serve.Env
	if out, err := health.CombinedOutput(); err != nil || string(out) != "well, says "+said.numbers(t)+"/healthz\n" {
		t.Errorf("%v\n%s", err, out)
	}
	if err := serve.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := serve.Wait(); err != nil || !bytes.Contains(said.copy(), []byte("Drained and stopped")) {
		t.Errorf("%v\n%s", err, said.tail())
	}
	health = inside(t, dir, "health")
	health.Env = serve.Env
	if out, err := health.CombinedOutput(); err == nil || health.ProcessState.ExitCode() != exitFailed || !bytes.Contains(out, []byte("not well: nobody answers")) {
		t.Errorf("of a process that is gone: %v\n%s", err, out)
	}
	if _, err := os.Stat(filepath.Join(dir, "var/lib/patra/patra.db")); err != nil {
		t.Error(err)
	}
	trusts(t, dir)
}

// trusts asks over TLS, with the certificates of the image and without them.
func trusts(t *testing.T, dir string) {
	t.Helper()
	web := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	defer web.Close()
	if out, err := inside(t, dir, "health", "--url", web.URL).CombinedOutput(); err == nil || !bytes.Contains(out, []byte("certificate")) {
		t.Errorf("a stranger is believed: %v\n%s", err, out)
	}
	bundle := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: web.Certificate().Raw})
	place := regexp.MustCompile(`(?m)^COPY --from=build \S+ (/etc/ssl/\S+)$`).FindStringSubmatch(deployed(t, "Dockerfile"))
	if place == nil {
		t.Fatal("the image has no certificates")
	}
	if err := os.WriteFile(filepath.Join(dir, place[1]), bundle, 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := inside(t, dir, "health", "--url", web.URL).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestUnits: the units are understood by systemd, start commands of ours, leave time to drain, and are confined.
func TestUnits(t *testing.T) {
	t.Parallel()
	units, err := filepath.Glob(filepath.Join(deployFolder, "systemd", "*.service"))
	if err != nil || len(units) != 5 {
		t.Fatalf("%q, %v", units, err)
	}
	analyze, lookErr := exec.LookPath("systemd-analyze")
	program, err := exec.LookPath("patra")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var named []string
	for _, unit := range units {
		name := filepath.Base(unit)
		text := deployed(t, filepath.Join("systemd", name))
		words := strings.Fields(regexp.MustCompile(`(?m)^ExecStart=/usr/local/bin/patra (.*)$`).FindStringSubmatch(text)[1])
		if err := parses(words); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var stop int
		if _, err := fmt.Sscan(regexp.MustCompile(`(?m)^TimeoutStopSec=(\d+)$`).FindStringSubmatch(text)[1], &stop); err != nil || time.Duration(stop)*time.Second <= drainLongest {
			t.Errorf("%s has %d seconds to drain, %v", name, stop, err)
		}
		for _, m := range regexp.MustCompile(`(?m)^Environment=(\w+)=(\S+)$`).FindAllStringSubmatch(text, -1) {
			if err := known(m[1], strings.ReplaceAll(m[2], "%i", "1")); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		file := filepath.Join(dir, strings.Replace(name, "@", "@1", 1))
		if err := os.WriteFile(file, []byte(strings.ReplaceAll(text, "/usr/local/bin/patra", program)), 0o644); err != nil {
			t.Fatal(err)
		}
		named = append(named, file)
	}
	if lookErr != nil {
		t.Skip("there is no systemd-analyze here to read the units as systemd does; make deploy installs it")
	}
	if out, err := exec.Command(analyze, append([]string{"verify", "--man=no"}, named...)...).CombinedOutput(); err != nil || len(bytes.TrimSpace(out)) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
	for _, file := range named {
		if out, err := exec.Command(analyze, "security", "--offline=true", "--threshold=20", "--no-pager", file).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", filepath.Base(file), err, out)
		}
	}
}
