package secret_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"patra/internal/secret"
)

func reference(t *testing.T, text string) secret.Reference {
	t.Helper()
	var r secret.Reference
	if err := r.UnmarshalText([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestAReferenceSaysWhereASecretIs(t *testing.T) {
	for _, text := range []string{"env:NCBI_API_KEY", "env:_x1", "file:/run/secrets/wos", "file:/with space/and:colon"} {
		if r := reference(t, text); r.String() != text {
			t.Errorf("%s became %s", text, r)
		}
	}
}

// Somebody will write the secret where its place belongs. It must not be shown to whoever looks over their shoulder, nor
// be kept in a log.
func TestASecretInPlaceOfAReferenceIsRefusedAndNotRepeated(t *testing.T) {
	for _, text := range []string{"s3cret-canary", "", "env:", "env:s3cret-canary", "env:1s3cret", "file:", "file:s3cret-canary", "vault:s3cret-canary", "ENV:s3cret", "https://user:s3cret@host"} {
		var r secret.Reference
		err := r.UnmarshalText([]byte(text))
		if err == nil || strings.Contains(err.Error(), "s3cret") || r != (secret.Reference{}) {
			t.Errorf("%q: %v, %v", text, r, err)
		}
	}
}

func TestAVaultReadsTheEnvironment(t *testing.T) {
	v := secret.NewVault(map[string]secret.Reference{"ncbi": reference(t, "env:KEY"), "empty": reference(t, "env:EMPTY"), "absent": reference(t, "env:ABSENT")},
		[]string{"KEY=old", "KEYS=other", "EMPTY=", "KEY=a=b c"})
	for name, want := range map[string]string{"ncbi": "a=b c", "empty": "", "absent": "", "nobody": ""} {
		if got, set, err := v.Secret(name); got != want || set != (want != "") || err != nil {
			t.Errorf("%s: %q, %t, %v", name, got, set, err)
		}
	}
	if v.Where("ncbi") != "env:KEY" || v.Where("nobody") != "" {
		t.Errorf("it is at %q and %q", v.Where("ncbi"), v.Where("nobody"))
	}
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil { // whatever the umask is
		t.Fatal(err)
	}
}

func TestAFileIsReadWithoutItsLastLineBreak(t *testing.T) {
	for text, want := range map[string]string{"abc\n": "abc", "abc\r\n": "abc", "abc": "abc", "abc\n\n": "abc\n", " a b ": " a b "} {
		path := filepath.Join(t.TempDir(), "key")
		write(t, path, text, 0o600)
		v := secret.NewVault(map[string]secret.Reference{"k": reference(t, "file:"+path)}, nil)
		if got, set, err := v.Secret("k"); got != want || !set || err != nil {
			t.Errorf("%q: %q, %t, %v", text, got, set, err)
		}
	}
}

func TestAFileThatCannotBeUsedIsRefusedWithTheNextStep(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "open"), "s3cret-canary", 0o644)
	write(t, filepath.Join(dir, "writable"), "s3cret-canary", 0o602)
	write(t, filepath.Join(dir, "empty"), "\n", 0o600)
	write(t, filepath.Join(dir, "large"), strings.Repeat("s3cret", 20_000), 0o600)
	for name, want := range map[string]string{"open": "run: chmod 600 " + dir + "/open", "writable": "chmod 600", "empty": "is empty", "large": "hardly a secret", "absent": "no such file", "": "is not a file"} {
		v := secret.NewVault(map[string]secret.Reference{"wos": reference(t, "file:"+filepath.Join(dir, name))}, nil)
		value, set, err := v.Secret("wos")
		if value != "" || set || err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), `"wos"`) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %q, %t, %v", name, value, set, err)
		}
	}
}

// A group may share a secret; the provider of the machine decides who is in it.
func TestAGroupMayReadAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	write(t, path, "abc", 0o640)
	if got, set, err := secret.NewVault(map[string]secret.Reference{"k": reference(t, "file:"+path)}, nil).Secret("k"); got != "abc" || !set || err != nil {
		t.Errorf("%q, %t, %v", got, set, err)
	}
}

func TestAChangedFileIsUsedSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "key")
		v := secret.NewVault(map[string]secret.Reference{"k": reference(t, "file:"+path)}, nil)
		is := func(want string) {
			t.Helper()
			if got, _, err := v.Secret("k"); got != want || (err != nil) != (want == "") {
				t.Errorf("got %q, %v, want %q", got, err, want)
			}
		}
		write(t, path, "first", 0o600)
		is("first")
		write(t, path, "second", 0o600)
		is("first") // not every request reads the disk
		time.Sleep(10 * time.Second)
		is("second")
		write(t, path, "", 0o600) // somebody begins to write
		time.Sleep(10 * time.Second)
		is("second")
		write(t, path, "third", 0o600)
		time.Sleep(10 * time.Second)
		is("third")
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		is("third")
		time.Sleep(10 * time.Second)
		is("") // what was taken away is not used for ever
		write(t, path, "fourth", 0o600)
		time.Sleep(10 * time.Second)
		is("fourth")
	})
}
